# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups restart when a Secret or ConfigMap changes that their pods refer to, on a real control plane."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import (
    WORKLOADS,
    GoOperator,
    identities,
    take_over,
)
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    ONE,
    TYPES,
    create,
    order_of_restarts,
    pods,
)

SETTING = "druid.apache.org/restart-on-change"
PASSWORD = {"env": [{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}]}
FILES = {"volumes": [{"name": "files", "configMap": {"name": "files"}}]}
BROKERS = {**ONE, **PASSWORD, **FILES}
NODES = {"historicals": {**ONE, **PASSWORD}, "middlemanagers": ONE, "brokers": BROKERS, "coordinators": ONE}
# As the last rotation of a password, each is in no object but the Secret.
FIRST, SECOND = "f1rst-passw0rd", "s3cond-passw0rd"


def create_referenced(live: NamespaceClient) -> None:
    live.create({"kind": "Secret", "metadata": {"name": "db"}, "stringData": {"password": FIRST, "unused": "u"}})
    live.create({"kind": "ConfigMap", "metadata": {"name": "files"}, "data": {"log4j2.xml": "<a/>"}})


def rotate(live: NamespaceClient, password: str = SECOND) -> None:
    live.merge("Secret", "db", {"stringData": {"password": password}})


def annotate(live: NamespaceClient, value: str | None) -> None:
    live.merge("Druid", NAME, {"metadata": {"annotations": {SETTING: value}}})


def planned(live: NamespaceClient) -> list[str]:
    return plan_output.lines(one_pass(live, NAME, check_mode=True).plan)


def restarted(live: NamespaceClient, before: dict[str, str]) -> set[str]:
    """Return the groups all of whose pods are other ones than before."""
    return {key for key in TYPES if not before.items() & pods(live, key).items()}


def assert_nothing_to_do(live: NamespaceClient) -> None:
    mark = live.mark()
    assert not one_pass(live, NAME).plan.steps
    assert without_status(live.writes(mark)) == []


def everything(live: NamespaceClient) -> str:
    """Return all objects but the Secret."""
    others = (each for kind in (*CREATED_KINDS, "Pod", "Event") for each in live.list(kind))
    return json.dumps([live.get("Druid", NAME), *others])


def test_a_changed_secret_restarts_the_groups_that_use_it_in_order_once(live: NamespaceClient) -> None:
    create_referenced(live)
    create(live, **NODES)
    assert_nothing_to_do(live)
    before = pods(live)
    rotate(live)
    lines = planned(live)
    assert [text for text in lines if text.startswith("restart ")] == [
        "restart 1: group historicals (StatefulSet druid-c-historicals), 1 pod: Secret db changed",
        "restart 2: group brokers (Deployment druid-c-brokers), 1 pod: Secret db changed",
    ]
    mark = live.mark()
    assert order_of_restarts(live) == ["historicals", "brokers"]
    texts = [each["message"] for each in live.list("Event")]
    assert "Rollout of group historicals (1 pod) has started: Secret db changed." in texts
    assert restarted(live, before) == {"historicals", "brokers"}
    requests = live.requests(mark)
    passes = sum(each.resource == "druids" and each.verb == "get" for each in requests)
    assert 0 < sum(each.resource == "secrets" for each in requests) <= passes
    assert_nothing_to_do(live)
    text = "\n".join((everything(live), *lines))
    assert not [each for each in (FIRST, SECOND) if each in text]


def test_what_no_pod_reads_and_an_object_that_is_created_again_restart_nothing(live: NamespaceClient) -> None:
    create_referenced(live)
    create(live, **NODES)
    live.merge("Secret", "db", {"stringData": {"unused": "v"}, "metadata": {"labels": {"a": "b"}}})
    found = live.get("ConfigMap", "files")
    live.delete("ConfigMap", "files")
    assert_nothing_to_do(live)
    live.create({"kind": "ConfigMap", "metadata": {"name": "files"}, "data": found["data"]})
    assert_nothing_to_do(live)
    live.merge("ConfigMap", "files", {"data": {"log4j2.xml": "<b/>"}})
    assert order_of_restarts(live) == ["brokers"]


def test_an_existing_cluster_restarts_only_if_that_is_requested(live: NamespaceClient) -> None:
    create_referenced(live)
    create_off(live, NODES)
    before = pods(live)
    rotate(live)
    assert_nothing_to_do(live)
    annotate(live, None)
    [warning] = one_pass(live, NAME).plan.warnings
    assert f'kubectl annotate --overwrite druid c --namespace {live.namespace} "{SETTING}=true"' in warning
    assert warning in condition(live.get("Druid", NAME), "Warnings")["message"]
    assert_nothing_to_do(live)
    annotate(live, "true")
    assert not [text for text in planned(live) if text.startswith("restart ")]
    assert one_pass(live, NAME).plan.steps
    assert_nothing_to_do(live)
    assert pods(live) == before
    rotate(live, FIRST)
    assert order_of_restarts(live) == ["historicals", "brokers"]


def create_off(live: NamespaceClient, nodes: Manifest) -> None:
    """Create a cluster without records, as an earlier version does."""
    create(live, **nodes)
    without = {"metadata": {"annotations": {"druid.apache.org/referenced-data": None}}}
    for each in workloads(live):
        live.merge(each["kind"], each["metadata"]["name"], without)


def workloads(live: NamespaceClient) -> list[Manifest]:
    return [each for kind in WORKLOADS for each in live.list(kind)]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_what_a_pod_has_printed_is_shown_without_its_secret(live: NamespaceClient, setting: str) -> None:
    create_referenced(live)
    create(live, **NODES)
    annotate(live, setting)
    name = next(iter(pods(live, "historicals")))
    # The simulated kubelet does not change it again.
    live.merge("Pod", name, {"metadata": {"annotations": {"test/ready": "never"}}})
    eventually(lambda: condition(live.get("Pod", name), "Ready")["status"] == "False")
    container = live.get("Pod", name)["status"]["containerStatuses"][0]
    message = f"ready with {FIRST}, or {b64encode(FIRST.encode()).decode()}"
    # Stopped by a probe, of which there is no event, and whose log is not there: what it has printed is shown.
    last = {"terminated": {"exitCode": 143, "reason": "Error", "message": message}}
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    changed = {**container, "ready": False, "restartCount": 2, "state": waiting, "lastState": last}
    live.merge("Pod", f"{name}/status", {"status": {"containerStatuses": [changed]}})
    one_pass(live, NAME)
    degraded = condition(live.get("Druid", NAME), "Degraded")
    assert f"pod {name}, container {container['name']}: CrashLoopBackOff, last exit code 143" in degraded["message"]
    assert "ready with ********, or ********" in degraded["message"]
    reported = json.dumps([live.get("Druid", NAME), live.list("Event")])
    assert FIRST not in reported


def test_a_migration_from_the_go_operator_restarts_nothing(golden: NamespaceClient) -> None:
    name = "r4242-9"
    operator = GoOperator(golden, name).run()
    operator.settled()
    secrets = references(golden)
    for secret in secrets:
        golden.create({"kind": "Secret", "metadata": {"name": secret}, "stringData": {"any": "1"}})
    before = identities(golden)
    take_over(golden, name)
    for secret in secrets:
        golden.merge("Secret", secret, {"stringData": {"any": "2"}})
    found = one_pass(golden, name)
    assert found.plan.steps == ()
    assert any(f'"{SETTING}=true"' in text and f"Secret {min(secrets)}" in text for text in found.plan.warnings)
    assert identities(golden) == before


def references(live: NamespaceClient) -> set[str]:
    """Return the names of the Secrets in the environment of the main containers."""
    containers = (each["spec"]["template"]["spec"]["containers"][0] for each in workloads(live))
    sources = (entry.get("valueFrom", {}) for each in containers for entry in each.get("env", ()))
    return {source["secretKeyRef"]["name"] for source in sources if "secretKeyRef" in source}
