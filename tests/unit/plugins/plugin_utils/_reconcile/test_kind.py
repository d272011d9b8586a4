# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What tasks of every kind do about deletions, failed reads and failed writes of the status."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import no_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import COLLECTOR, CollectorKind
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import FINALIZER, KIND
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import measure
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi

OTHER = "example.com/other"
SPEC = {"tenant": "t"}
HELD = f"the deletion of Collector c (finalizers: {OTHER})"


def collector(*finalizers: str) -> Manifest:
    """Return a Collector that has not installed a release: only its finalizer has to be removed."""
    metadata = {"name": "c", "namespace": "ns", "uid": "u", "generation": 1, "resourceVersion": "1"}
    metadata |= {"finalizers": [FINALIZER, *finalizers]}
    return {"apiVersion": KINDS[KIND].api_version, "kind": KIND, "metadata": metadata, "spec": SPEC}


class Task:
    """Tasks for a Collector on an API server in memory; the time advances only while a task waits."""

    def __init__(self, *finalizers: str, meanwhile: Callable[[MemoryApi], None] = lambda _api: None) -> None:
        self.api, self.moment, self.progress = MemoryApi(), 0.0, list[str]()
        self.api.objects[KIND, "c"] = collector(*finalizers)
        self.meanwhile, self.kind = meanwhile, COLLECTOR

    def run(self, *, check_mode: bool = False, **requested: Any) -> Outcome[Any]:
        self.request = Request("c", "ns", Options(check_mode), wait_timeout=5, **requested)
        self.api.writes.clear()
        clock = Clock(lambda: self.moment, self._sleep, lambda: datetime(2026, 1, 2, tzinfo=UTC))
        return run(self.kind, self.api, self.request, self.progress.append, clock)

    def result(self, outcome: Outcome[Any]) -> dict[str, Any]:
        return of_outcome(COLLECTOR, self.request, outcome, fail_when_blocked=True)

    def _sleep(self, seconds: float) -> None:
        self.moment += seconds
        self.meanwhile(self.api)


def delete(api: MemoryApi) -> None:
    """Delete the resource as kubectl does."""
    api.delete(KIND, "ns", "c", "u")


def recreate(api: MemoryApi) -> None:
    """Replace it by another resource of its name."""
    found = collector()
    api.objects[KIND, "c"] = {**found, "metadata": {**found["metadata"], "uid": "another"}}


def test_deletion_waits_until_the_resource_is_deleted() -> None:
    task = Task()
    result = task.result(task.run(absent=True, wait=True))
    assert result["plan"] == ["delete Collector c", "remove the finalizer"]
    # what is deleted has none, such as "is being deleted"
    assert (result["conditions"], task.api.of_kind(KIND)) == ([], [])
    assert not task.run(absent=True, wait=True).changed


def test_deletion_in_check_mode_writes_nothing() -> None:
    task = Task()
    result = task.result(task.run(absent=True, wait=True, check_mode=True))
    assert (result["changed"], result["plan"], task.api.writes) == (True, ["delete Collector c"], [])


def test_deletion_is_reported_as_a_change_once() -> None:
    task = Task(OTHER)
    task.run(absent=True)
    for check_mode in (True, False):
        result = task.result(task.run(absent=True, check_mode=check_mode))
        assert (result["changed"], result["plan"], "DELETE Collector" in task.api.writes) == (False, [], False)
    assert task.api.objects[KIND, "c"]["metadata"]["finalizers"] == [OTHER]


def test_deletion_times_out_with_what_holds_it() -> None:
    task = Task(OTHER)
    outcome = task.run(absent=True, wait=True)
    assert (outcome.timed_out, task.moment, task.progress) == (True, 5, [f"Waiting for {HELD}."])
    assert task.result(outcome)["msg"] == f"Collector ns/c: timed out waiting for {HELD} after 5 s."


def test_wait_for_a_terminating_resource_times_out_with_what_holds_it() -> None:
    task = Task(OTHER)
    delete(task.api)
    outcome = task.run(wait=True)
    assert outcome.timed_out
    assert HELD in task.result(outcome)["msg"]


def test_recreated_resource_ends_the_wait_for_a_deletion() -> None:
    for requested in ({"absent": True}, {}):
        task = Task(OTHER, meanwhile=recreate)
        if not requested:
            delete(task.api)
        outcome = task.run(wait=True, **requested)
        assert (outcome.timed_out, outcome.remains) == (False, ())
        assert task.api.objects[KIND, "c"]["metadata"]["uid"] == "another"


def test_failed_status_update_is_a_warning() -> None:
    task = Task()
    task.api.rejected["PATCH", KIND] = "no"
    outcome = task.run()
    [warning] = task.result(outcome)["warnings"]
    assert "collectors.druid.apache.org" in warning
    assert measure(COLLECTOR, outcome, Meter(), 1.0).errors == {"act": 0, "report": 1}


class Unreadable(CollectorKind):
    """Its objects cannot be read."""

    def reconcile_once(self, *_arguments: Any) -> Any:
        raise KubernetesError("Cannot list pods.")


@pytest.mark.parametrize("check_mode", [False, True])
def test_failed_read_is_reported_in_the_conditions(check_mode: bool) -> None:
    task = Task()
    task.kind = Unreadable(no_helm())
    with pytest.raises(KubernetesError):
        task.run(check_mode=check_mode)
    assert task.api.writes == ([] if check_mode else ["PATCH Collector"])


def test_deletion_without_a_resource_measures_its_report() -> None:
    task, meter = Task(), Meter()
    spec = {"tenant": "t", "deletionPolicy": "Retain", "collector": {"name": "n"}}
    request = Request("c", "ns", Options(meter=meter), spec=spec)
    COLLECTOR.delete_without_resource(task.api, request, task.progress.append, Clock())
    assert meter.phases.seconds.keys() == {"report"}
