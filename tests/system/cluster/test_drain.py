# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drains on a real API server with simulated pods; what Druid knows of their workers is simulated as well.

A real Druid in real pods is in tests/system/node.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.drained_cluster import (
    NAME,
    NEW,
    OLD,
    RECORD,
    SET,
    Drained,
    drained_cluster,
)
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, condition
from testbed.control_plane import ControlPlane


@pytest.fixture
def drained(control_plane: ControlPlane) -> Iterator[Drained]:
    with drained_cluster(control_plane) as found:
        yield found


def test_one_worker_after_the_other_finishes_its_tasks(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    assert drained.overlord.writes == [f"disable {SET}-1"]
    drained.overlord.tasks.pop(last)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"a still runs on pod {SET}-0.")
    assert drained.uid(0) == first
    assert drained.uid(1) != last
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert drained.uid(0) != first
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    assert (drained.partition, drained.drain) == (0, {})
    assert RECORD not in drained.workload["metadata"].get("annotations", {})
    assert not drained.reconcile().changed


def test_an_undone_change_leaves_no_disabled_worker(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    drained.specify(image=OLD)
    eventually(drained.is_ready)
    assert drained.overlord.writes == [f"disable {SET}-1", f"enable {SET}-1"]
    assert (drained.uid(0), drained.uid(1), drained.partition, drained.drain) == (first, last, 0, {})


def test_without_the_strategy_no_pod_is_kept_and_no_worker_disabled(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    drained.specify(image=NEW, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert drained.partition == 2
    drained.specify(middleManagerDrainStrategy=None, updateStrategy={"rollingUpdate": {"partition": 2}})
    eventually(drained.is_ready)
    assert (drained.uid(0), drained.uid(1), drained.partition, drained.drain) == (first, last, 2, {})
    assert drained.overlord.disabled == set()
    assert RECORD not in drained.workload["metadata"].get("annotations", {})


def test_fewer_replicas_wait_for_tasks(drained: Drained) -> None:
    last = drained.uid(1)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(nodes={"workers": {"replicas": 1}})
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.workload["spec"]["replicas"], drained.uid(1)) == (2, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert (drained.workload["spec"]["replicas"], drained.uid(1)) == (1, "")


def test_a_drain_of_the_go_operator_is_taken_over(drained: Drained) -> None:
    """It has disabled a worker, raised the partition, and reported that; its task still runs."""
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks, drained.overlord.disabled = {last: ["b"]}, {last}
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}

    def change(workload: Manifest) -> None:
        workload["spec"]["template"]["spec"]["containers"][0]["image"] = NEW
        workload["spec"]["updateStrategy"] = rolling

    drained.live.edit("StatefulSet", SET, change, "manager")
    theirs = {"statefulSet": SET, "phase": "Draining", "podName": f"{SET}-1", "podOrdinal": 1}
    body = {"status": {"middleManagerDrain": {**theirs, "lastTransitionTime": "2999-01-01T00:00:00Z"}}}
    path = f"{drained.live.path('Druid', NAME)}/status"
    drained.live.plane.request("PATCH", path, body, user="person", content_type="application/merge-patch+json")
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.uid(0), drained.uid(1), drained.overlord.writes) == (first, last, [])
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert last != drained.uid(1)
    assert drained.overlord.writes == [f"disable {SET}-0"]
    assert (drained.partition, drained.drain) == (0, {})


def test_what_is_awaited_is_in_the_conditions(drained: Drained) -> None:
    drained.overlord.tasks = {drained.uid(1): ["b"]}
    drained.specify(image=NEW)
    expected = f"Draining group workers: b still runs on pod {SET}-1."
    eventually(
        lambda: (
            drained.reconcile()
            and expected in condition(drained.live.get("Druid", NAME), "Progressing").get("message", "")
        )
    )
    assert {each["reason"] for each in drained.live.list("Event")} >= {"WorkerDisabled"}


def test_a_druid_that_forbids_to_drain_is_a_warning(drained: Drained) -> None:
    last, warning = drained.uid(1), "Druid cannot be asked for the workers of group workers"
    drained.overlord.is_forbidden = True
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and warning in drained.condition("RolloutWarnings"))
    assert (drained.partition, drained.uid(1), drained.overlord.writes) == (2, last, [])
    drained.overlord.is_forbidden = False
    eventually(drained.is_ready)
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    assert warning not in drained.condition("RolloutWarnings")


def test_several_workers_are_drained_at_the_same_time(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    drained.specify(image=NEW, middleManagerDrainStrategy={"maxUnavailable": "100%"})
    eventually(lambda: drained.reconcile() and len(drained.overlord.writes) == 2)
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0"]
    drained.overlord.tasks.pop(first)
    waits = f"pod {SET}-0 is drained, and waits for others"
    eventually(lambda: drained.reconcile() and waits in drained.drain.get("message", ""))
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert last != drained.uid(1)
    assert len(drained.overlord.writes) == 2
    assert (drained.partition, drained.drain) == (0, {})


def test_pods_that_the_spec_has_kept_are_drained(drained: Drained) -> None:
    """They stay at the old revision with OnDelete; then the controller replaces them, each after its drain."""
    first, last = drained.uid(0), drained.uid(1)
    drained.specify(image=NEW, updateStrategy={"type": "OnDelete"})
    eventually(drained.is_ready)
    drained.overlord.tasks = {last: ["b"]}
    drained.specify(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first == drained.uid(0)
    assert last != drained.uid(1)
    assert (drained.partition, drained.overlord.writes) == (1, [f"disable {SET}-1"])
    assert RECORD not in drained.workload["metadata"].get("annotations", {})
    drained.specify(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert (drained.partition, drained.overlord.writes) == (0, [f"disable {SET}-1", f"disable {SET}-0"])
