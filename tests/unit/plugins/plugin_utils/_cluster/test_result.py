# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a task, and the description of a resource."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import info
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Effect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_error, of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

Manifest = dict[str, Any]

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REQUEST = Request("c", "ns", Options(), wait_timeout=7)
PROBLEM = Finding(reasons.INVALID_SPEC, "It cannot be.")
REQUESTED = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False, rank=Rank.DELETING)
CREATE = Apply(manifest={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}})


def report(*findings: Finding) -> Report[Plan]:
    document = status(ClusterState(druid.cluster(), Observed(), findings, {}, NOW))
    return Report(Plan((CREATE,), findings), document, requeue_after=5)


def test_result_of_a_task() -> None:
    found = report(REQUESTED)
    returned = of_outcome(
        DRUID, REQUEST, Outcome(found.plan, True, report=found, warnings=("Beware.",)), fail_when_blocked=True
    )
    assert returned == {
        "destructive": False,
        "changed": True,
        "name": "c",
        "namespace": "ns",
        "plan": ["create ConfigMap n"],
        "diff": returned["diff"],
        "warnings": ["Beware."],
        "generation": 1,
        "ready": False,
        "nodes": "0/1",
        "conditions": found.status["conditions"],
        "requeue_after": 5,
    }
    assert returned["diff"][0]["after_header"] == "ConfigMap ns/n"


# (outcome, message)
FAILURES: list[tuple[Outcome[Plan], str]] = [
    (Outcome(Plan(), report=report(PROBLEM)), "Druid ns/c: It cannot be."),
    (Outcome(Plan(), report=report(PROBLEM, REQUESTED, PROBLEM)), "Druid ns/c: It cannot be. | It cannot be."),
    (
        Outcome(Plan(), report=report(), timed_out=True),
        "Druid ns/c: not ready (RollingOut: Waiting for brokers 0/1.) after 7 s. "
        "Inspect them: kubectl describe statefulsets,deployments,replicasets,pods --namespace ns --selector druid_cr=c",
    ),
    (
        Outcome(Plan(), report=report(REQUESTED), timed_out=True),
        "Druid ns/c: not ready (Deleting: The resource is being deleted.) after 7 s.",
    ),
    (Outcome(Plan(), timed_out=True), "Druid ns/c: timed out waiting for the deletion after 7 s."),
    (Outcome(Plan(), report=report(PROBLEM), timed_out=True), "Druid ns/c: It cannot be."),
]


@pytest.mark.parametrize(("outcome", "message"), FAILURES)
@pytest.mark.parametrize("fail_when_blocked", [True, False])
def test_message_of_a_failure(outcome: Outcome[Plan], message: str, fail_when_blocked: bool) -> None:
    returned = of_outcome(DRUID, REQUEST, outcome, fail_when_blocked)
    assert (returned["msg"], returned["failed"]) == (message, fail_when_blocked)


DESTRUCTIVE = replace(CREATE, effects=(Effect("delete PersistentVolumeClaim p", is_destructive=True),))
ALL = "create ConfigMap n (destructive), delete PersistentVolumeClaim p (destructive)."
PENDING = ALL.replace("delete", "pending: delete")
PAUSE = Finding(reasons.PAUSED, "Paused by the user.", is_problem=False, rank=Rank.PAUSED)
# by one reconcile now, and by a later one
PAUSED = Plan((CREATE,), later=(DESTRUCTIVE,)).paused(PAUSE)


# (option, plan, changed, end of the message; none: the task does not fail)
@pytest.mark.parametrize(
    ("fail_on", "plan", "changed", "message"),
    [
        ("changes", Plan(), False, ""),
        ("changes", Plan((CREATE,)), True, "Changes (fail_on: changes): create ConfigMap n."),
        ("destructive", Plan((CREATE,)), True, ""),
        ("destructive", Plan((DESTRUCTIVE,)), True, f"Destructive changes (fail_on: destructive): {ALL}"),
        # by a later reconcile, in a rollout
        ("changes", Plan(later=(DESTRUCTIVE,)), False, f"Destructive changes (fail_on: changes): later: {ALL}"),
        # once the resource is not paused any more
        ("changes", PAUSED, False, f"Destructive changes (fail_on: changes): pending: {PENDING}"),
        ("destructive", PAUSED, False, f"Destructive changes (fail_on: destructive): pending: {PENDING}"),
        ("changes", Plan((CREATE,)).paused(PAUSE), False, "Changes (fail_on: changes): pending: create ConfigMap n."),
        ("never", Plan((DESTRUCTIVE,)), True, ""),
    ],
)
def test_changes_on_which_a_task_fails(fail_on: str, plan: Plan, changed: bool, message: str) -> None:
    request = replace(REQUEST, fail_on=fail_on)
    returned = of_outcome(DRUID, request, Outcome(plan, changed), fail_when_blocked=False)
    expected = (True, f"Druid ns/c: {message}") if message else (None, None)
    assert (returned.get("failed"), returned.get("msg")) == expected
    assert returned["plan"] == DRUID.lines(plan)


def test_a_plan_that_is_blocked_and_not_permitted_has_both_messages() -> None:
    outcome = Outcome(Plan((CREATE,)), True, report=report(PROBLEM))
    returned = of_outcome(DRUID, replace(REQUEST, fail_on="changes"), outcome, fail_when_blocked=False)
    assert returned["failed"]
    assert returned["msg"] == "Druid ns/c: It cannot be. Changes (fail_on: changes): create ConfigMap n."


def test_result_without_a_report() -> None:
    returned = of_outcome(DRUID, REQUEST, Outcome(Plan()), fail_when_blocked=True)
    assert returned == {
        "changed": False,
        "name": "c",
        "namespace": "ns",
        "plan": [],
        "diff": [],
        "destructive": False,
    }


ERRORS: list[tuple[DruidopsError, bool, bool]] = [
    (DruidopsError("no"), True, True),
    (DruidopsError("no"), False, False),
    (ResourceNotFound("no"), True, True),
    (ResourceNotFound("no"), False, False),
]


@pytest.mark.parametrize(("error", "fail_when_blocked", "failed"), ERRORS)
def test_result_of_an_error(error: DruidopsError, fail_when_blocked: bool, failed: bool) -> None:
    returned = of_error(error, fail_when_blocked)
    assert (returned["msg"], returned["failed"], returned["changed"]) == ("no", failed, False)
    assert ("requeue_after" in returned) == (not failed and not isinstance(error, ResourceNotFound))


READY = {"type": "Ready", "status": "True"}
# (status, generation, ready)
STATES: list[tuple[Any, int, bool]] = [
    ({"conditions": [READY], "observedGeneration": 3}, 3, True),
    ({"conditions": [READY], "observedGeneration": 2}, 3, False),
    ({"conditions": [{**READY, "status": "False"}], "observedGeneration": 3}, 3, False),
    ({"conditions": None}, 3, False),
    (None, 3, False),
    ({}, 3, False),
]


@pytest.mark.parametrize(("state", "generation", "ready"), STATES)
def test_description_of_a_resource(state: Any, generation: int, ready: bool) -> None:
    resource = druid.resource() | {"status": state}
    resource["metadata"]["generation"] = generation
    described = info.describe(resource)
    assert described["ready"] is ready
    assert (described["name"], described["namespace"], described["groups"]) == ("c", "ns", ["brokers"])
    assert "spec" not in described


def test_description_of_an_invalid_resource() -> None:
    resource = {**druid.resource(), "spec": {"nodes": {"a": "text"}}}
    assert info.describe(resource)["groups"] == []
