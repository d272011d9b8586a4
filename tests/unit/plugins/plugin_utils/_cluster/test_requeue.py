# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The delay until the next reconcile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import requeue_after
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def conditions(ready: str, paused: str, since: str) -> list[dict[str, Any]]:
    return [
        {"type": "Ready", "status": ready, "lastTransitionTime": since},
        {"type": "Paused", "status": paused, "lastTransitionTime": since},
    ]


def document(ready: str, paused: str, since: str, **more: Any) -> dict[str, Any]:
    return {"conditions": conditions(ready, paused, since), **more}


# (seconds since the cluster is not ready, seconds until the next reconcile)
AGES = [(-60, 2), (0, 2), (29, 2), (30, 3), (60, 6), (600, 60), (2999, 299), (3000, 300), (10**6, 300)]


@pytest.mark.parametrize(("age", "seconds"), AGES)
def test_delay_increases(age: int, seconds: int) -> None:
    since = timestamp(NOW - timedelta(seconds=age))
    assert requeue_after(document("False", "False", since), NOW) == seconds


@pytest.mark.parametrize(("ready", "paused"), [("True", "False"), ("False", "True"), ("True", "True")])
def test_no_requeue_if_ready_or_paused(ready: str, paused: str) -> None:
    assert requeue_after(document(ready, paused, timestamp(NOW)), NOW) is None


# A requeue prevents ansible-operator from removing the finalizer before the PVCs are deleted.
REASONS = [("Stopped", None), ("ChangesPending", None), ("PodsNotReady", 2), ("Deleting", 2)]


@pytest.mark.parametrize(("reason", "seconds"), REASONS)
def test_no_requeue_for_a_state_that_the_user_requested(reason: str, seconds: int | None) -> None:
    ready, paused = conditions("False", "False", timestamp(NOW))
    assert requeue_after({"conditions": [{**ready, "reason": reason}, paused]}, NOW) == seconds


@pytest.mark.parametrize(
    ("since", "seconds"), [("2026-01-02T02:54:05.123Z", 59), ("2026-01-02T02:54:05", 60), ("yesterday", 2), ("", 2)]
)
def test_transition_times_of_other_clients(since: str, seconds: int) -> None:
    assert requeue_after(document("False", "False", since), NOW) == seconds


@pytest.mark.parametrize("age", [0, 60, 10**6])
@pytest.mark.parametrize("ready", ["True", "False"])
def test_requeue_soon_after_a_change(ready: str, age: int) -> None:
    since = timestamp(NOW - timedelta(seconds=age))
    assert requeue_after(document(ready, "False", since), NOW, has_changed=True) == 2


# (ready, paused, seconds until each deletion, seconds until the next reconcile)
ORPHANS: list[tuple[str, str, list[int], int | None]] = [
    ("True", "False", [40], 41),
    ("True", "False", [50, 40], 41),
    ("True", "False", [3600], 60),
    ("True", "False", [-5], None),
    ("True", "False", [-5, 40], 41),
    ("False", "False", [40], 2),
    ("True", "True", [40], None),
]


@pytest.mark.parametrize(("ready", "paused", "ahead", "seconds"), ORPHANS)
def test_requeue_for_the_deletion_of_orphaned_pvcs(
    ready: str, paused: str, ahead: list[int], seconds: int | None
) -> None:
    found = [{"name": "p", "deletedAfter": timestamp(NOW + timedelta(seconds=each))} for each in ahead]
    status = document(ready, paused, timestamp(NOW), orphanedPvcs=[*found, {"name": "kept", "message": "It stays."}])
    assert requeue_after(status, NOW) == seconds


def test_a_deletion_continues_soon() -> None:
    for age, seconds in ((1, 2), (300, 30), (86400, 60)):
        deleting = document("False", "False", timestamp(NOW - timedelta(seconds=age)))
        deleting["conditions"][0]["reason"] = "Deleting"
        assert (requeue_after(deleting, NOW, has_changed=True), requeue_after(deleting, NOW)) == (1, seconds)


def test_no_event_announces_that_druid_has_recovered() -> None:
    since = timestamp(NOW - timedelta(seconds=3000))
    waiting = document("False", "False", since, rollout={"group": "brokers", "waitingFor": "segments"})
    assert requeue_after(waiting, NOW) == 10


@pytest.mark.parametrize(("phase", "seconds"), [("Draining", 10), ("WaitingForPod", 10), ("Blocked", 300)])
def test_no_event_announces_that_a_task_has_ended(phase: str, seconds: int) -> None:
    since = timestamp(NOW - timedelta(seconds=3000))
    assert requeue_after(document("False", "False", since, middleManagerDrain={"phase": phase}), NOW) == seconds
