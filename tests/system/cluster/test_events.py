# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events about a resource: reported once, counted if repeated, and limited in number, on a real API server."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reasons import EVENTS_OMITTED
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import MAX_EVENTS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.permissions import grant

NAME = "c"
BROKERS = f"druid-{NAME}-brokers"
SECRET = "hunter2"
# All but workloads.
RIGHTS = [
    {"apiGroups": [""], "resources": ["pods", "resourcequotas"], "verbs": ["list"]},
    {"apiGroups": ["apps"], "resources": ["statefulsets", "deployments", "replicasets"], "verbs": ["get", "list"]},
    {"apiGroups": ["networking.k8s.io", "policy", "autoscaling"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": ["druid.apache.org"], "resources": ["druids", "druids/status"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps", "services", "persistentvolumeclaims", "events"], "verbs": ["*"]},
]


def events(live: NamespaceClient) -> list[Manifest]:
    """Return the events about the resource."""
    return [each for each in live.list("Event") if each["involvedObject"]["kind"] == "Druid"]


def warnings(live: NamespaceClient) -> dict[str, int]:
    """Return how many events there are of each reason that is a warning."""
    return dict(Counter(each["reason"] for each in events(live) if each["type"] == "Warning"))


def limited_pass(live: NamespaceClient) -> Outcome:
    """Reconcile as a user with few permissions."""
    return run(connection(live, "limited"), cluster_request(NAME, live.namespace), lambda _text: None, Clock())


def test_lasting_problem_is_reported_once(live: NamespaceClient) -> None:
    live.create({"kind": "ConfigMap", "metadata": {"name": f"{BROKERS}-config"}})
    live.create(small_cluster.resource(NAME))
    for _pass in range(10):
        one_pass(live, NAME)
    assert warnings(live) == {"NameConflict": 1}


def test_failing_writes_are_reported_once(live: NamespaceClient) -> None:
    live.create(small_cluster.resource(NAME))
    grant(live, *RIGHTS)
    for _pass in range(10):
        outcome = limited_pass(live)
        assert outcome.report is not None
        assert outcome.report.problems
    reported = warnings(live)
    assert reported
    assert set(reported.values()) <= {len(small_cluster.KEYS)}
    assert {each["count"] for each in events(live)} == {1}


def test_repeated_event_is_counted(live: NamespaceClient) -> None:
    live.create(small_cluster.resource(NAME))
    one_pass(live, NAME)
    for _time in range(3):
        live.merge("PodDisruptionBudget", BROKERS, {"spec": {"maxUnavailable": 7}})
        assert one_pass(live, NAME).changed
    [event] = [each for each in events(live) if "maxUnavailable: 7 -> 1" in each["message"]]
    assert event["count"] == 3
    assert event["lastTimestamp"] >= event["firstTimestamp"]


def test_missing_permission_to_count_is_not_reported(live: NamespaceClient) -> None:
    live.create(small_cluster.resource(NAME))
    everything: list[dict[str, Any]] = [
        {
            "apiGroups": ["apps", "networking.k8s.io", "policy", "autoscaling", "druid.apache.org"],
            "resources": ["*"],
            "verbs": ["*"],
        },
        {"apiGroups": [""], "resources": ["pods", "resourcequotas"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["configmaps", "services", "persistentvolumeclaims"], "verbs": ["*"]},
    ]
    grant(live, *everything)
    limited_pass(live)
    for _time in range(2):
        live.merge("PodDisruptionBudget", BROKERS, {"spec": {"maxUnavailable": 7}})
        outcome = limited_pass(live)
        assert (outcome.changed, outcome.warnings) == (True, ())
    [event] = [each for each in events(live) if "maxUnavailable: 7 -> 1" in each["message"]]
    assert event["count"] == 1


def test_large_change_is_summarized(live: NamespaceClient) -> None:
    spec = small_cluster.spec()
    node = spec["nodes"]["brokers"]
    spec["nodes"] = {f"g{number:02}": {**node, "replicas": 0} for number in range(25)}
    long = "".join(f"druid.password{number}={SECRET} {'ä' * 70}\n" for number in range(30))
    spec["nodes"]["g00"] = {**spec["nodes"]["g00"], "runtime.properties": long}
    live.create(small_cluster.resource(NAME, spec))
    outcome = one_pass(live, NAME)
    created = len([step for step in outcome.plan.steps if step.operation.verb == "create"])
    assert created > 60
    [event] = events(live)
    assert event["message"].startswith(f"Successfully created {created} objects in namespace [{live.namespace}]: ")
    assert event["message"].endswith("...")

    for name in live.names("PodDisruptionBudget"):
        live.merge("PodDisruptionBudget", name, {"spec": {"maxUnavailable": 7}})
    assert one_pass(live, NAME).changed
    [more] = [each for each in events(live) if each["reason"] == EVENTS_OMITTED]
    left = 25 - MAX_EVENTS + 1
    assert more["message"] == f"and {left} more events (DruidOperatorUpdateSuccess: {left})"
    assert len(events(live)) == 1 + MAX_EVENTS

    live.merge("Druid", NAME, {"spec": {"nodes": {"g00": {"runtime.properties": long.replace(SECRET, "another")}}}})
    assert one_pass(live, NAME).changed
    messages = [each["message"] for each in events(live)]
    assert any("(changed)" in text for text in messages)
    assert not [text for text in messages if SECRET in text or "password0=another " in text]
    assert max(len(text.encode()) for text in messages) <= 1024


def test_recreated_resource_has_its_own_events(live: NamespaceClient) -> None:
    for _time in range(2):
        live.create(small_cluster.resource(NAME))
        one_pass(live, NAME)
        live.delete("Druid", NAME)
        one_pass(live, NAME)
        eventually(lambda: live.find("Druid", NAME) is None)
    created = [each for each in events(live) if each["reason"] == "DruidOperatorCreateSuccess"]
    assert len({each["involvedObject"]["uid"] for each in created}) == 2
