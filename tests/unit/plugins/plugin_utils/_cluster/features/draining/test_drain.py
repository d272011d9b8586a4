# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decision about the drain of one group, as tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import TaskGroup
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.drain import drain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    Drain,
    Limits,
    Record,
    Worker,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LIMITS = Limits(drain=3600, pod_ready=1800)
IDLE, BUSY, OFF = Worker("w"), Worker("w", tasks=("t1",)), Worker("w", is_enabled=False)
BUSY_OFF = Worker("w", is_enabled=False, tasks=("t1",))
READING = replace(BUSY_OFF, reading=(TaskGroup("pages", 3), TaskGroup("pages", 1)))


def ago(seconds: float) -> str:
    return timestamp(NOW - timedelta(seconds=seconds))


def pod(index: int, worker: Worker | None = IDLE, *, old: bool = True, **more: Any) -> WorkerPod:
    named = replace(worker, host=f"mm-{index}:8091") if worker else None
    return WorkerPod(index, f"mm-{index}", f"uid-{index}", is_outdated=old, worker=named, **more)


def new(index: int, worker: Worker | None = IDLE, **more: Any) -> WorkerPod:
    return replace(pod(index, worker, old=False, **more), uid=f"new-{index}")


def broken(index: int) -> WorkerPod:
    return pod(index, None, is_ready=False, is_broken=True)


def record(index: int, since: float = 60, **more: Any) -> Record:
    return Record(f"mm-{index}", f"uid-{index}", ago(since), **{"is_ours": True, **more})


THEIRS = record(2, is_ours=False)


def idle(index: int, seconds: float = 10) -> Record:
    return record(index, idle=ago(seconds))


def released(index: int, seconds: float = 10, **more: Any) -> Record:
    return record(index, released=ago(seconds), **more)


def group(*pods: WorkerPod, **more: Any) -> WorkerGroup:
    return WorkerGroup("mm", **{"replicas": 3, "desired": 3, "pods": pods, **more})


def decided(which: WorkerGroup) -> Drain:
    return drain(which, LIMITS, NOW)


def summary(found: Drain) -> tuple[int, int, list[str], list[str]]:
    """Return partition, replicas, the recorded pods (with a minus if they were released), and the requests."""
    recorded = [f"{'-' if each.released else ''}{each.pod}" for each in found.records]
    requests = [" ".join((each.verb, each.target, *map(str, each.task_groups))) for each in found.requests]
    return found.partition, found.replicas, recorded, requests


OLD = (pod(0), pod(1), pod(2))
TABLE: list[tuple[str, WorkerGroup, tuple[int, int, list[str], list[str]]]] = [
    ("nothing to do", group(new(0), new(1), new(2)), (0, 3, [], [])),
    ("a new revision is about to be written", group(*OLD, restarts=True), (3, 3, [], [])),
    ("the controller has not observed it", group(*OLD, partition=3, is_observed=False), (3, 3, [], [])),
    ("the last one is disabled", group(*OLD, partition=3), (3, 3, ["mm-2"], ["disable mm-2:8091"])),
    ("the partition is raised first", group(*OLD), (3, 3, ["mm-2"], ["disable mm-2:8091"])),
    ("its tasks are awaited", group(*OLD[:2], pod(2, BUSY_OFF), records=(record(2),)), (3, 3, ["mm-2"], [])),
    ("one reading without tasks may be too early", group(*OLD[:2], pod(2, OFF), partition=3, records=(record(2),)),
     (3, 3, ["mm-2"], [])),
    ("so may the next one", group(*OLD[:2], pod(2, OFF), partition=3, records=(idle(2, 9),)), (3, 3, ["mm-2"], [])),
    ("without tasks, it is released", group(*OLD[:2], pod(2, OFF), records=(idle(2),)), (2, 3, ["-mm-2"], [])),
    ("a task appeared in between", group(*OLD[:2], pod(2, BUSY_OFF), records=(idle(2),)), (3, 3, ["mm-2"], [])),
    ("its pod is gone", group(*OLD[:2], partition=2, records=(released(2),)), (2, 3, ["-mm-2"], [])),
    ("its process has started again, and must not get tasks", group(*OLD[:2], pod(2), records=(released(2),)),
     (2, 3, ["-mm-2"], ["disable mm-2:8091"])),
    ("the new one is not ready", group(*OLD[:2], new(2, None, is_ready=False), records=(released(2),)),
     (2, 3, ["-mm-2"], [])),
    ("the new one is not registered", group(*OLD[:2], new(2, None), records=(released(2),)), (2, 3, ["-mm-2"], [])),
    ("the new one is disabled", group(*OLD[:2], new(2, OFF), records=(released(2),)),
     (2, 3, ["-mm-2"], ["enable mm-2:8091"])),
    ("the next one follows", group(*OLD[:2], new(2), partition=2, records=(released(2),)),
     (2, 3, ["mm-1"], ["disable mm-1:8091"])),
    ("the last of them", group(pod(0, OFF), new(1), new(2), partition=1, records=(idle(0),)), (0, 3, ["-mm-0"], [])),
    ("all of them are new", group(new(0), new(1), new(2), partition=0, records=(released(0),)), (0, 3, [], [])),
    ("a partition of the user", group(*OLD[:2], new(2), partition=2, requested=2), (2, 3, [], [])),
    ("above a partition of the user", group(*OLD, partition=3, requested=2), (3, 3, ["mm-2"], ["disable mm-2:8091"])),
    ("a pod without a process has no tasks",
     group(*OLD[:2], pod(2, None, is_ready=False, is_running=False)), (2, 3, ["-mm-2"], [])),
    ("nor has one that is broken", group(*OLD[:2], broken(2)), (2, 3, ["-mm-2"], [])),
    ("a worker that is lost may have tasks", group(*OLD[:2], pod(2, None, is_ready=False)), (3, 3, ["mm-2"], [])),
    ("for a while", group(*OLD[:2], pod(2, None, is_ready=False), records=(record(2, lost=ago(59)),)),
     (3, 3, ["mm-2"], [])),
    ("not for long", group(*OLD[:2], pod(2, None, is_ready=False), records=(record(2, lost=ago(60)),)),
     (2, 3, ["-mm-2"], [])),
    ("the time that it was idle before does not count",
     group(*OLD[:2], pod(2, None, is_ready=False), records=(idle(2, 600),)), (3, 3, ["mm-2"], [])),
    ("nor does the time that it was lost, when it is registered",
     group(*OLD[:2], pod(2, OFF), records=(record(2, lost=ago(600)),)), (3, 3, ["mm-2"], [])),
    ("a terminating pod needs no drain", group(*OLD[:2], pod(2, BUSY, is_terminating=True)), (2, 3, ["-mm-2"], [])),
    ("the worker of a ready pod is awaited", group(*OLD[:2], pod(2, None)), (3, 3, ["mm-2"], [])),
    ("the controller waits for a pod", group(pod(0), pod(1), new(2, is_ready=False)), (2, 3, [], [])),
    ("a broken pod blocks an ordered update",
     group(pod(0), broken(1), pod(2, OFF), is_ordered=True, records=(idle(2),)), (1, 3, ["-mm-2", "-mm-1"], [])),
    ("the workers of all pods from it on are drained",
     group(broken(0), *OLD[1:], is_ordered=True),
     (3, 3, ["mm-2", "mm-1", "mm-0"], ["disable mm-2:8091", "disable mm-1:8091"])),
    ("an ordered update waits for a pod that is not ready for a moment",
     group(pod(0), pod(1, is_ready=False), pod(2), is_ordered=True), (3, 3, [], [])),
    ("also for one that is up to date",
     group(replace(new(0), is_ready=False), pod(1), pod(2), is_ordered=True), (3, 3, [], [])),
    ("and for a missing one", group(pod(0), pod(2), is_ordered=True), (3, 3, [], [])),
    ("its workers stay disabled meanwhile",
     group(pod(0, is_ready=False), pod(1), pod(2, OFF), is_ordered=True, records=(idle(2),)), (3, 3, ["mm-2"], [])),
    ("another pod of a parallel update does not matter",
     group(pod(0, is_ready=False), pod(1), pod(2, OFF), records=(idle(2),)), (2, 3, ["-mm-2"], [])),
    ("nor does a broken one", group(broken(0), pod(1), pod(2, OFF), records=(idle(2),)), (2, 3, ["-mm-2"], [])),
    ("an ordered update replaces one after the other",
     group(*OLD[:2], pod(2, OFF), is_ordered=True, records=(idle(2),)), (2, 3, ["-mm-2"], [])),
    ("the last one of an ordered update is not ready",
     group(*OLD[:2], broken(2), is_ordered=True), (2, 3, ["-mm-2"], [])),
    ("it is being replaced", group(*OLD[:2], new(2, None, is_ready=False), is_ordered=True, records=(released(2),)),
     (2, 3, ["-mm-2"], [])),
    ("the time is over", group(*OLD[:2], pod(2, BUSY_OFF), records=(record(2, 3600),)), (2, 3, ["-mm-2"], [])),
    ("Druid is unreachable", group(*OLD, unreachable="no"), (3, 3, ["mm-2"], [])),
    ("for too long", group(*OLD, unreachable="no", records=(record(2, 3600),)), (2, 3, ["-mm-2"], [])),
    ("unreachable, but no process runs",
     group(*OLD[:2], pod(2, None, is_ready=False, is_running=False), unreachable="no"), (2, 3, ["-mm-2"], [])),
    ("unreachable, and an unready process may have tasks",
     group(*OLD[:2], pod(2, None, is_ready=False), unreachable="no"), (3, 3, ["mm-2"], [])),
    ("an unready process may have had them for long enough",
     group(*OLD[:2], pod(2, None, is_ready=False), unreachable="no", records=(record(2, 3600),)),
     (2, 3, ["-mm-2"], [])),
    ("streams are handed off",
     group(*OLD[:2], pod(2, READING), records=(record(2),)), (3, 3, ["mm-2"], ["handoff pages 1 3"])),
    ("once", group(*OLD[:2], pod(2, READING), records=(record(2, handed_off=ago(59)),)), (3, 3, ["mm-2"], [])),
    ("until they are",
     group(*OLD[:2], pod(2, READING), records=(record(2, handed_off=ago(60)),)),
     (3, 3, ["mm-2"], ["handoff pages 1 3"])),
    ("the worker was enabled meanwhile",
     group(*OLD[:2], pod(2, BUSY), records=(record(2),)), (3, 3, ["mm-2"], ["disable mm-2:8091"])),
    # The change is undone.
    ("undone while it is drained",
     group(new(0), new(1), pod(2, BUSY_OFF, old=False), partition=3, records=(record(2),)),
     (0, 3, ["mm-2"], ["enable mm-2:8091"])),
    ("undone, and enabled", group(new(0), new(1), pod(2, old=False), records=(record(2),)), (0, 3, [], [])),
    ("undone, others had disabled it",
     group(new(0), new(1), pod(2, OFF, old=False), records=(THEIRS,)), (0, 3, [], [])),
    ("undone while Druid is unreachable",
     group(new(0), new(1), pod(2, None, old=False), records=(record(2),), unreachable="no"), (0, 3, ["mm-2"], [])),
    ("undone after it was released",
     group(new(0), new(1), pod(2, OFF, old=False), partition=2, records=(released(2),)),
     (0, 3, ["mm-2"], ["enable mm-2:8091"])),
    ("another change after that",
     group(pod(0), pod(1, OFF), replace(new(2), is_outdated=True), partition=1, records=(released(1),)),
     (3, 3, ["mm-2", "mm-1"], ["disable mm-2:8091", "enable mm-1:8091"])),
    ("another change is about to be written",
     group(*OLD[:2], pod(2, BUSY_OFF), restarts=True, records=(record(2),)), (3, 3, ["mm-2"], [])),
    ("they stay, and another revision waits for its turn",
     group(new(0), new(1), pod(2, OFF, old=False), restarts=True, records=(record(2),)),
     (3, 3, ["mm-2"], ["enable mm-2:8091"])),
    ("draining is not requested any more",
     group(*OLD[:2], pod(2, BUSY_OFF), requests_drain=False, partition=3, records=(record(2),)),
     (0, 3, ["mm-2"], ["enable mm-2:8091"])),
    # Fewer replicas.
    ("those that go are disabled",
     group(new(0), new(1), new(2), desired=1), (0, 3, ["mm-2", "mm-1"], ["disable mm-2:8091", "disable mm-1:8091"])),
    ("one of them has tasks",
     group(new(0), pod(1, BUSY_OFF, old=False), pod(2, OFF, old=False), desired=1, records=(record(2), record(1))),
     (0, 3, ["mm-2", "mm-1"], [])),
    ("none has tasks",
     group(new(0), pod(1, OFF, old=False), pod(2, OFF, old=False), desired=1, records=(idle(2), idle(1))),
     (0, 1, ["-mm-2", "-mm-1"], [])),
    ("they are terminating",
     group(new(0), pod(1, OFF, old=False, is_terminating=True),
           replicas=1, desired=1, records=(released(2), released(1))),
     (0, 1, ["-mm-1"], [])),
    ("more after all",
     group(new(0), pod(1, OFF, old=False), pod(2, OFF, old=False), records=(record(2), record(1))),
     (0, 3, ["mm-2", "mm-1"], ["enable mm-2:8091", "enable mm-1:8091"])),
    ("they do not run", group(new(0), desired=1), (0, 1, [], [])),
    ("outdated ones stay until they go", group(*OLD, desired=2), (3, 3, ["mm-2"], ["disable mm-2:8091"])),
    ("then the others are replaced", group(*OLD[:2], pod(2, OFF), desired=2, records=(idle(2),)),
     (2, 2, ["-mm-2"], [])),
    ("a process that has started again gets no tasks until then",
     group(new(0), new(1), pod(2, old=False), replicas=2, desired=2, records=(released(2),)),
     (0, 2, ["-mm-2"], ["disable mm-2:8091"])),
    ("a new pod that was just replaced", group(new(0), new(1), new(2), desired=2, records=(released(2),)),
     (0, 3, ["mm-2"], ["disable mm-2:8091"])),
    ("more replicas", group(new(0), new(1), new(2), desired=5), (0, 5, [], [])),
    ("fewer, without draining", group(new(0), new(1), new(2), desired=1, requests_drain=False), (0, 1, [], [])),
]  # fmt: skip


@pytest.mark.parametrize(("which", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_decides_what_follows(which: WorkerGroup, expected: tuple[int, int, list[str], list[str]]) -> None:
    assert summary(decided(which)) == expected


# With five pods, of which two may be drained at the same time.
FIVE = (pod(0), pod(1), pod(2))
AT_ONCE: list[tuple[str, WorkerGroup, tuple[int, int, list[str], list[str]]]] = [
    ("two are disabled", group(*FIVE, pod(3), pod(4)),
     (5, 5, ["mm-4", "mm-3"], ["disable mm-4:8091", "disable mm-3:8091"])),
    ("neither is done", group(*FIVE, pod(3, BUSY_OFF), pod(4, BUSY_OFF), records=(record(4), record(3))),
     (5, 5, ["mm-4", "mm-3"], [])),
    ("the lower one is done, and waits", group(*FIVE, pod(3, OFF), pod(4, BUSY_OFF), records=(record(4), idle(3))),
     (5, 5, ["mm-4", "mm-3"], [])),
    ("its time is over, and it waits",
     group(*FIVE, pod(3, BUSY_OFF), pod(4, BUSY_OFF), records=(record(4), record(3, 3600))),
     (5, 5, ["mm-4", "mm-3"], [])),
    ("the last one is done", group(*FIVE, pod(3, BUSY_OFF), pod(4, OFF), records=(idle(4), record(3))),
     (4, 5, ["-mm-4", "mm-3"], [])),
    ("both are done", group(*FIVE, pod(3, OFF), pod(4, OFF), records=(idle(4), idle(3))),
     (4, 5, ["-mm-4", "mm-3"], [])),
    ("the first one is being replaced", group(*FIVE, pod(3, OFF), partition=4, records=(released(4), idle(3))),
     (4, 5, ["-mm-4", "mm-3"], [])),
    ("it is not deleted yet", group(*FIVE, pod(3, OFF), pod(4, OFF), partition=4, records=(released(4), idle(3))),
     (4, 5, ["-mm-4", "mm-3"], [])),
    ("its successor is not enabled",
     group(*FIVE, pod(3, BUSY_OFF), new(4, OFF), partition=4, records=(released(4), record(3))),
     (4, 5, ["-mm-4", "mm-3"], ["enable mm-4:8091"])),
    ("the next ones", group(*FIVE, pod(3, OFF), new(4), partition=4, records=(released(4), idle(3))),
     (3, 5, ["-mm-3", "mm-2"], ["disable mm-2:8091"])),
    ("a pod above them is not ready", group(*FIVE, pod(3), new(4, None, is_ready=False)), (4, 5, [], [])),
    ("fewer replicas go together",
     group(new(0), pod(1, BUSY_OFF, old=False), *(pod(index, OFF, old=False) for index in (2, 3, 4)), desired=1,
           records=(idle(4), idle(3), idle(2), record(1))),
     (0, 5, ["mm-4", "mm-3", "mm-2", "mm-1"], [])),
    ("undone", group(*(new(index) for index in (0, 1, 2)), pod(3, OFF, old=False), pod(4, OFF, old=False),
                     records=(record(4), record(3))),
     (0, 5, ["mm-4", "mm-3"], ["enable mm-4:8091", "enable mm-3:8091"])),
]  # fmt: skip


@pytest.mark.parametrize("limit", [2, "40%", "59%"])
@pytest.mark.parametrize(("which", "expected"), [row[1:] for row in AT_ONCE], ids=[row[0] for row in AT_ONCE])
def test_drains_several_at_the_same_time(
    which: WorkerGroup, expected: tuple[int, int, list[str], list[str]], limit: int | str
) -> None:
    which = replace(which, replicas=5, desired=5 if which.desired == 3 else which.desired)
    assert summary(drain(which, LIMITS._replace(max_unavailable=limit), NOW)) == expected


def test_a_worker_that_waits_is_no_warning() -> None:
    which = group(*OLD[:1], pod(1, BUSY_OFF), pod(2, BUSY_OFF), records=(record(2), record(1, 3600)))
    found = drain(which, LIMITS._replace(max_unavailable=2), NOW)
    assert (found.warnings, found.awaited[1]) == ((), "pod mm-1 is drained, and waits for others")


@pytest.mark.parametrize(
    ("limit", "pods", "expected"),
    [(1, 9, 1), (4, 3, 4), ("1%", 9, 1), ("25%", 4, 1), ("25%", 7, 1), ("25%", 8, 2), ("100%", 3, 3), ("100%", 0, 1)],
)
def test_a_percentage_is_rounded_down_to_at_least_one(limit: int | str, pods: int, expected: int) -> None:
    assert Limits(max_unavailable=limit).at_once(pods) == expected


@pytest.mark.parametrize(("worker", "is_ours"), [(BUSY, True), (BUSY_OFF, False), (None, False)])
def test_a_worker_is_ours_if_it_was_enabled_before(worker: Worker | None, is_ours: bool) -> None:
    assert [each.is_ours for each in decided(group(*OLD[:2], pod(2, worker))).records] == [is_ours]


def test_a_worker_that_was_started_again_is_ours() -> None:
    restarted = replace(pod(2, BUSY), uid="other")
    found = decided(group(*OLD[:2], restarted, records=(THEIRS,)))
    assert [(each.uid, each.is_ours) for each in found.records] == [("other", True)]


def test_the_first_reading_without_a_task_is_recorded_until_a_task_appears() -> None:
    first = decided(group(*OLD[:2], pod(2, OFF), records=(record(2),)))
    assert [each.idle for each in first.records] == [ago(0)]
    for worker in (BUSY_OFF, IDLE):
        found = decided(group(*OLD[:2], pod(2, worker), records=first.records))
        assert [each.idle for each in found.records] == [""]


def test_the_first_reading_without_a_worker_is_recorded_until_there_is_one() -> None:
    first = decided(group(*OLD[:2], pod(2, None, is_ready=False), records=(idle(2),)))
    assert [(each.lost, each.idle) for each in first.records] == [(ago(0), "")]
    for back in (pod(2, OFF), pod(2, BUSY_OFF), pod(2, IDLE), pod(2, None)):
        assert [each.lost for each in decided(group(*OLD[:2], back, records=first.records)).records] == [""]


def test_a_worker_that_is_released_with_tasks_is_a_warning() -> None:
    found = decided(group(*OLD[:2], pod(2, BUSY_OFF), records=(record(2, 3600),)))
    assert found.warnings == ("pod mm-2 was released after 3600 s although t1 still runs on pod mm-2",)


@pytest.mark.parametrize("pods", [(), (new(2, None, is_ready=False),), (new(2, None),)])
def test_a_new_pod_that_is_not_there_in_time_blocks(pods: tuple[WorkerPod, ...]) -> None:
    found = decided(group(*OLD[:2], *pods, partition=2, records=(released(2, 1800),)))
    assert summary(found) == (2, 3, ["-mm-2"], [])
    assert found.problem.endswith("1800 s after its predecessor was drained.")


def test_goes_on_when_druid_is_unreachable_for_too_long_after_a_replacement() -> None:
    found = decided(group(*OLD[:2], new(2, None), partition=2, unreachable="no", records=(released(2, 1800),)))
    assert summary(found) == (2, 3, ["mm-1"], [])
    assert [text.partition(" (")[0] for text in found.warnings] == [
        "whether the worker of pod mm-2 is enabled is not known"
    ]


def test_reports_what_it_waits_for() -> None:
    found = decided(group(*OLD[:2], pod(2, BUSY_OFF), records=(record(2),)))
    assert found.awaited == ("t1 still runs on pod mm-2",)
