# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A StatefulSet is recreated while a foreign autoscaler scales it: its pods and their PVCs stay."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, Cluster, Group, workload_name
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Action,
    Controllers,
    Converge,
    Create,
    Edit,
    ForeignAutoscaler,
    Load,
    Meanwhile,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By, Fault, Subject

GROUP = "brokers"
# Those around the recreation.
_REQUESTS = range(11, 21)
FAULTS: tuple[Fault, ...] = ("killed before", "killed after", "500")


def scaled(replicas: int | None, by: By) -> Observer:
    """Return a cluster whose group a foreign autoscaler has scaled to 4, and has another podManagementPolicy then."""
    observer = Observer(by)
    for action in (
        Create(Cluster({GROUP: Group(replicas=replicas, when_scaled="Delete")})),
        Converge(),
        ForeignAutoscaler(GROUP, (1, 6)),
        Load(GROUP, 4),
        Converge(),
        Edit("management", "OrderedReady", GROUP),
    ):
        observer.act(action)
    assert size(observer.subject) == 4
    return observer


def size(subject: Subject) -> int | None:
    live = subject.world.store.get("StatefulSet", NAMESPACE, workload_name(GROUP))
    return None if live is None else live["spec"]["replicas"]


def uids(subject: Subject) -> set[str]:
    """Return the uids of the pods and of their PVCs."""
    return {each["metadata"]["uid"] for each in subject.world.store.of_kind("Pod", "PersistentVolumeClaim")}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("replicas", [None, 2])
def test_an_interrupted_recreation_keeps_the_number_of_pods(replicas: int | None, fault: Fault) -> None:
    changed = scaled(replicas, "operator")
    before = uids(changed.subject)
    for number in _REQUESTS:
        observer = deepcopy(changed)
        for action in (Run("operator", (number, fault)), Controllers(3), Run(), Controllers(20), Run()):
            observer.act(action)
            assert size(observer.subject) in (4, None)
        assert uids(observer.subject) == before


@dataclass(frozen=True)
class Raised:
    """The autoscaler sets another number; takes note of what there is then."""

    found: list[set[str]] = field(default_factory=list)

    def act(self, subject: Subject) -> None:
        subject.world.load[workload_name(GROUP)] = 5
        Controllers(3).act(subject)
        self.found.append(uids(subject))


@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_a_number_that_an_autoscaler_sets_during_the_recreation_is_kept(by: By) -> None:
    changed = scaled(2, by)
    for number in _REQUESTS:
        observer, raised = deepcopy(changed), Raised()
        for action in (Meanwhile(number, raised, by), Controllers(20), Run(by), Controllers(20), Run(by)):
            observer.act(action)
        for found in raised.found:
            assert uids(observer.subject) >= found
            assert size(observer.subject) == 5


RECREATION, DELETION = Edit("management", "Parallel", GROUP), ForeignAutoscaler(GROUP, None)


@pytest.mark.parametrize(
    "events",
    [(DELETION, RECREATION), (RECREATION, DELETION), (DELETION, RECREATION, Edit("management", "OrderedReady", GROUP))],
    ids=["deleted first", "recreated first", "recreated twice"],
)
@pytest.mark.parametrize("by", ["operator", "playbook"])
def test_the_number_of_a_deleted_autoscaler_is_kept(events: tuple[Action, ...], by: By) -> None:
    observer = scaled(2, by)
    observer.act(Converge())
    before = uids(observer.subject)
    for event in events:
        for action in (event, Run(by), Controllers(20), Run(by), Controllers(20), Run(by)):
            observer.act(action)
        assert (size(observer.subject), uids(observer.subject)) == (4, before)
