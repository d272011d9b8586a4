# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories, in which each PVC that is deleted, also by a controller, was named by a plan."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Action, Create, Edit, Run
from ansible_collections.druidops.druid.tests.unit.simulator.histories import (
    CLUSTERS_WITHOUT_AUTOSCALERS,
    histories_without_autoscalers,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer, planned_deletions
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Fault
from ansible_collections.druidops.druid.tests.unit.simulator.test_histories import EXAMPLES
from hypothesis import example, given


class Reader:
    """A user who reads the plan before each reconcile; `named` are the PVCs that the plans delete."""

    def __init__(self, cluster: Cluster) -> None:
        self.observer = Observer("operator")
        self.observer.act(Create(cluster))
        self.observer.converge()
        self.known = self.observer.claims()
        self.named: set[str] = set()

    def act(self, action: Action) -> None:
        if isinstance(action, Run):
            self.reconcile(action.fault)
        else:
            action.act(self.observer.subject)
        self.check()

    def reconcile(self, fault: tuple[int, Fault] | None = None) -> None:
        subject = self.observer.subject
        plan = subject.run("playbook", check_mode=True)
        if plan is not None:
            self.named |= planned_deletions(plan, {*self.known, *self.observer.claims()})
        subject.run("operator", fault)

    def check(self) -> None:
        """Compare the deleted PVCs with those of the plans."""
        now = self.observer.claims()
        deleted = {name for name, uid in self.known.items() if now.get(name) != uid}
        assert deleted <= self.named, deleted - self.named
        self.named -= deleted
        self.known = now


@EXAMPLES
@example(Cluster({"brokers": Group(replicas=3, when_scaled="Delete")}), [Edit("replicas", 1, "brokers")])
@example(Cluster({"brokers": Group(has_standalone_claim=True)}), [Edit("has_standalone_claim", False, "brokers")])
@given(CLUSTERS_WITHOUT_AUTOSCALERS, histories_without_autoscalers())
def test_each_deleted_pvc_was_named(cluster: Cluster, history: list[Action]) -> None:
    reader = Reader(cluster)
    for action in history:
        reader.act(action)
    for _number in range(5):
        reader.reconcile()
        reader.observer.subject.world.settle()
        reader.check()
