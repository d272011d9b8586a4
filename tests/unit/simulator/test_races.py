# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Races of a reconcile with controllers or another reconcile: no PVC is lost, whatever comes between two requests.

Each needs one rule of the decision or of the writes; without that rule, PVCs are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decision
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import workloads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.tests.simulator.specification import (
    NAMESPACE,
    NEW_IMAGE,
    Cluster,
    Group,
    workload_name,
)
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Action,
    Controllers,
    Converge,
    Create,
    Delete,
    Edit,
    ForeignAutoscaler,
    Load,
    Meanwhile,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

GROUP = "brokers"
# Those around the writes of a reconcile of one group; before them it only reads.
_WRITES = range(9, 18)
_ALL = range(18)


@dataclass(frozen=True)
class Several:
    """Several actions as one."""

    actions: tuple[Action, ...]

    def act(self, subject: Subject) -> None:
        for action in self.actions:
            action.act(subject)


class Race(NamedTuple):
    """A cluster that converges after `before`, then `edit`, and a reconcile in which `meanwhile` happens, and `after`.

    `rule`: the function or property whose result is false when the rule is removed, and what has it.
    """

    rule: tuple[str, tuple[Any, ...]]
    cluster: Cluster
    before: tuple[Action, ...]
    edit: tuple[Action, ...]
    meanwhile: Action
    after: tuple[Action, ...] = ()
    requests: range = _WRITES


def group(**fields: Any) -> Cluster:
    return Cluster({GROUP: Group(when_scaled="Delete", **fields)})


def stopped(value: bool) -> Edit:
    return Edit("stopped", value, GROUP)


RACES: dict[str, Race] = {
    "resumed with fewer pods, while those of before are still there": Race(
        ("_is_resuming", (workloads,)),
        group(replicas=1, autoscaler=(1, 5)),
        (Load(GROUP, 4),),
        (stopped(True), Run(), Edit("autoscaler", (1, 1), GROUP), stopped(False)),
        Controllers(3),
    ),
    "an autoscaler that is removed sets its maximum once more": Race(
        ("_comes_first", (decision,)),
        Cluster({GROUP: Group(replicas=5)}),
        (
            Edit("autoscaler", (1, 3), GROUP),
            Converge(),
            Edit("when_scaled", "Delete", GROUP),
        ),
        (Edit("autoscaler", None, GROUP),),
        Controllers(4),
    ),
    "stopped by another reconcile, while whenScaled is set to Delete again": Race(
        ("_needs_same_version", (Apply,)),
        group(replicas=1, autoscaler=(3, 5)),
        (),
        (stopped(True), Run(), Controllers(20), stopped(False), Run(), Controllers(20)),
        Several((stopped(True), Run("playbook"))),
    ),
    "an external autoscaler scales for the first time, to pods that have PVCs": Race(
        ("_sets_replicas", (Apply,)),
        Cluster({GROUP: Group(replicas=4)}),
        (Edit("replicas", 2, GROUP), Converge(), Edit("when_scaled", "Delete", GROUP)),
        (Edit("image", NEW_IMAGE),),
        Several((ForeignAutoscaler(GROUP, (1, 6)), Load(GROUP, 4), Controllers(8))),
        requests=_ALL,
    ),
    "a playbook raises the replicas": Race(
        ("_sets_replicas", (Apply,)),
        Cluster({GROUP: Group(replicas=3)}),
        (Edit("replicas", 1, GROUP), Converge(), Edit("when_scaled", "Delete", GROUP)),
        (Edit("image", NEW_IMAGE),),
        Several((Edit("replicas", 3, GROUP), Run("playbook"), Controllers(10))),
        requests=_ALL,
    ),
    "the resource is deleted with --cascade=orphan": Race(
        ("_gets_owner", (Apply,)),
        Cluster({GROUP: Group(replicas=2)}),
        (),
        (),
        Several((Delete("Orphan"), Controllers(2))),
        (Run(), Controllers(20), Run(), Controllers(20)),
        _ALL,
    ),
}


def lost(race: Race) -> Iterator[set[str]]:
    """Yield the PVCs that are lost, for each request before which something happens."""
    converged = Observer()
    for action in (Create(race.cluster), Converge(), *race.before, Converge()):
        converged.act(action)
    for number in race.requests:
        observer = deepcopy(converged)
        before = observer.claims().items()
        for action in (*race.edit, Meanwhile(number, race.meanwhile), Controllers(20), *race.after):
            action.act(observer.subject)
        yield {name for name, _uid in before - observer.claims().items()}


def _no(*_arguments: Any) -> bool:
    return False


@pytest.mark.parametrize("race", RACES)
def test_no_pvc_is_lost(race: str) -> None:
    assert set().union(*lost(RACES[race])) == set()


@pytest.mark.parametrize("race", RACES)
def test_pvcs_are_lost_without_the_rule(race: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, places = RACES[race].rule
    for place in places:
        monkeypatch.setattr(place, name, property(_no) if isinstance(place, type) else _no)
    assert any(lost(RACES[race]))


def test_a_workload_stays_when_the_changed_resource_is_deleted_with_orphans() -> None:
    converged = Observer()
    for action in (Create(Cluster({GROUP: Group(replicas=2)})), Converge(), Edit("image", NEW_IMAGE)):
        converged.act(action)
    for number in _ALL:
        subject = deepcopy(converged.subject)
        Meanwhile(number, Several((Delete("Orphan"), Controllers(2)))).act(subject)
        for action in (Controllers(20), Run(), Controllers(20)):
            action.act(subject)
        if subject.live is None:
            assert subject.world.store.get("StatefulSet", NAMESPACE, workload_name(GROUP)), number
