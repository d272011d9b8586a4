# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A deletion names each PVC that goes, and loses none that stays, although a user has removed the labels of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.deletion import delete_without_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.simulator.specification import NAME, NAMESPACE, Cluster, Group, resource
from ansible_collections.druidops.druid.tests.simulator.world import World

CLAIM = "PersistentVolumeClaim"
# The historicals retain their PVCs; without labels, nothing shows whose they are.
CLUSTER = Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()})
OWNED = {"data-druid-c-brokers-0", "data-druid-c-brokers-1"}
OTHERS = {"data-druid-c-historicals-0", "data-druid-c-historicals-1"}
STOPPED = replace(CLUSTER, stopped=True)


class Way(Protocol):
    """A way to create, change and delete a cluster."""

    def specify(self, world: World, cluster: Cluster) -> None:
        """Create or change the cluster."""

    def delete(self, world: World, cluster: Cluster, check_mode: bool) -> Outcome[Plan]:
        """Delete the cluster, or plan that."""


@dataclass(frozen=True)
class ByVariables:
    """A cluster without a resource."""

    has_spec: bool = True

    def specify(self, world: World, cluster: Cluster) -> None:
        DRUID.reconcile(world.api(), resource(cluster), Options(), world.clock.now())
        world.settle()

    def delete(self, world: World, cluster: Cluster, check_mode: bool) -> Outcome[Plan]:
        spec = cluster.spec() if self.has_spec else None
        request = Request(NAME, NAMESPACE, Options(check_mode=check_mode), absent=True, spec=spec, wait=True)
        return delete_without_resource(world.api(), request, silent, clock_of(world))


@dataclass(frozen=True)
class ByResource:
    """A cluster with a resource, with or without our finalizer."""

    has_finalizer: bool = True

    def specify(self, world: World, cluster: Cluster) -> None:
        stored, live = resource(cluster), world.store.get(names.KIND, NAMESPACE, NAME)
        live = world.store.create(stored) if live is None else world.store.update({**live, "spec": stored["spec"]})
        DRUID.reconcile(world.api(), live, Options(), world.clock.now())
        if not self.has_finalizer:
            live = world.store.get(names.KIND, NAMESPACE, NAME)
            assert live is not None
            world.store.update_metadata(live, finalizers=[])
        world.settle()

    def delete(self, world: World, cluster: Cluster, check_mode: bool) -> Outcome[Plan]:
        request = Request(NAME, NAMESPACE, Options(check_mode=check_mode), absent=True, wait=True)
        return DRUID.delete_resource(world.api(), request, silent, clock_of(world))


def silent(line: str) -> None:
    """Show no progress."""


def clock_of(world: World) -> Clock:
    return Clock(sleep=world.sleep, now=world.clock.now)


def without_labels(way: Way, *specified: Cluster) -> World:
    """Return a world with a cluster that has been specified so, and whose PVCs have no labels."""
    world = World()
    for cluster in specified:
        way.specify(world, cluster)
    for claim in world.store.of_kind(CLAIM):
        world.store.update_metadata(claim, labels={})
    world.settle()
    return world


def claims(world: World) -> set[str]:
    return {live["metadata"]["name"] for live in world.store.of_kind(CLAIM)}


def named(outcome: Outcome[Plan]) -> set[str]:
    steps = outcome.plan.steps
    return {step.key.name for step in steps if step.key.kind == CLAIM and step.operation.verb == "delete"}


WAYS: list[Way] = [ByVariables(), ByResource(), ByResource(has_finalizer=False)]


@pytest.mark.parametrize("specified", [(CLUSTER,), (CLUSTER, STOPPED)], ids=["running", "stopped"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_pvcs_that_go_are_named(way: Way, specified: tuple[Cluster, ...]) -> None:
    world = without_labels(way, *specified)
    planned = way.delete(world, specified[-1], check_mode=True)
    assert claims(world) == OWNED | OTHERS
    done = way.delete(world, specified[-1], check_mode=False)
    world.settle()
    assert claims(world) == OTHERS
    assert named(planned) == named(done) == OWNED
    assert planned.plan.is_destructive


@pytest.mark.parametrize("specified", [(CLUSTER,), (CLUSTER, STOPPED)], ids=["running", "stopped"])
@pytest.mark.parametrize("way", [*WAYS, ByVariables(has_spec=False)], ids=str)
def test_pvcs_that_stay_are_not_lost(way: Way, specified: tuple[Cluster, ...]) -> None:
    """They are owned until the deletion, which comes before a reconcile of the flag."""
    world = without_labels(way, *specified)
    keeping = replace(specified[-1], keeps_pvcs=True)
    live = world.store.get(names.KIND, NAMESPACE, NAME)
    if live is not None:
        world.store.update({**live, "spec": keeping.spec()})
    for check_mode in (True, False):
        assert named(way.delete(world, keeping, check_mode)) == set()
    world.settle()
    assert claims(world) == OWNED | OTHERS


def test_a_pvc_that_another_pod_mounts_stays() -> None:
    world = without_labels(ByVariables(), CLUSTER)
    name = "data-druid-c-brokers-0"
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    metadata = {"name": "backup", "namespace": NAMESPACE}
    spec = {"containers": [{"image": "backup"}], "volumes": [volume]}
    world.store.create({"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}})
    for check_mode in (True, False):
        outcome = ByVariables().delete(world, CLUSTER, check_mode)
        assert named(outcome) == OWNED - {name}
        warning = f"PVC {name} is retained: pod backup mounts it and does not belong to this cluster."
        assert warning in outcome.warnings
    world.settle()
    assert claims(world) == OTHERS | {name}
