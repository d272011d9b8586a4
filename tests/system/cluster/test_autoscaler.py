# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An autoscaler is added, scales and is removed; the replicas are always those of the autoscaler or the resource."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, STATELESS, autoscaler
from ansible_collections.druidops.druid.tests.system.support.go_operator import GoOperator, identities, take_over
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient

KINDS = {"StatefulSet": (STATEFUL, "historicals"), "Deployment": (STATELESS, "brokers")}
ALL_KINDS = pytest.mark.parametrize("kind", only_first(1, KINDS, "the same for the other kind of workload"))


def group(kind: str, **more: Any) -> dict[str, Any]:
    """Return the nodes of a cluster with one group, of that kind."""
    _name, key = KINDS[kind]
    make = full_cluster.historicals if kind == "StatefulSet" else full_cluster.brokers
    return {key: make(**{"hpAutoscaler": None, **more})}


def settled(live: NamespaceClient) -> None:
    """One reconcile, and another that has nothing to do."""
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()


def state(live: NamespaceClient, kind: str) -> tuple[int, int]:
    """Return the replicas, and the generation: it counts every change of a workload's specification."""
    workload = live.get(kind, KINDS[kind][0])
    return workload["spec"]["replicas"], workload["metadata"]["generation"]


def owners(live: NamespaceClient, kind: str) -> set[str]:
    """Return the managers that own the replicas."""
    entries = live.get(kind, KINDS[kind][0])["metadata"]["managedFields"]
    return {entry["manager"] for entry in entries if "f:replicas" in entry["fieldsV1"].get("f:spec", {})}


def change(live: NamespaceClient, kind: str, **node: Any) -> None:
    """Change the group in the resource."""
    live.merge("Druid", NAME, {"spec": {"nodes": {KINDS[kind][1]: node}}})


def scale(live: NamespaceClient, kind: str, replicas: int) -> None:
    """Scale the workload as an autoscaler and kubectl scale do."""
    live.scale(kind, KINDS[kind][0], replicas)


def by_hand(live: NamespaceClient, kind: str, name: str, smallest: int = 1) -> None:
    """Create an autoscaler as a user does, not as part of the resource."""
    spec = autoscaler(kind, name, smallest)
    live.create({"kind": "HorizontalPodAutoscaler", "metadata": {"name": f"by-hand-{kind.lower()}"}, "spec": spec})


@ALL_KINDS
def test_added_to_a_running_group_without_another_change(live: NamespaceClient, kind: str) -> None:
    full_cluster.create(live, **group(kind, replicas=5))
    settled(live)
    replicas, generation = state(live, kind)
    assert replicas == 5
    change(live, kind, hpAutoscaler=autoscaler(kind, KINDS[kind][0]))
    settled(live)
    # No generation, no moment with other replicas.
    assert state(live, kind) == (5, generation)
    assert "druidops" not in owners(live, kind)
    assert live.names("HorizontalPodAutoscaler") == {KINDS[kind][0]}


@ALL_KINDS
def test_added_with_another_change_in_one_write(live: NamespaceClient, kind: str) -> None:
    full_cluster.create(live, **group(kind, replicas=5))
    settled(live)
    _replicas, generation = state(live, kind)
    change(live, kind, hpAutoscaler=autoscaler(kind, KINDS[kind][0]), image="apache/druid:36.0.0")
    settled(live)
    assert state(live, kind) == (5, generation + 1)


@ALL_KINDS
def test_replicas_of_the_autoscaler_are_kept(live: NamespaceClient, kind: str) -> None:
    full_cluster.create(live, **group(kind, replicas=5, hpAutoscaler=autoscaler(kind, KINDS[kind][0])))
    settled(live)
    for desired in (7, 2):
        scale(live, kind, desired)
        assert one_pass(live, NAME).plan.steps == ()
        change(live, kind, image=f"apache/druid:{desired}.0.0")
        settled(live)
        assert state(live, kind)[0] == desired


@ALL_KINDS
def test_removed_and_the_resource_sets_the_replicas(live: NamespaceClient, kind: str) -> None:
    full_cluster.create(live, **group(kind, replicas=5, hpAutoscaler=autoscaler(kind, KINDS[kind][0])))
    settled(live)
    scale(live, kind, 7)
    _replicas, generation = state(live, kind)
    change(live, kind, hpAutoscaler=None)
    mark = live.mark()
    settled(live)
    # While the autoscaler exists, it may revert the replicas that the group gets. A patch of another version than the
    # one that was read is rejected: the controllers may still be scaling the group.
    sent = [write for write in live.writes(mark) if not write.dry_run and write.name == KINDS[kind][0]]
    verbs = [write.verb for write in sent if write.code != CONFLICT]
    assert verbs == ["delete", "patch"]
    assert state(live, kind) == (5, generation + 1)
    assert live.names("HorizontalPodAutoscaler") == set()
    change(live, kind, replicas=4)
    settled(live)
    assert state(live, kind)[0] == 4
    # And it may be added again.
    _replicas, generation = state(live, kind)
    change(live, kind, hpAutoscaler=autoscaler(kind, KINDS[kind][0]))
    settled(live)
    assert state(live, kind) == (4, generation)


@ALL_KINDS
@pytest.mark.parametrize(("replicas", "smallest", "first"), [(1, 3, 3), (5, 2, 5), (0, 2, 2)])
def test_new_group_starts_within_the_limits_of_both(
    live: NamespaceClient, kind: str, replicas: int, smallest: int, first: int
) -> None:
    scaler = autoscaler(kind, KINDS[kind][0], smallest)
    full_cluster.create(live, **group(kind, replicas=replicas, hpAutoscaler=scaler))
    settled(live)
    # The generation of a Deployment changes again with the annotation of its revision.
    assert state(live, kind)[0] == first
    assert state(live, kind)[1] <= (2 if kind == "Deployment" else 1)
    assert "druidops" not in owners(live, kind)
    scale(live, kind, 4)
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize("is_first", [True, False], ids=["with the takeover", "after it"])
def test_added_to_a_group_of_the_go_operator(golden: NamespaceClient, is_first: bool) -> None:
    operator = GoOperator(golden, "hand").run()
    golden.scale("StatefulSet", "druid-hand-historicals-hot", 3)
    before = operator.settled()
    if not is_first:
        golden.merge("Druid", "hand", {"spec": {"nodes": {"historicals-hot": {"replicas": 3}}}})
        take_over(golden, "hand")
    scaler = autoscaler("StatefulSet", "druid-hand-historicals-hot", 2)
    golden.merge("Druid", "hand", {"spec": {"nodes": {"historicals-hot": {"hpAutoscaler": scaler}}}})
    assert one_pass(golden, "hand").plan.findings == ()
    after = operator.settled()
    assert {key: after[key] for key in before} == before
    assert one_pass(golden, "hand").plan.steps == ()


def test_replicas_of_an_external_autoscaler_are_kept(live: NamespaceClient) -> None:
    """The controller of Kubernetes scales both kinds."""
    nodes = {key: node for kind in KINDS for key, node in group(kind, replicas=3).items()}
    full_cluster.create(live, **nodes)
    settled(live)
    for kind, (name, _key) in KINDS.items():
        by_hand(live, kind, name, smallest=5)
    eventually(lambda: all(state(live, kind)[0] == 5 for kind in KINDS))
    outcome = one_pass(live, NAME)
    assert (outcome.plan.findings, outcome.plan.steps) == ((), ())
    for kind, (_name, key) in KINDS.items():
        reported = [text for text in outcome.warnings if text.startswith(f"spec.nodes[{key}]: replicas has no effect")]
        assert len(reported) == 1
        assert f"HorizontalPodAutoscaler by-hand-{kind.lower()}," in reported[0]
        change(live, kind, image="apache/druid:36.0.0", replicas=4)
    settled(live)
    assert [state(live, kind)[0] for kind in KINDS] == [5, 5]
    for kind in KINDS:
        live.delete("HorizontalPodAutoscaler", f"by-hand-{kind.lower()}")
    # It may only be replaced by another one.
    settled(live)
    assert [state(live, kind)[0] for kind in KINDS] == [5, 5]
    assert len([text for text in one_pass(live, NAME).warnings if "kubectl scale" in text]) == len(KINDS)
    for kind in KINDS:
        scale(live, kind, 4)
    settled(live)
    assert [state(live, kind)[0] for kind in KINDS] == [4, 4]
    assert [text for text in one_pass(live, NAME).warnings if "kubectl scale" in text] == []


@ALL_KINDS
def test_manual_scaling_is_reverted(live: NamespaceClient, kind: str) -> None:
    """An autoscaler exists, but for another object."""
    full_cluster.create(live, **group(kind, replicas=3))
    settled(live)
    by_hand(live, kind, "other")
    for desired in (5, 3):
        scale(live, kind, desired)
        settled(live)
        assert state(live, kind)[0] == 3
    mark = live.mark()
    assert one_pass(live, NAME).plan.steps == ()
    assert len([each for each in live.requests(mark) if each.resource == "horizontalpodautoscalers"]) == 1


def test_replicas_of_an_external_autoscaler_are_kept_after_migration(golden: NamespaceClient) -> None:
    operator = GoOperator(golden, "hand").run()
    name = "druid-hand-routers"
    by_hand(golden, "StatefulSet", name)
    golden.scale("StatefulSet", name, 3)
    before = operator.settled()
    take_over(golden, "hand")
    assert {key: identity for key, identity in identities(golden).items() if key in before} == before
    assert golden.get("StatefulSet", name)["spec"]["replicas"] == 3
