# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned PVCs are deleted after a mark, wherever the operator is interrupted, and never if they are used again."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import count

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Action,
    Controllers,
    Converge,
    Create,
    Delete,
    Edit,
    Event,
    ForeignAutoscaler,
    Load,
    Meanwhile,
    Outdated,
    Rename,
    Run,
    Specify,
    Unmark,
    Wait,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

THREE = Group(replicas=3, when_scaled="", when_deleted="")
CLUSTER = Cluster({"brokers": THREE, "historicals": THREE}, deletes_orphans=True)
DOWN, UP, REMOVE = Edit("replicas", 1, "brokers"), Edit("replicas", 3, "brokers"), Rename("brokers")
FOREIGN = ForeignAutoscaler("brokers", (1, 3))
MARKED = (Run(), Controllers(5), Run())


def one(**fields: object) -> Cluster:
    return replace(CLUSTER, groups={**CLUSTER.groups, "brokers": replace(THREE, **fields)})


# The cluster, the history, and the ordinals of the PVCs of brokers that are left.
HISTORIES: dict[str, tuple[Cluster, list[Event], list[int]]] = {
    "scaled down": (CLUSTER, [DOWN], [0]),
    "removed": (CLUSTER, [REMOVE], []),
    "scaled down and up": (CLUSTER, [DOWN, *MARKED, Wait(59), UP], [0, 1, 2]),
    "scaled up when the grace period is over": (CLUSTER, [DOWN, *MARKED, Wait(61), UP], [0, 1, 2]),
    "removed and added again": (CLUSTER, [REMOVE, *MARKED, Wait(61), Specify(CLUSTER)], [0, 1, 2]),
    "renamed": (CLUSTER, [Rename("brokers", "routers")], []),
    "unmarked": (CLUSTER, [DOWN, *MARKED, Unmark("brokers"), Wait(600), Run(), Wait(600)], [0, 1, 2]),
    "unmarked, removed": (CLUSTER, [DOWN, *MARKED, Unmark("brokers"), Converge(), REMOVE], [1, 2]),
    "stopped": (CLUSTER, [Edit("stopped", True, "brokers")], [0, 1, 2]),
    "scaled down, then stopped": (CLUSTER, [DOWN, *MARKED, Edit("stopped", True, "brokers"), Wait(90)], [0, 1, 2]),
    "the cluster is stopped": (CLUSTER, [DOWN, *MARKED, Edit("stopped", True), Wait(90)], [0, 1, 2]),
    "stopped, then removed": (CLUSTER, [Edit("stopped", True, "brokers"), Converge(), REMOVE], [0, 1, 2]),
    "no replicas": (CLUSTER, [Edit("replicas", 0, "brokers")], [0, 1, 2]),
    "another kind": (CLUSTER, [Edit("kind", "Deployment", "brokers")], [0, 1, 2]),
    "switched off": (CLUSTER, [DOWN, *MARKED, Edit("deletes_orphans", False), Wait(90)], [0, 1, 2]),
    "an autoscaler": (CLUSTER, [ForeignAutoscaler("brokers", (1, 2)), DOWN], [0, 1]),
    "an autoscaler that has scaled goes": (
        one(replicas=None),
        [FOREIGN, Load("brokers", 3), Converge(), Load("brokers", 1), Converge(), ForeignAutoscaler("brokers", None)],
        [0, 1, 2],
    ),
    "an autoscaler that has scaled goes, then scaled by the spec": (
        one(replicas=None),
        [
            *(FOREIGN, Load("brokers", 3), Converge(), Load("brokers", 1), Converge()),
            *(ForeignAutoscaler("brokers", None), Converge(), Edit("replicas", 2, "brokers")),
        ],
        [0, 1],
    ),
    "an autoscaler that has not scaled goes": (
        CLUSTER,
        [FOREIGN, DOWN, Converge(), ForeignAutoscaler("brokers", None)],
        [0],
    ),
    "whenScaled Retain": (one(when_scaled="Retain"), [DOWN], [0, 1, 2]),
    "whenScaled Retain, removed": (one(when_scaled="Retain"), [DOWN, Converge(), REMOVE], [0, 1, 2]),
    "whenDeleted Retain": (one(when_deleted="Retain"), [DOWN], [0]),
    "whenDeleted Retain, removed": (one(when_deleted="Retain"), [REMOVE], [0, 1, 2]),
    "a slow reconcile of an earlier number": (
        CLUSTER,
        [DOWN, Converge(), UP, Converge(), Outdated(1), Wait(90), Outdated(1)],
        [0, 1, 2],
    ),
    "another resource, with fewer pods and groups": (
        replace(CLUSTER, keeps_pvcs=True),
        [Delete(), Converge(), Wait(1), Create(Cluster({"historicals": THREE}, deletes_orphans=True))],
        [0, 1, 2],
    ),
}  # fmt: skip


def ordinals(subject: Subject, group: str = "brokers") -> list[int]:
    found = (each["metadata"]["name"] for each in subject.world.store.of_kind("PersistentVolumeClaim"))
    return sorted(int(name.rpartition("-")[2]) for name in found if name.startswith(f"data-druid-c-{group}-"))


@pytest.mark.parametrize(("cluster", "history", "left"), HISTORIES.values(), ids=HISTORIES)
def test_what_is_left(cluster: Cluster, history: list[Event], left: list[int]) -> None:
    observer = Observer()
    observer.act(Create(cluster))
    observer.converge()
    observer.play(history)
    assert ordinals(observer.subject) == left


PAUSE = Edit("paused", True)
# What a user may do to keep PVCs whose grace period is over.
CHANGES: dict[str, Action] = {
    "scaled up": UP,
    "stopped": Edit("stopped", True, "brokers"),
    "paused": PAUSE,
    "switched off": Edit("deletes_orphans", False),
    "whenScaled Retain": Edit("when_scaled", "Retain", "brokers"),
}


@pytest.fixture(scope="module")
def due() -> Observer:
    """Return a cluster with two orphaned PVCs that the next reconcile deletes."""
    observer = Observer()
    for action in (Create(CLUSTER), Converge(), DOWN, *MARKED, Wait(61)):
        observer.act(action)
    return observer


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_between_two_requests(due: Observer, change: Action) -> None:
    lost = []
    for number in count():
        observer = deepcopy(due)
        before, specified = observer.claims(), observer.subject.cluster
        observer.act(Meanwhile(number, change))
        if observer.subject.cluster == specified:
            break
        # Another one of the same name is empty.
        missing = {name for name, uid in before.items() if observer.claims().get(name) != uid}
        assert missing <= observer.subject.deleted_before
        lost.append(len(missing))
        # It removes the pause before it reconciles.
        if change == PAUSE:
            observer.act(Run("operator"))
        else:
            observer.converge()
        missing_later = {name for name, uid in before.items() if observer.claims().get(name) != uid}
        assert missing_later == missing
    # Before the first deletion, between the two, and after both.
    assert sorted({*lost}) == [0, 1, 2]


@pytest.mark.parametrize("request_number", range(0, 40, 7))
@pytest.mark.parametrize("fault", ["killed after", "500"])
def test_an_interrupted_deletion_is_finished(request_number: int, fault: str) -> None:
    observer = Observer()
    for action in (Create(CLUSTER), Converge(), DOWN, *MARKED, Wait(61)):
        observer.act(action)
    observer.act(Run("operator", (request_number, fault)))  # type: ignore[arg-type]
    observer.converge()
    assert ordinals(observer.subject) == [0]
