# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A report contains the completed steps, not the planned ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeFinalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan, predicted
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import MAX_MESSAGE_CHARACTERS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    MAX_EVENT_BYTES,
    MAX_EVENTS,
    Report,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, serving

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def step(name: str) -> Step:
    metadata = {"name": name, "namespace": "ns"}
    return Apply(manifest={"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, group="brokers")


OK = Response(body={})
STEPS = tuple(step(name) for name in "abc")
DONE, FAILED = StepResult(STEPS[0]), StepResult(STEPS[1], error="It cannot be.")
NOT_TRIED = StepResult(STEPS[2], error="Not tried.", was_tried=False)


def report_of(*results: StepResult[Step], check_mode: bool = False) -> Report[Plan]:
    """Return the report of a cluster without resource: no request is sent."""
    resource: dict[str, Any] = druid.resource()
    del resource["metadata"]["uid"]
    with urllib3.PoolManager() as pool:
        api = KubernetesApi("https://192.0.2.1", pool)
        cluster = Cluster.from_resource(resource)
        return DRUID.report(api, ClusterResult(resource, cluster, Observed(), Plan(STEPS), results), check_mode, NOW)


def test_failed_steps_are_problems() -> None:
    found = report_of(DONE, FAILED, NOT_TRIED)
    assert found.plan.steps == STEPS[:1]
    assert found.changed
    assert [(each.reason, each.message) for each in found.problems] == [
        (reasons.APPLY_FAILED, "It cannot be."),
        (reasons.APPLY_FAILED, "Not tried."),
    ]


def test_no_change_if_all_steps_failed() -> None:
    found = report_of(FAILED, NOT_TRIED)
    assert (found.plan.steps, found.changed) == ((), False)


def test_check_mode_reports_the_planned_steps() -> None:
    found = report_of(check_mode=True)
    assert (found.plan.steps, found.changed) == (STEPS, True)


def test_a_rollout_whose_write_failed_has_not_begun() -> None:
    before, after = rolling.cluster(), rolling.cluster(rolling.NEW)
    observed = rolling.observed(before)
    changed = rolling.steps(after, observed)
    resource = {**druid.resource(), "metadata": {"name": "c", "namespace": "ns"}}
    results = tuple(StepResult(each, each.live, error="No.") for each in changed)
    with urllib3.PoolManager() as pool:
        api = KubernetesApi("https://192.0.2.1", pool)
        found = DRUID.report(api, ClusterResult(resource, after, observed, Plan(changed), results), False, NOW)
    [progressing] = [each for each in found.status["conditions"] if each["type"] == "Progressing"]
    assert (progressing["status"], progressing["reason"]) == ("False", reasons.APPLY_FAILED)
    assert "rollout" not in found.status


LIVE = {name: stored(STEPS[0].manifest | {"metadata": {"name": name, "namespace": "ns"}}) for name in "ab"}
LATER = {name: {**live, "data": {"later": "yes"}} for name, live in LIVE.items()}
RESOURCE = {**LATER["a"], "kind": "Druid"}
CURRENT = Observed().with_objects(LIVE.values())

# (id, step, objects after it)
PREDICTIONS: list[tuple[str, Step, dict[str, Any]]] = [
    ("created", Apply(manifest=LIVE["a"], after=LATER["a"]), {**LIVE, "a": LATER["a"]}),
    ("changed", Apply(manifest=LIVE["b"], live=LIVE["b"], after=LATER["b"]), {**LIVE, "b": LATER["b"]}),
    ("deleted", Delete(live=LIVE["a"]), {"b": LIVE["b"]}),
    ("the resource itself", ChangeFinalizer(live=RESOURCE, after=RESOURCE), LIVE),
]


@pytest.mark.parametrize(("step", "after"), [row[1:] for row in PREDICTIONS], ids=[row[0] for row in PREDICTIONS])
def test_check_mode_predicts_the_objects(step: Step, after: dict[str, Any]) -> None:
    found = predicted(CURRENT, [step]).objects
    assert {key.name: live for key, live in found.items()} == after


# (generation in the status, executed steps, response to the write of the status, seconds until the next reconcile)
REQUEUED = [
    (1, 0, OK, 300),
    (1, 1, OK, 2),
    (0, 0, OK, 2),
    # the Go operator's CRD has no observedGeneration: then no generation is considered new
    (None, 0, OK, 300),
    (0, 0, Response(403, {"message": "no"}), 300),
]


@pytest.mark.parametrize(("observed", "count", "response", "seconds"), REQUEUED)
def test_requeue_soon_after_a_change(observed: int | None, count: int, response: Response, seconds: int) -> None:
    resource: dict[str, Any] = druid.resource()
    resource["metadata"]["resourceVersion"] = "1"
    since = {"status": "False", "reason": reasons.PODS_NOT_READY, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    resource["status"] = {"observedGeneration": observed, "conditions": [{"type": "Ready", **since}]}
    steps = STEPS[:count]
    with serving() as server, urllib3.PoolManager() as pool:
        server.responses = [response]
        cluster = Cluster.from_resource(resource)
        result = ClusterResult(resource, cluster, Observed(), Plan(steps), tuple(map(StepResult[Step], steps)))
        assert DRUID.report(KubernetesApi(server.url, pool), result, False, NOW).requeue_after == seconds


def test_warnings_are_masked_and_bounded_wherever_they_are_reported() -> None:
    resource: dict[str, Any] = druid.resource()
    resource["metadata"]["resourceVersion"] = "1"
    resource["spec"]["env"] = [{"name": "PASSWORD", "value": "hunter2-hunter2"}]
    warnings = tuple(f"{number} hunter2-hunter2 {'x' * 2000}" for number in range(50))
    steps = STEPS[:1]
    with serving() as server, urllib3.PoolManager() as pool:
        server.responses = [OK]
        plan = Plan(steps, warnings=warnings, rollout_warnings=("r hunter2-hunter2",))
        result = ClusterResult(
            resource, Cluster.from_resource(resource), Observed(), plan, tuple(map(StepResult[Step], steps))
        )
        found = DRUID.report(KubernetesApi(server.url, pool), result, False, NOW)
    conditions = {each["type"]: each["message"] for each in found.status["conditions"]}
    assert conditions["RolloutWarnings"] == "r ********"
    assert conditions["Warnings"].startswith("0 ******** ")
    assert len(conditions["Warnings"]) <= MAX_MESSAGE_CHARACTERS
    events = [each.document for each in server.requests if "/events" in each.path]
    assert len(events) == MAX_EVENTS
    assert max(len(each["message"]) for each in events) <= MAX_EVENT_BYTES
    sent = "".join(each.body.decode() for each in server.requests)
    assert "********" in sent
    assert "hunter2" not in sent + "".join(found.warnings)
