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
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import act, write
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import retention_policy
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Action,
    Controllers,
    Converge,
    Create,
    Edit,
    Load,
    Meanwhile,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

# Those around the writes of a reconcile of one group; before them it only reads.
_REQUESTS = range(9, 18)


@dataclass(frozen=True)
class Several:
    """Several actions as one."""

    actions: tuple[Action, ...]

    def act(self, subject: Subject) -> None:
        for action in self.actions:
            action.act(subject)


class Race(NamedTuple):
    """A cluster that converges after `before`, then `edit`, and a reconcile in which `meanwhile` happens.

    `rule`: the function whose result is false when the rule is removed, and the modules that use it.
    """

    rule: tuple[str, tuple[Any, ...]]
    cluster: Cluster
    before: tuple[Action, ...]
    edit: tuple[Action, ...]
    meanwhile: Action


def group(**fields: Any) -> Cluster:
    return Cluster({"brokers": Group(when_scaled="Delete", **fields)})


def stopped(value: bool) -> Edit:
    return Edit("stopped", value, "brokers")


RACES: dict[str, Race] = {
    "resumed with fewer pods, while those of before are still there": Race(
        ("_is_resuming", (retention_policy,)),
        group(replicas=1, autoscaler=(1, 5)),
        (Load("brokers", 4),),
        (stopped(True), Run(), stopped(False)),
        Controllers(3),
    ),
    "an autoscaler that is removed sets its maximum once more": Race(
        ("_comes_first", (order,)),
        Cluster({"brokers": Group(replicas=5)}),
        (
            Edit("autoscaler", (1, 3), "brokers"),
            Converge(),
            Edit("when_scaled", "Delete", "brokers"),
        ),
        (Edit("autoscaler", None, "brokers"),),
        Controllers(4),
    ),
    "stopped by another reconcile, while whenScaled is set to Delete again": Race(
        ("needs_same_version", (write, act)),
        group(replicas=1, autoscaler=(3, 5)),
        (),
        (stopped(True), Run(), Controllers(20), stopped(False), Run(), Controllers(20)),
        Several((stopped(True), Run("playbook"))),
    ),
}


def lost(race: Race) -> Iterator[set[str]]:
    """Yield the PVCs that are lost, for each request before which something happens."""
    converged = Observer()
    for action in (Create(race.cluster), Converge(), *race.before, Converge()):
        converged.act(action)
    for number in _REQUESTS:
        observer = deepcopy(converged)
        before = observer.claims().items()
        for action in (*race.edit, Meanwhile(number, race.meanwhile), Controllers(20)):
            action.act(observer.subject)
        yield {name for name, _uid in before - observer.claims().items()}


@pytest.mark.parametrize("race", RACES)
def test_no_pvc_is_lost(race: str) -> None:
    assert set().union(*lost(RACES[race])) == set()


@pytest.mark.parametrize("race", RACES)
def test_pvcs_are_lost_without_the_rule(race: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, modules = RACES[race].rule
    for module in modules:
        monkeypatch.setattr(module, function, lambda *_arguments: False)
    assert any(lost(RACES[race]))
