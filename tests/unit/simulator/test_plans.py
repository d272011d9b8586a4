# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan names each PVC that will be deleted because of it, by any controller."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Action, Create, Delete, Edit, Rename
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import CLAIM, Observer, planned_deletions

DELETES = Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()})


def converged(cluster: Cluster) -> Observer:
    """Create a cluster."""
    observer = Observer("playbook")
    observer.act(Create(cluster))
    observer.converge()
    return observer


def deleted_as_planned(observer: Observer, action: Action) -> set[str]:
    """Return the PVCs that the action deletes; the plan names exactly these."""
    before = observer.claims()
    observer.act(action)
    planned = observer.subject.run("playbook", check_mode=True)
    assert planned is not None
    observer.converge()
    deleted = before.keys() - observer.claims().keys()
    assert planned_deletions(planned, before) == deleted
    assert planned.plan.is_destructive == bool(deleted)
    return deleted


@pytest.mark.parametrize(
    "action",
    [Rename("brokers"), Rename("brokers", "brokers-hot"), Delete(), Edit("keeps_pvcs", True), Edit("stopped", True)],
    ids=str,
)
def test_plan_names_the_pvcs_that_go(action: Action) -> None:
    observer = converged(DELETES)
    deleted_as_planned(observer, action)


SCALED = Cluster({"brokers": Group(when_scaled="Delete", replicas=3), "historicals": Group()})
AUTOSCALED = Cluster({"brokers": Group(when_scaled="Delete", autoscaler=(3, 5), replicas=1), "historicals": Group()})
RETAINED = Cluster({"brokers": Group(replicas=3), "historicals": Group()})


@pytest.mark.parametrize(
    ("cluster", "action", "number"),
    [
        (SCALED, Edit("replicas", 1, "brokers"), 2),
        (SCALED, Edit("replicas", 4, "brokers"), 0),
        (SCALED, Edit("stopped", True, "brokers"), 0),
        (RETAINED, Edit("replicas", 1, "brokers"), 0),
        (AUTOSCALED, Edit("autoscaler", None, "brokers"), 2),
        (AUTOSCALED, Edit("autoscaler", (1, 2), "brokers"), 1),
        (AUTOSCALED, Edit("autoscaler", (2, 4), "brokers"), 0),
    ],
    ids=str,
)
def test_plan_names_the_pvcs_that_go_with_pods(cluster: Cluster, action: Action, number: int) -> None:
    observer = converged(cluster)
    assert len(deleted_as_planned(observer, action)) == number


@pytest.mark.parametrize(
    ("cluster", "action", "number"),
    [
        (SCALED, Edit("replicas", 1, "brokers"), 2),
        (AUTOSCALED, Edit("autoscaler", (1, 2), "brokers"), 1),
        (DELETES, Rename("brokers"), 2),
        (RETAINED, Rename("brokers", "brokers-hot"), 0),
    ],
    ids=str,
)
def test_plan_names_the_pvcs_without_labels_that_go(cluster: Cluster, action: Action, number: int) -> None:
    observer = converged(cluster)
    store = observer.subject.world.store
    for claim in store.of_kind(CLAIM):
        store.update({**claim, "metadata": {**claim["metadata"], "labels": {}}})
    assert len(deleted_as_planned(observer, action)) == number


def test_plan_names_the_service_that_pods_still_need() -> None:
    observer = converged(Cluster())
    observer.act(Edit("service", "%s-b", "brokers"))
    text = "Service druid-c-brokers was removed from the spec, but is retained until no pod of group brokers"
    for check_mode in (True, False, True):
        report = observer.subject.run("playbook", check_mode=check_mode)
        assert report is not None
        assert [warning for warning in report.warnings if warning.startswith(text)] != []
    observer.act(Edit("image", NEW_IMAGE))
    observer.converge()
    report = observer.subject.run("playbook", check_mode=True)
    assert report is not None
    assert report.warnings == ()
