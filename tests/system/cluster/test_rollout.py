# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One group restarts after the other, each when the pods of the previous one are available."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    JSON_PATCH,
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    NEW,
    OLD,
    TYPES,
    create,
    image,
    order_of_restarts,
    pods,
    spec,
    unique_name,
    workload,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

SETS = {key: unique_name(key) for key in TYPES}


def test_an_upgrade_and_a_downgrade(live: NamespaceClient) -> None:
    create(live)
    before = pods(live)
    live.merge("Druid", NAME, {"spec": {"image": NEW}})
    planned = one_pass(live, NAME, check_mode=True).plan
    lines = plan_output.lines(planned)
    cause = f"image: {OLD} -> {NEW}"
    assert f"restart 1: group historicals (StatefulSet {SETS['historicals']}), 2 pods: {cause}" in lines
    assert [text.split()[3] for text in lines if text.startswith("restart ")] == list(TYPES)
    assert f"later: update Deployment {SETS['brokers']}" in lines

    applied = one_pass(live, NAME)
    assert plan_output.lines(applied.plan) == lines
    assert [image(live, key) for key in TYPES] == [NEW, OLD, OLD, OLD]
    status = live.get("Druid", NAME)["status"]
    assert status["rollout"]["pending"] == ["middlemanagers", "brokers", "coordinators"]
    assert condition({"status": status}, "Progressing")["reason"] == reasons.ROLLING_OUT
    assert order_of_restarts(live) == list(TYPES)[1:]
    assert not before.items() & pods(live).items()
    assert [image(live, key) for key in TYPES] == [NEW] * 4
    assert "rollout" not in live.get("Druid", NAME)["status"]
    reported = [each["message"] for each in live.list("Event") if each["reason"] == "RolloutCompleted"]
    assert sorted(reported) == sorted(f"Rollout of group {key} is completed." for key in TYPES)

    live.merge("Druid", NAME, {"spec": {"image": OLD}})
    assert order_of_restarts(live) == list(reversed(TYPES))


def test_a_failing_group_stops_the_rollout_until_it_is_repaired(live: NamespaceClient) -> None:
    create(live)
    before = pods(live)
    crash = {"podAnnotations": {"test/start": "crash"}}
    live.merge("Druid", NAME, {"spec": {"image": NEW, "progressDeadlineSeconds": 1, "nodes": {"historicals": crash}}})
    one_pass(live, NAME)
    stalled: list[Manifest] = []

    def has_stalled() -> bool:
        one_pass(live, NAME)
        stalled[:] = [condition(live.get("Druid", NAME), "Degraded")]
        return "The rollout of group historicals is stalled: " in stalled[0]["message"]

    eventually(has_stalled)
    assert f"pod {SETS['historicals']}-1, container {SETS['historicals']}: CrashLoopBackOff" in stalled[0]["message"]
    assert [image(live, key) for key in TYPES] == [NEW, OLD, OLD, OLD]
    events = [each for each in live.list("Event") if each["reason"] == reasons.ROLLOUT_STALLED]
    assert [each["count"] for each in events] == [1]

    # replicas, metadata and missing objects of the other groups are not held
    change = {"replicas": 3, "workloadAnnotations": {"team": "data"}}
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": change}}})
    live.delete("Service", SETS["coordinators"])
    one_pass(live, NAME)
    brokers = workload(live, "brokers")
    assert brokers["spec"]["replicas"] == 3
    assert brokers["metadata"]["annotations"]["team"] == "data"
    assert image(live, "brokers") == OLD
    assert live.find("Service", SETS["coordinators"])

    # back to the running version: only the pods that have changed restart
    live.merge("Druid", NAME, {"spec": {"image": OLD, "nodes": {"historicals": {"podAnnotations": None}}}})
    order_of_restarts(live)
    after = pods(live)
    kept = {name for name, uid in before.items() if after.get(name) == uid}
    assert kept >= {name for name in before if "historicals" not in name} | {f"{SETS['historicals']}-0"}


NEVER = {"metadata": {"annotations": {"test/ready": "never"}}}
AGAIN = {"metadata": {"annotations": {"test/ready": None}}}


def test_a_stalled_rollout_continues_by_itself(live: NamespaceClient) -> None:
    """The cause was not in the specification."""
    create(live)
    stuck = {"podAnnotations": NEVER["metadata"]["annotations"], "progressDeadlineSeconds": 1}
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": {"historicals": stuck}}})

    def reason() -> str:
        one_pass(live, NAME)
        return str(condition(live.get("Druid", NAME), "Degraded")["reason"])

    eventually(lambda: reason() == reasons.ROLLOUT_STALLED)
    specified = live.get("Druid", NAME)["spec"]
    found: list[str] = []

    def is_ready() -> bool:
        for name in pods(live, "historicals"):
            live.merge("Pod", name, AGAIN)
        found.extend(one_pass(live, NAME).plan.restarts)
        return condition(live.get("Druid", NAME), "Ready")["status"] == "True"

    eventually(is_ready)
    assert found == list(TYPES)[1:]
    assert reason() == reasons.AS_EXPECTED
    assert live.get("Druid", NAME)["spec"] == specified


def test_a_lost_pod_of_another_group_does_not_end_a_rollout(live: NamespaceClient) -> None:
    create(live)
    stuck = {"podAnnotations": NEVER["metadata"]["annotations"]}
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": {"middlemanagers": stuck}}})
    eventually(lambda: one_pass(live, NAME) and image(live, "middlemanagers") == NEW)
    one_pass(live, NAME)
    before = live.get("Druid", NAME)["status"]["rollout"]
    live.merge("Pod", f"{SETS['historicals']}-0", NEVER)
    eventually(lambda: workload(live, "historicals")["status"]["readyReplicas"] == 1)
    one_pass(live, NAME)
    after = live.get("Druid", NAME)["status"]["rollout"]
    assert [each["group"] for each in (before, after)] == ["middlemanagers"] * 2
    assert (after["pending"], after["startedAt"]) == (["brokers", "coordinators"], before["startedAt"])
    found = {each["message"] for each in live.list("Event") if each["reason"] == "RolloutCompleted"}
    assert found == {"Rollout of group historicals is completed."}


def test_groups_without_a_ready_pod_are_repaired_at_once(live: NamespaceClient) -> None:
    """Other groups wait, also with the same change."""
    create(live)
    down = ["middlemanagers", "coordinators"]
    for name in (each for key in down for each in pods(live, key)):
        live.merge("Pod", name, NEVER)
    eventually(lambda: not any(workload(live, key)["status"].get("readyReplicas") for key in down))
    live.merge("Druid", NAME, {"spec": {"image": NEW}})
    assert set(one_pass(live, NAME).plan.restarts) == set(down)
    assert [image(live, key) for key in TYPES] == [OLD, NEW, OLD, NEW]
    assert order_of_restarts(live) == ["historicals", "brokers"]


def test_a_changed_file_restarts_the_groups_that_use_it(live: NamespaceClient) -> None:
    """The plan names it; for the groups that follow when it has been written, it names the ConfigMap."""
    create(live)
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"runtime.properties": "druid.service=druid/b"}}}})
    of_group = f"ConfigMap {SETS['brokers']}-config (runtime.properties)"
    assert restarts_in_plan(live) == [
        f"restart 1: group brokers (Deployment {SETS['brokers']}), 2 pods: {of_group}",
    ]
    assert order_of_restarts(live) == ["brokers"]
    live.merge("Druid", NAME, {"spec": {"common.runtime.properties": "a=c"}})
    of_all = f": ConfigMap {NAME}-druid-common-config (common.runtime.properties)"
    assert [text.endswith(of_all) for text in restarts_in_plan(live)] == [True] * 4
    one_pass(live, NAME)
    # Its former content is not known any more.
    assert [text.endswith(of_all.partition(" (")[0]) for text in restarts_in_plan(live)] == [True] * 3
    assert order_of_restarts(live) == list(TYPES)[1:]


def restarts_in_plan(live: NamespaceClient) -> list[str]:
    planned = plan_output.lines(one_pass(live, NAME, check_mode=True).plan)
    return [text for text in planned if text.startswith("restart ")]


def test_a_rename_overlaps(live: NamespaceClient) -> None:
    create(live)
    old = pods(live, "coordinators")
    node = spec()["nodes"]["coordinators"]
    waits = {**node, "podAnnotations": {"test/ready": "never"}}
    live.merge("Druid", NAME, {"spec": {"nodes": {"coordinators": None, "masters": waits}}})
    for _time in range(3):
        one_pass(live, NAME)
    assert live.find("StatefulSet", f"druid-{NAME}-masters")
    assert old.items() <= pods(live).items()
    assert live.find("Service", SETS["coordinators"])
    message = condition(live.get("Druid", NAME), "Progressing")["message"]
    assert f"StatefulSet {SETS['coordinators']} is deleted when all pods are available." in message
    live.merge("Druid", NAME, {"spec": {"nodes": {"masters": {"podAnnotations": None}}}})
    order_of_restarts(live)
    assert live.find("StatefulSet", SETS["coordinators"]) is None
    assert live.find("Service", SETS["coordinators"]) is None


def test_a_removal_on_request(live: NamespaceClient) -> None:
    create(live)
    nodes = {"coordinators": None, "brokers": {"podAnnotations": {"test/ready": "never"}}}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    one_pass(live, NAME)
    assert live.find("StatefulSet", SETS["coordinators"])
    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/remove-immediately": "true"}}})
    one_pass(live, NAME)
    assert live.find("StatefulSet", SETS["coordinators"]) is None


def test_restart_on_request(live: NamespaceClient) -> None:
    create(live)
    before = pods(live)
    only = {"restarted-at.druid.apache.org/coordinators": "2026-01-02T03:04:05Z"}
    live.merge("Druid", NAME, {"metadata": {"annotations": only}})
    assert order_of_restarts(live) == ["coordinators"]
    after = pods(live)
    assert {name for name, uid in before.items() if after.get(name) != uid} == set(pods(live, "coordinators"))
    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/restarted-at": "2026-01-03T00:00:00Z"}}})
    assert order_of_restarts(live) == list(TYPES)
    restarted = pods(live)
    assert not after.items() & restarted.items()
    # removed or set back, they restart nothing
    both = {"druid.apache.org/restarted-at": "2026-01-01T00:00:00Z", next(iter(only)): None}
    live.merge("Druid", NAME, {"metadata": {"annotations": both}})
    assert one_pass(live, NAME).plan.steps == ()
    assert pods(live) == restarted


def test_kubectl_rollout_restart_counts_as_a_rollout(live: NamespaceClient) -> None:
    create(live)
    live.merge("StatefulSet", SETS["coordinators"], {"spec": {"template": {"metadata": {"annotations": {
        "kubectl.kubernetes.io/restartedAt": "2026-01-02T03:04:05Z", "test/ready": "never"}}}}})  # fmt: skip
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"image": NEW}}}})
    eventually(lambda: workload(live, "coordinators")["status"].get("readyReplicas", 0) < 2)
    applied = one_pass(live, NAME)
    assert (applied.plan.restarts, applied.plan.pending_restarts) == ((), ("historicals",))
    live.merge("StatefulSet", SETS["coordinators"], {"spec": {"template": {"metadata": {"annotations": {
        "test/ready": None}}}}})  # fmt: skip
    order_of_restarts(live)
    assert image(live, "historicals") == NEW


def test_a_failing_pod_of_an_earlier_revision_is_deleted(live: NamespaceClient) -> None:
    """The controller waits for it indefinitely."""
    ordered = {"podManagementPolicy": "OrderedReady", "podAnnotations": {"test/start": "crash"}}
    live.create(resource(NAME, spec(historicals=ordered)))
    one_pass(live, NAME)
    failing = f"{SETS['historicals']}-0"
    eventually(lambda: "waiting" in str((live.find("Pod", failing) or {}).get("status")))
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"podAnnotations": None}}}})
    until_ready(live, NAME)
    deleted = [each["message"] for each in live.list("Event") if "v1.Pod]" in each["message"]]
    assert [text for text in deleted if f"[{failing}:*v1.Pod]" in text]


def test_when_a_failing_pod_is_deleted(live: NamespaceClient) -> None:
    """Only of an earlier revision, when it has been tried for a while, and if that is specified."""
    ordered = {"podManagementPolicy": "OrderedReady", "podAnnotations": {"test/start": "crash"}}
    live.create(resource(NAME, spec(historicals=ordered)))
    one_pass(live, NAME)
    failing = f"{SETS['historicals']}-0"
    eventually(lambda: "waiting" in str((live.find("Pod", failing) or {}).get("status")))
    restarts = [{"op": "replace", "path": "/status/containerStatuses/0/restartCount", "value": 1}]
    live.plane.request("PATCH", f"{live.path('Pod', failing)}/status", restarts, user="admin", content_type=JSON_PATCH)
    uid = live.get("Pod", failing)["metadata"]["uid"]
    later = Clock(now=lambda: datetime.now(UTC) + timedelta(minutes=2))

    def is_kept(clock: Clock) -> bool:
        run(connection(live), cluster_request(NAME, live.namespace), lambda _text: None, clock)
        return ((live.find("Pod", failing) or {}).get("metadata") or {}).get("uid") == uid

    assert is_kept(later)
    fixed = {"historicals": {"podAnnotations": None}}
    live.merge("Druid", NAME, {"spec": {"forceDeleteStsPodOnError": False, "nodes": fixed}})
    assert is_kept(later)
    eventually(lambda: (found := workload(live, "historicals")["status"])["updateRevision"] != found["currentRevision"])
    assert is_kept(later)
    live.merge("Druid", NAME, {"spec": {"forceDeleteStsPodOnError": True}})
    assert is_kept(Clock())
    assert not is_kept(later)
    until_ready(live, NAME)


def test_another_kind_overlaps(live: NamespaceClient) -> None:
    create(live)
    old = pods(live, "coordinators")
    waits = {"kind": "Deployment", "podAnnotations": {"test/ready": "never"}}
    live.merge("Druid", NAME, {"spec": {"nodes": {"coordinators": waits}}})
    for _time in range(3):
        one_pass(live, NAME)
    assert live.find("Deployment", SETS["coordinators"])
    assert old.items() <= pods(live, "coordinators").items()
    live.merge("Druid", NAME, {"spec": {"nodes": {"coordinators": {"podAnnotations": None}}}})
    order_of_restarts(live)
    eventually(lambda: one_pass(live, NAME) and live.find("StatefulSet", SETS["coordinators"]) is None)
