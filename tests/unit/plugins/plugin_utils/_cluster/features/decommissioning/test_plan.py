# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups of Historicals with fewer replicas, from what is asked to the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import ListChange
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_CONFIG,
    LOAD_QUEUES,
    LOAD_STATUS,
    RULES,
    SERVERS,
    VISIBLE,
    DruidState,
    LoadQueue,
    Question,
    Replicated,
    Rule,
    Server,
    Unavailable,
    replicated_bytes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import specified
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning import (
    Decommissioning,
    record,
    strategy_warnings,
    with_decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    to_annotation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.shrinking_groups import (
    decommission_of,
    druid_state,
    situation,
    with_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import deciding, druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
STRATEGY = MappingProxyType({"decommissionTimeout": "1h", "onTimeout": "Stay"})
LAST = "druid-c-historicals-1"


def cluster(
    replicas: int | None = 1, strategy: Any = STRATEGY, node: Any = None, nodes: Any = None, **spec: Any
) -> Cluster:
    """A cluster whose Historicals have this number of replicas."""
    historicals = {**druid.NODE, "nodeType": "historical", "druid.port": 8083, "replicas": replicas, **(node or {})}
    nodes = {"historicals": {key: value for key, value in historicals.items() if value is not None}, **(nodes or {})}
    decommission = None if strategy is None else dict(strategy)
    return Cluster.from_resource(druid.resource(nodes=nodes, historicalDecommissionStrategy=decommission, **spec))


def running(replicas: int = 2) -> Observed:
    """The live objects of a cluster with this number of Historicals, whose names in Druid are their addresses."""
    live = rolling.observed(cluster(replicas))
    pods = [*live.of_kind("Pod")]
    return live.with_objects({**pod, "status": {**pod["status"], "podIP": address(pod)}} for pod in pods)


def address(pod: dict[str, Any]) -> str:
    return f"10.0.0.{pod['metadata']['name'].rpartition('-')[2]}"


def in_druid(last: int = 100, listed: Any = (), **answers: Any) -> DruidState:
    """What Druid answers: two Historicals, of which the last one has this many bytes."""
    servers = (
        Server("10.0.0.0:8083", "historical", "hot", 100, 1000),
        Server("10.0.0.1:8083", "historical", "hot", last, 1000),
        Server("10.0.0.9:8100", "indexer-executor", "hot", 100, 1000),
    )
    return DruidState(
        {
            SERVERS: answers.get("servers", servers),
            LOAD_QUEUES: answers.get("queues", {"10.0.0.1:8083": LoadQueue(0, 0)}),
            COORDINATOR_CONFIG: {"decommissioningNodes": [*listed], **answers.get("config", {})},
            LOAD_STATUS: {"visits": 0},
            RULES: (Rule("_default", "hot", 1),),
            **answers.get("more", {}),
        }
    )


def annotated(live: Observed, status: Any) -> Observed:
    """The live objects; the StatefulSet has the record of the status, too."""
    text = to_annotation(record.recorded(status or {}))
    key = ObjectKey("StatefulSet", "druid-c-historicals")
    found = live.objects.get(key)
    if found is None or not text:
        return live
    metadata = {key: value for key, value in found["metadata"].items() if key not in names.BOOKKEEPING}
    metadata["annotations"] = {names.DECOMMISSION_ANNOTATION: text}
    again = stored({**{key: found[key] for key in ("apiVersion", "kind", "spec")}, "metadata": metadata})
    return live.with_objects([{**again, "status": found["status"]}])


def recorded(**more: Any) -> dict[str, Any]:
    """A status with the last Historical."""
    since = timestamp(NOW - timedelta(minutes=5))
    entry = {"pod": LAST, "group": "historicals", "startedAt": since, "server": "10.0.0.1:8083", "bytes": 100}
    return {"historicalDecommission": [{**entry, **more}]}


def inputs(
    which: Cluster | None = None,
    live: Observed | None = None,
    answers: DruidState | None = None,
    status: Any = None,
    **more: Any,
) -> Inputs:
    live = annotated(running() if live is None else live, status)
    found = deciding.inputs(which or cluster(), live, now=NOW, druid=answers, **more)
    return replace(found, resource={**found.resource, "status": status or {}})


def replicas(plan: Plan) -> list[int]:
    """What the plan sets the replicas to."""
    key = ObjectKey("StatefulSet", "druid-c-historicals")
    return [step.manifest["spec"]["replicas"] for step in plan.steps if step.key == key]


def in_list(plan: Plan) -> list[str]:
    """What the plan changes in Druid's list."""
    return [step.title for step in plan.steps if step.in_druid]


def record_in(plan: Plan) -> Any:
    """The record in the annotation that the plan writes to the StatefulSet; None if it removes it."""
    [write] = [step.manifest for step in plan.steps if step.key == ObjectKey("StatefulSet", "druid-c-historicals")]
    text = (write["metadata"].get("annotations") or {}).get(names.DECOMMISSION_ANNOTATION)
    return None if text is None else json.loads(text)


# (cluster, live objects): nothing is asked.
AT_REST = [
    pytest.param(cluster(2), running(), id="nothing changes"),
    pytest.param(cluster(3), running(), id="more replicas"),
    pytest.param(cluster(1, None), running(), id="no strategy"),
    pytest.param(cluster(1, node={"stopped": True}), running(), id="the group is stopped"),
    pytest.param(cluster(0), running(), id="all Historicals stop"),
    pytest.param(cluster(1, stopped=True), running(), id="the cluster is stopped"),
    pytest.param(cluster(None), running(), id="replicas is not set"),
    pytest.param(cluster(1, node={"nodeType": "broker"}), running(), id="no Historicals"),
    pytest.param(replace(cluster(1), uid=None), running(), id="no resource"),
    pytest.param(replace(cluster(1), autoscalers={"druid-c-historicals": "x"}), running(), id="an autoscaler"),
]


@pytest.mark.parametrize(("which", "live"), AT_REST)
def test_nothing_is_asked(which: Cluster, live: Observed) -> None:
    found = inputs(which, live)
    assert druid_state(found) == DruidState()
    assert (decommission_of(found).replicas, decommission_of(found).record) == ({}, ())


def test_druid_is_asked_about_a_group_that_shrinks_and_about_a_recorded_name() -> None:
    everything = (SERVERS, LOAD_QUEUES, COORDINATOR_CONFIG, LOAD_STATUS)
    for found in (inputs(), inputs(cluster(2), status=recorded())):
        assert asked(found, in_druid())[0] == everything


def asked(found: Inputs, druid: DruidState) -> list[tuple[Question[Any], ...]]:
    """Return what a Druid with these answers is asked."""
    found = deciding.with_answers(found, answers=druid.answers)
    druid_state(found)
    return deciding.answers_of(found).questions


def test_the_replicas_stay_and_the_name_is_recorded_first() -> None:
    found = inputs(answers=in_druid())
    plan = decided(found)
    assert (replicas(plan), in_list(plan)) == ([2], [])
    assert record_in(plan) == [
        {"pod": LAST, "group": "historicals", "startedAt": timestamp(NOW), "server": "10.0.0.1:8083"}
    ]
    [entry] = decommission_of(found).record
    assert (entry.pod, entry.server, entry.bytes) == (LAST, "10.0.0.1:8083", 100)
    [finding] = plan.findings
    assert (finding.reason, finding.group, finding.is_problem) == ("DecommissioningHistoricals", "historicals", False)
    assert finding.message == (
        "Group historicals keeps 2 pods until Druid has moved the segments of those that stop: "
        f"{LAST} (100 bytes left, since {timestamp(NOW)})."
    )
    assert lines(plan) == [
        "update StatefulSet druid-c-historicals",
        "later: update StatefulSet druid-c-historicals",
        "stop 1 pod of StatefulSet druid-c-historicals",
    ]


def test_then_the_name_is_added_to_those_of_others() -> None:
    plan = decided(inputs(answers=in_druid(listed=["z:1"]), status=recorded()))
    [step] = plan.steps
    assert step.in_druid
    assert step.change == ListChange("decommissioningNodes", frozenset({"10.0.0.1:8083"}), frozenset())
    assert step.path == "/druid/coordinator/v1/config"
    assert step.title == "add 10.0.0.1:8083 to decommissioningNodes in Druid"
    assert step.states == (of_list(["z:1"]), of_list(["10.0.0.1:8083", "z:1"]))


def of_list(names: list[str]) -> dict[str, Any]:
    return {"decommissioningNodes": names}


ADD = ["add 10.0.0.1:8083 to decommissioningNodes in Druid"]


def test_check_mode_shows_the_name_before_it_is_recorded() -> None:
    assert in_list(decided(inputs(answers=in_druid(), check_mode=True))) == ADD


def test_no_name_is_added_for_an_outdated_resource() -> None:
    found = inputs(answers=in_druid(), status=recorded())
    latest = {**found.resource, "metadata": {**found.resource["metadata"], "generation": 2}}
    assert decided(deciding.with_answers(found, latest=latest, druid=in_druid())).steps == ()


def test_what_an_older_version_has_recorded_goes_on_when_it_is_in_the_annotation() -> None:
    found = inputs(answers=in_druid(), status=recorded())
    plan = decided(replace(found, observed=running()))
    assert in_list(plan) == []
    [document] = record_in(plan)
    assert document["startedAt"] == recorded()["historicalDecommission"][0]["startedAt"]


@pytest.mark.parametrize(
    ("replicas", "listed", "expected"),
    [(1, ["z:1"], ADD), (2, ["10.0.0.1:8083", "z:1"], ["remove 10.0.0.1:8083 from decommissioningNodes in Druid"])],
)
def test_a_name_is_ours_when_the_status_is_lost(replicas: int, listed: list[str], expected: list[str]) -> None:
    found = inputs(cluster(replicas), answers=in_druid(listed=listed), status=recorded())
    found = replace(found, resource={**found.resource, "status": {}})
    assert in_list(decided(found)) == expected
    assert [entry.server for entry in decommission_of(found).record] == ["10.0.0.1:8083"]


def test_the_annotation_is_removed_with_the_record() -> None:
    status = recorded(unlistedSince=timestamp(NOW - timedelta(seconds=90)))
    plan = decided(inputs(cluster(2), answers=in_druid(), status=status))
    assert (in_list(plan), record_in(plan)) == ([], None)


def test_an_annotation_of_that_name_cannot_be_specified() -> None:
    which = cluster(node={"workloadAnnotations": {names.DECOMMISSION_ANNOTATION: "[]"}})
    [warning] = strategy_warnings(which)
    assert warning.endswith("has no effect: decommissioned pods are recorded there")
    live = rolling.observed(which).workload(which.groups[0])
    assert live is not None
    assert not live["metadata"].get("annotations")


def test_an_empty_pod_stops() -> None:
    status = recorded(bytes=0, emptySince=timestamp(NOW - timedelta(seconds=10)))
    plan = decided(inputs(answers=in_druid(0, ["10.0.0.1:8083"]), status=status))
    assert replicas(plan) == [1]
    assert plan.later == ()


def test_then_its_name_is_removed() -> None:
    plan = decided(inputs(live=running(1), answers=in_druid(0, ["10.0.0.1:8083", "z:1"]), status=recorded()))
    [step] = plan.steps
    assert step.title == "remove 10.0.0.1:8083 from decommissioningNodes in Druid"
    assert step.states[1] == of_list(["z:1"])
    assert [finding.message for finding in plan.findings] == [
        "Group historicals: 10.0.0.1:8083 is removed from decommissioningNodes when its pod is deleted."
    ]
    # Nothing is reported while it is verified that it stays so.
    after = decided(inputs(live=running(1), answers=in_druid(0, ["z:1"]), status=recorded()))
    assert (after.findings, after.steps) == ((), ())
    status = recorded(ended=True, unlistedSince=timestamp(NOW))
    assert decided(inputs(live=running(1), answers=in_druid(servers=UNREACHABLE), status=status)).findings == ()


def test_a_change_that_is_taken_back_removes_the_name_at_once() -> None:
    [step] = decided(inputs(cluster(2), answers=in_druid(50, ["10.0.0.1:8083"]), status=recorded())).steps
    assert step.title == "remove 10.0.0.1:8083 from decommissioningNodes in Druid"


def test_a_group_that_was_removed_leaves_no_name() -> None:
    found = inputs(druid.cluster(), Observed(), in_druid(0, ["10.0.0.1:8083"]), recorded())
    assert "remove 10.0.0.1:8083 from decommissioningNodes in Druid" in decided(found).titles


def test_other_changes_of_the_group_flow() -> None:
    plan = decided(inputs(cluster(1, node={"podAnnotations": {"a": "b"}}), answers=in_druid(), status=recorded()))
    assert replicas(plan) == [2]


def test_a_pause_records_nothing() -> None:
    found = inputs(answers=in_druid(), status=recorded())
    paused = decided(found).paused(Finding(reasons.PAUSED, "Paused.", is_problem=False, rank=Rank.PAUSED))
    result = ClusterResult(found.resource, found.cluster, found.observed, paused, inputs=found)
    assert (paused.steps, Decommissioning().status(result)) == ((), {})


def test_a_pod_that_druid_does_not_know_yet_is_reported() -> None:
    servers = (Server("10.0.0.1:8083", "historical", "hot", 0, 1000),)
    status = recorded(emptySince=timestamp(NOW - timedelta(minutes=5)))
    plan = decided(inputs(answers=in_druid(0, ["10.0.0.1:8083"], servers=servers), status=status))
    assert plan.findings[0].message.endswith(
        "druid-c-historicals-0 is unknown to Druid, which has to know all Historicals first: check their logs."
    )
    assert replicas(plan) == []


def test_a_stopped_cluster_keeps_the_record_and_does_not_ask_druid() -> None:
    found = inputs(cluster(stopped=True), answers=None, status=recorded())
    plan = with_decommission(Plan(), found)
    assert (plan.steps, plan.findings) == ((), ())
    status = Decommissioning().status(ClusterResult(found.resource, found.cluster, found.observed, plan, inputs=found))
    assert status == recorded()


def test_a_blocked_cluster_changes_nothing_in_druid() -> None:
    found = inputs(cluster(2), answers=in_druid(50, ["10.0.0.1:8083"]), status=recorded())
    plan = with_decommission(Plan(findings=(Finding(reasons.APPLY_FAILED, "It was modified."),)), found)
    assert isinstance(plan, Plan)
    assert plan.steps == ()


@pytest.mark.parametrize(
    ("ready", "exists", "servers", "absent"),
    [
        (True, True, 2, ()),
        (False, True, 2, ()),
        (True, True, 0, ("druid-c-historicals-0",)),
        (False, True, 0, ("druid-c-historicals-0",)),
        (False, False, 2, ("druid-c-historicals-0",)),
    ],
)
def test_a_pod_that_stays_is_absent_ready_or_not(
    ready: bool, exists: bool, servers: int, absent: tuple[str, ...]
) -> None:
    live, key = running(), ObjectKey("Pod", "druid-c-historicals-0")
    if not ready:
        live = live.with_objects([{**live.objects[key], "status": {"podIP": "10.0.0.0", "conditions": []}}])
    if not exists:
        live = live.without([key])
    known = tuple(Server(f"10.0.0.{n}:8083", "historical", "hot", 100, 1000) for n in range(servers))
    found = situation(inputs(live=live, answers=in_druid(servers=known)))
    assert found.druid is not None
    assert found.druid.absent == absent
    assert found.staying == ({"10.0.0.0:8083"} if exists and servers else frozenset())


UNREACHABLE = Unavailable(questions.UNREACHABLE, "Druid does not respond.")


@pytest.mark.parametrize(
    ("cause", "reason", "is_problem"),
    [
        (questions.UNREACHABLE, reasons.DRUID_UNREACHABLE, True),
        (questions.NO_ROUTER, reasons.ROUTER_NOT_FOUND, True),
        (questions.UNAUTHORIZED, reasons.UNAUTHORIZED, True),
        (questions.NOT_READY, reasons.WAITING_FOR_DRUID, False),
    ],
)
def test_the_pods_stay_while_druid_does_not_answer(cause: str, reason: str, is_problem: bool) -> None:
    plan = decided(inputs(answers=in_druid(servers=Unavailable(cause, "No.")), status=recorded()))
    assert plan.steps == ()
    finding = plan.findings[0]
    assert (finding.reason, finding.is_problem) == (reason, is_problem)
    assert finding.message == (
        f"Group historicals: {LAST} stays until Druid answers. No. "
        "To stop them without moving their segments, remove historicalDecommissionStrategy."
    )


@pytest.mark.parametrize(("policy", "expected"), [("Shrink", [1]), ("Stay", [])])
def test_the_policy_also_decides_when_druid_never_answers(policy: str, expected: list[int]) -> None:
    which = cluster(1, {**STRATEGY, "decommissionTimeout": "5m", "onTimeout": policy})
    plan = decided(inputs(which, answers=in_druid(servers=UNREACHABLE), status=recorded()))
    assert replicas(plan) == expected
    is_late = reasons.DECOMMISSION_TIMED_OUT in {finding.reason for finding in plan.findings}
    assert is_late == (policy == "Stay")


@pytest.mark.parametrize(
    ("config", "setting"),
    [
        ({"pauseCoordination": True}, "pauseCoordination: true"),
        ({"pauseCoordination": True, "smartSegmentLoading": True}, "pauseCoordination: true"),
        ({"maxSegmentsToMove": 0, "smartSegmentLoading": False}, "maxSegmentsToMove: 0"),
        ({"decommissioningMaxPercentOfMaxSegmentsToMove": 0}, "decommissioningMaxPercentOfMaxSegmentsToMove: 0"),
        ({"maxSegmentsToMove": 0, "smartSegmentLoading": True}, None),
        ({"pauseCoordination": False, "maxSegmentsToMove": 5}, None),
    ],
)
@pytest.mark.parametrize("minutes", [1, 120])
def test_a_coordinator_that_moves_no_segment_is_reported(config: Any, setting: str | None, minutes: int) -> None:
    """While the pods stay, and as the cause when the time is over."""
    status = recorded(startedAt=timestamp(NOW - timedelta(minutes=minutes)))
    plan = decided(inputs(answers=in_druid(listed=["10.0.0.1:8083"], config=config), status=status))
    text = f"The Coordinator moves no segment, because its dynamic configuration has {setting}: change that."
    assert {text in finding.message for finding in plan.findings} == {setting is not None}
    assert len(plan.findings) == (2 if minutes == 120 else 1)


def with_router(since: str | None, **condition: Any) -> tuple[Cluster, Observed]:
    """The cluster with a router whose pod is not ready since then; None: it has no pod."""
    router = {**druid.NODE, "nodeType": "router", "druid.port": 8888, **condition.pop("node", {})}

    def of(replicas: int) -> Cluster:
        nodes = {**cluster(replicas).spec["nodes"], "routers": router}
        return Cluster.from_resource(druid.resource(nodes=nodes, historicalDecommissionStrategy=dict(STRATEGY)))

    which, live = of(1), running().with_objects(rolling.observed(of(2)).of_kind("StatefulSet"))
    if since is None:
        return which, live
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": since}
    return which, live.with_objects([rolling.pod("routers", conditions=[ready], **condition)])


NO_ROUTER = Unavailable(questions.NOT_READY, "No pod of the router is ready (group routers).")


@pytest.mark.parametrize(
    ("seconds", "started", "node", "is_problem"),
    [
        pytest.param(900, 900, {}, True, id="a pod that does not become ready"),
        pytest.param(899, 900, {}, False, id="a restart"),
        pytest.param(9000, 899, {}, False, id="it is needed since then"),
        pytest.param(60, 900, {"progressDeadlineSeconds": 60}, True, id="a shorter limit"),
        pytest.param(None, 900, {}, True, id="no pod"),
        pytest.param(None, 899, {}, False, id="no pod, now"),
    ],
)
def test_a_router_that_does_not_become_ready_is_a_problem(
    seconds: int | None, started: int, node: dict[str, Any], is_problem: bool
) -> None:
    since = None if seconds is None else timestamp(NOW - timedelta(seconds=seconds))
    which, live = with_router(since, node=node, waiting="CrashLoopBackOff")
    status = recorded(startedAt=timestamp(NOW - timedelta(seconds=started)))
    finding = decided(inputs(which, live, in_druid(servers=NO_ROUTER), status)).findings[0]
    assert finding.message.startswith(f"Group historicals: {LAST} stays until Druid answers. {NO_ROUTER.message} ")
    assert (finding.reason, finding.is_problem) == (
        ("DruidUnreachable", True) if is_problem else ("WaitingForDruid", False)
    )
    if is_problem:
        cause = "group routers has no pods" if since is None else "CrashLoopBackOff"
        assert f"That has been so since {since or status['historicalDecommission'][0]['startedAt']}" in finding.message
        assert cause in finding.message


def two_groups() -> tuple[Cluster, Any]:
    """A cluster with two groups of Historicals, and a status with the last pod of each."""
    which, status = cluster(), recorded()
    cold = {**which.spec["nodes"]["historicals"], "druid.port": 8084}
    spec = {"nodes": {**which.spec["nodes"], "cold": cold}, "historicalDecommissionStrategy": dict(STRATEGY)}
    other = {**status["historicalDecommission"][0], "pod": "druid-c-cold-1", "group": "cold", "server": "10.0.0.1:8084"}
    status["historicalDecommission"].append(other)
    return Cluster.from_resource(druid.resource(**spec)), status


def test_each_group_has_its_own_step() -> None:
    which, status = two_groups()
    listed = ["10.0.0.1:8083", "10.0.0.1:8084", "z:1"]
    plan = decided(inputs(which, running(1), in_druid(listed=listed), status))
    found = [step for step in plan.steps if step.in_druid]
    assert [(step.group, step.title) for step in found] == [
        ("historicals", "remove 10.0.0.1:8083 from decommissioningNodes in Druid"),
        ("cold", "remove 10.0.0.1:8084 from decommissioningNodes in Druid"),
    ]
    # The second one follows the first one.
    assert [step.states for step in found] == [
        (of_list(listed), of_list(["10.0.0.1:8084", "z:1"])),
        (of_list(["10.0.0.1:8084", "z:1"]), of_list(["z:1"])),
    ]


def test_each_group_has_its_own_message() -> None:
    which, status = two_groups()
    found = decided(inputs(which, running(1), in_druid(servers=UNREACHABLE), status)).findings
    assert [(each.group, each.message.split(",")[0]) for each in found if each.is_problem] == [
        ("historicals", "Group historicals: 10.0.0.1:8083 is still in decommissioningNodes"),
        ("cold", "Group cold: 10.0.0.1:8084 is still in decommissioningNodes"),
    ]


def test_the_message_about_the_time_has_the_cause() -> None:
    status = recorded(startedAt=timestamp(NOW - timedelta(hours=2)))
    causes = {
        "Druid does not answer now.": in_druid(servers=UNREACHABLE),
        "druid-c-historicals-0 is unknown to Druid": in_druid(servers=()),
        "may not be able to load them": in_druid(listed=["10.0.0.1:8083"]),
        "Or specify fewer replicas in the load rules": replicated(Unavailable(questions.INVALID, "?")),
    }
    for cause, answers in causes.items():
        found = decided(inputs(answers=answers, status=status)).findings
        [late] = [each.message for each in found if each.reason == reasons.DECOMMISSION_TIMED_OUT]
        assert [each for each in causes if each in late] == [cause]


def test_a_name_that_is_left_is_reported_while_druid_does_not_answer() -> None:
    plan = decided(inputs(cluster(2), answers=in_druid(servers=UNREACHABLE), status=recorded()))
    assert plan.findings[0].message == (
        "Group historicals: 10.0.0.1:8083 is still in decommissioningNodes, until Druid answers. "
        "Druid does not respond."
    )


def test_a_tier_that_is_too_small_is_reported() -> None:
    servers = tuple(Server(f"10.0.0.{n}:8083", "historical", "hot", 700 * 1024**3, 1024**4) for n in range(2))
    plan = decided(inputs(answers=in_druid(servers=servers)))
    assert plan.findings[0].reason == reasons.TIER_TOO_SMALL
    assert "the segments of tier hot have 1.4 TiB, and" in plan.findings[0].message
    assert "have room for 1.0 TiB" in plan.findings[0].message
    assert plan.steps == ()


def test_a_pod_that_is_broken_stops_after_a_while() -> None:
    live = running()
    key = ObjectKey("Pod", LAST)
    live = live.with_objects([{**live.objects[key], "status": {"conditions": []}}])
    servers = (Server("10.0.0.0:8083", "historical", "hot", 100, 1000),)
    which = cluster(node={"startUpProbe": {"initialDelaySeconds": 100, "periodSeconds": 10, "failureThreshold": 17}})
    for seconds, expected in ((299, []), (300, [1])):
        since, confirmed = (timestamp(NOW - timedelta(seconds=each)) for each in (seconds, 60))
        status = recorded(bytes=None, emptySince=since, emptyConfirmedAt=confirmed)
        plan = decided(inputs(which, live, in_druid(servers=servers), status))
        assert [number for number in replicas(plan) if number != 2] == expected


def test_orphaned_pods_are_adopted_before_they_stop() -> None:
    live = running().without([ObjectKey("StatefulSet", "druid-c-historicals")])
    assert replicas(decided(inputs(live=live, answers=in_druid(), status=recorded())))[:1] == [2]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (cluster(), None),
        (cluster(strategy=None), None),
        (cluster(node={"kind": "Deployment"}), "the pods of a Deployment stop in no order"),
        (
            cluster(strategy=None, node={"nodeType": "broker", "historicalDecommissionStrategy": {}}),
            "nodeType is broker",
        ),
        (cluster(node={"nodeType": "broker"}), None),
        (cluster(node={"hpAutoscaler": {"maxReplicas": 3}}), "an autoscaler sets the number of pods"),
        (cluster(None), "replicas is not set"),
        (replace(cluster(), uid=None), "a cluster without a resource has no status"),
    ],
)
def test_a_strategy_without_effect_is_a_warning(which: Cluster, expected: str | None) -> None:
    found = [*strategy_warnings(which)]
    prefix = "spec.nodes[historicals]: historicalDecommissionStrategy has no effect: "
    assert [text.startswith(f"{prefix}{expected}") for text in found] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"decommissioningNodes": ["a:1"]}, ["a:1", "b:1"]),
        ({"decommissioningNodes": "a:1, b:1"}, ["a:1", "b:1"]),
        ({"decommissioningNodes": []}, ["b:1"]),
        ({"maxSegmentsToMove": 5}, None),
    ],
)
def test_a_specified_list_also_has_our_names(config: dict[str, Any], expected: list[str] | None) -> None:
    due = specified(cluster(dynamicConfig={"coordinator": config}))
    found = with_names(due, frozenset({"b:1"})).configs["coordinator"]
    assert found.get("decommissioningNodes") == expected
    assert with_names(due, frozenset()) == due


def test_a_specified_name_is_not_removed() -> None:
    which = cluster(2, dynamicConfig={"coordinator": {"decommissioningNodes": ["10.0.0.1:8083"]}})
    assert in_list(decided(inputs(which, answers=in_druid(50, ["10.0.0.1:8083"]), status=recorded()))) == []


def with_address(live: Observed, name: str, address: str, **status: Any) -> Observed:
    """The pod has another address."""
    pod = live.objects[ObjectKey("Pod", name)]
    return live.with_objects([{**pod, "status": {**pod["status"], "podIP": address, **status}}])


FIRST = "druid-c-historicals-0"
REUSED = "10.0.0.1:8083"
REMOVE = [f"remove {REUSED} from decommissioningNodes in Druid"]


@pytest.mark.parametrize(
    ("which", "number", "last", "known"),
    [
        pytest.param(cluster(1), 1, None, True, id="the other pod has stopped"),
        pytest.param(cluster(1), 1, None, False, id="Druid does not know the new pod yet"),
        pytest.param(cluster(1), 2, "10.0.0.7", True, id="the other pod has a new address"),
        pytest.param(cluster(2), 2, "10.0.0.7", True, id="both stay after all"),
    ],
)
def test_a_pod_that_stays_is_not_decommissioned_because_of_its_address(
    which: Cluster, number: int, last: str | None, known: bool
) -> None:
    live = with_address(running(number), FIRST, "10.0.0.1")
    live = with_address(live, LAST, last) if last else live
    servers = (Server(REUSED, "historical", "hot", 100, 1000),) if known else ()
    answers = in_druid(listed=[REUSED, "z:1"], servers=servers)
    plan = decided(inputs(which, live, answers, recorded()))
    assert [title for title in plan.titles if "decommissioningNodes" in title] == REMOVE


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_the_address_of_a_pod_that_has_ended_is_that_of_another_one(phase: str) -> None:
    live = with_address(with_address(running(), FIRST, "10.0.0.1"), LAST, "10.0.0.1", phase=phase, conditions=[])
    answers = in_druid(listed=[REUSED], servers=(Server(REUSED, "historical", "hot", 100, 1000),))
    plan = decided(inputs(live=live, answers=answers, status=recorded()))
    assert [title for title in plan.titles if "decommissioningNodes" in title] == REMOVE


def test_the_address_of_a_pod_that_stays_is_not_written_with_a_specified_list() -> None:
    which = cluster(1, dynamicConfig={"coordinator": {"decommissioningNodes": ["z:1"]}})
    live = with_address(with_address(running(), FIRST, "10.0.0.1"), LAST, "10.0.0.7")
    answers = in_druid(listed=[REUSED], servers=(Server(REUSED, "historical", "hot", 100, 1000),))
    assert decommission_of(inputs(which, live, answers, recorded())).ours == frozenset()


KEPT, LEAVING = "10.0.0.0:8083", "10.0.0.1:8083"
REPLICAS = replicated_bytes(LEAVING, [KEPT])
LISTED_AND_EMPTY = recorded(bytes=0, emptySince=timestamp(NOW - timedelta(seconds=10)))


def replicated(found: Any, number: int | None = 2, **more: Any) -> DruidState:
    """What Druid answers about a Historical with 100 bytes, of which another has so many, and a rule for replicas."""
    tier = None if number is None else "hot"
    answer = Replicated(100, found) if isinstance(found, int) else found
    answers = {RULES: (Rule("_default", tier, number),), REPLICAS: answer, VISIBLE: frozenset({"wiki"})}
    return in_druid(listed=[LEAVING], more=answers, **more)


def test_the_segments_are_asked_for_only_if_a_rule_requires_more_replicas_than_historicals_stay() -> None:
    assert REPLICAS not in chain(*asked(inputs(), in_druid()))
    rules = (Rule("_default", "hot", 2), Rule("visits", "cold", 3))
    assert asked(inputs(), in_druid(more={RULES: rules, VISIBLE: 0, REPLICAS: 0}))[-1] == (VISIBLE, REPLICAS)
    assert REPLICAS not in chain(*asked(inputs(), in_druid(0, more={RULES: rules[:1]})))


@pytest.mark.parametrize(
    ("found", "number", "expected"),
    [
        pytest.param(100, 2, [1], id="each segment has a replica that stays"),
        pytest.param(100, None, [1], id="a broadcast rule"),
        pytest.param(99, 2, [2], id="one segment has none"),
        pytest.param(0, 2, [2], id="none, or the Broker knows none"),
        pytest.param(101, 2, [2], id="the Coordinator has not heard of one yet"),
        pytest.param(Unavailable(questions.INVALID, "?"), 2, [2], id="unknown"),
    ],
)
def test_a_pod_whose_segments_all_have_a_replica_that_stays_stops(
    found: Any, number: int | None, expected: list[int]
) -> None:
    plan = decided(inputs(answers=replicated(found, number), status=LISTED_AND_EMPTY))
    assert (replicas(plan) or [2]) == expected


def test_such_a_pod_needs_two_readings_too() -> None:
    found = inputs(answers=replicated(100), status=recorded())
    plan = decided(found)
    [entry] = decommission_of(found).record
    assert (entry.bytes, entry.empty_since) == (0, timestamp(NOW))
    assert plan.findings[0].message.endswith(f"{LAST} (nothing to move since {timestamp(NOW)}).")


def test_such_a_pod_needs_no_room() -> None:
    servers = (Server(KEPT, "historical", "hot", 90, 100), Server(LEAVING, "historical", "hot", 90, 100))
    plan = decided(inputs(answers=replicated(90, servers=servers)))
    assert [finding.reason for finding in plan.findings] == [reasons.DECOMMISSIONING_HISTORICALS]
    plan = decided(inputs(answers=replicated(89, servers=servers)))
    assert plan.findings[0].reason == reasons.TIER_TOO_SMALL


def test_what_may_not_finish_reports_why_at_once() -> None:
    plan = decided(inputs(answers=replicated(Unavailable(questions.INVALID, "No answer.")), status=recorded()))
    assert plan.findings[0].message.endswith(
        "The load rules of _default require 2 replicas in tier hot, in which 10.0.0.0:8083 stays. Druid cannot move a "
        "segment that all of these have, and does not report which they have: No answer. Or specify fewer replicas in "
        "the load rules, or more pods of the group."
    )


@pytest.mark.parametrize(
    ("broker", "unloaded", "expected"),
    [
        ('druid.broker.segment.watchedTiers=["cold"]', {}, "watchedTiers of group brokers keeps its Brokers from"),
        ('druid.broker.segment.ignoredTiers=["hot"]', {}, "ignoredTiers of group brokers keeps its Brokers from"),
        ('druid.broker.segment.watchedTiers=["hot"]', {"wiki": 0, "secret": 0}, "may not read datasource secret, or"),
        ('druid.broker.segment.watchedTiers=["hot"]', {"wiki": 0}, ""),
    ],
)
def test_what_a_broker_does_not_report_is_named_at_once(broker: str, unloaded: dict[str, int], expected: str) -> None:
    """The tier or the permission, if either shows; a Broker may also know a segment some seconds later."""
    nodes = {"brokers": {**druid.NODE, "nodeType": "broker", "runtime.properties": broker}}
    found = replicated(Replicated(10, 10))
    answers = found.with_answers({LOAD_STATUS: unloaded})
    message = decided(inputs(cluster(1, nodes=nodes), answers=answers, status=recorded())).findings[0].message
    assert (expected in message) if expected else message.endswith(").")
