# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drains whose StatefulSet is recreated, or deleted by others: no worker is forgotten, and no pod goes too early."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.drained_cluster import (
    NEW,
    OLD,
    RECORD,
    SET,
    Drained,
    drained_cluster,
)
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.control_plane import ControlPlane


@pytest.fixture
def drained(control_plane: ControlPlane) -> Iterator[Drained]:
    with drained_cluster(control_plane) as found:
        yield found


@pytest.mark.parametrize("is_undone", [False, True], ids=["goes on", "undone"])
def test_an_interrupted_recreation_forgets_no_worker(drained: Drained, is_undone: bool) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {first: ["a"], last: ["b"]}
    # The status has only one of two workers.
    drained.specify(image=NEW, middleManagerDrainStrategy={"maxUnavailable": 2})
    eventually(lambda: drained.reconcile() and len(drained.overlord.writes) == 2)
    drained.specify(podManagementPolicy="OrderedReady")
    eventually(drained.is_killed_before_it_recreates)
    assert drained.live.find("StatefulSet", SET) is None
    if is_undone:
        drained.specify(image=OLD)
    eventually(lambda: drained.reconcile() and drained.live.find("StatefulSet", SET) is not None)
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    assert RECORD in drained.workload["metadata"]["annotations"]
    if not is_undone:
        message = f"a still runs on pod {SET}-0"
        eventually(lambda: drained.reconcile() and message in drained.drain.get("message", ""))
        drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert [first == drained.uid(0), last == drained.uid(1)] == [is_undone, is_undone]
    enabled = [f"enable {SET}-1", f"enable {SET}-0"] if is_undone else []
    assert drained.overlord.writes == [f"disable {SET}-1", f"disable {SET}-0", *enabled]
    config_map = drained.live.get("ConfigMap", f"{SET}-config")
    for each in (drained.workload, config_map):
        assert RECORD not in each["metadata"].get("annotations", {})


def test_the_pods_of_a_stateful_set_that_others_have_deleted_are_drained(drained: Drained) -> None:
    first, last = drained.uid(0), drained.uid(1)
    drained.overlord.tasks = {last: ["b"]}
    drained.live.delete("StatefulSet", SET, "Orphan")
    eventually(lambda: drained.live.find("StatefulSet", SET) is None)
    drained.specify(image=NEW)
    eventually(lambda: drained.reconcile() and drained.drain.get("message") == f"b still runs on pod {SET}-1.")
    assert (drained.partition, drained.uid(0), drained.uid(1)) == (2, first, last)
    drained.overlord.tasks.clear()
    eventually(drained.is_ready)
    assert first != drained.uid(0)
    assert last != drained.uid(1)
