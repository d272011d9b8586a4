# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Manual changes and deletions are reverted, and obsolete objects are deleted; foreign objects are kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    without_status,
)

LABELS = {"app": "druid", "druid_cr": "wiki"}


@pytest.fixture
def wiki_cluster(live: NamespaceClient) -> NamespaceClient:
    """A namespace with a cluster, without waiting for its pods."""
    live.create(all_kinds_cluster.resource())
    one_pass(live, "wiki")
    return live


def plan(live: NamespaceClient) -> list[str]:
    """Reconcile, and return the changes."""
    return sorted(f"{step.operation.verb} {step.key}" for step in one_pass(live, "wiki").plan.steps)


def test_manual_deletions_are_reverted(wiki_cluster: NamespaceClient) -> None:
    """One after the other; edits are in test_drift."""
    for kind, name in sorted(all_kinds_cluster.OBJECTS - {("PersistentVolumeClaim", "segments-druid-wiki-data-0")}):
        uid = wiki_cluster.get(kind, name)["metadata"]["uid"]
        wiki_cluster.delete(kind, name)
        eventually(lambda kind=kind, name=name: wiki_cluster.find(kind, name) is None)  # type: ignore[misc]
        assert plan(wiki_cluster) == [f"create {kind} {name}"]
        assert wiki_cluster.get(kind, name)["metadata"]["uid"] != uid


def services(*templates: str) -> list[Manifest]:
    return [{"metadata": {"name": template}, "spec": {"type": "ClusterIP"}} for template in templates]


OPTIONAL: dict[str, tuple[Manifest, list[str]]] = {
    "ingress": (all_kinds_cluster.changed("brokers", ingress=None), ["delete Ingress druid-wiki-brokers"]),
    "budget": (
        all_kinds_cluster.changed("data", podDisruptionBudgetSpec=None),
        ["delete PodDisruptionBudget druid-wiki-data"],
    ),
    "autoscaler": (
        all_kinds_cluster.changed("routers", hpAutoscaler=None),
        ["delete HorizontalPodAutoscaler druid-wiki-routers", "update StatefulSet druid-wiki-routers"],
    ),
    "service": (
        {"spec": {"services": services("%s", "%s-more")}},
        [f"create Service druid-wiki-{group}-more" for group in ("brokers", "data", "routers")],
    ),
    "group": (
        {"spec": {"nodes": {"brokers": None}}},
        [
            "delete ConfigMap druid-wiki-brokers-config",
            "delete Deployment druid-wiki-brokers",
            "delete Ingress druid-wiki-brokers",
            "delete Service druid-wiki-brokers",
        ],
    ),
}


@pytest.mark.parametrize("change", OPTIONAL)
def test_follows_removed_and_added_fields(wiki_cluster: NamespaceClient, change: str) -> None:
    patch, steps = OPTIONAL[change]
    # until the pods are ready, the removal of a group waits
    until_ready(wiki_cluster, "wiki")
    wiki_cluster.merge("Druid", "wiki", patch)
    assert plan(wiki_cluster) == steps
    assert plan(wiki_cluster) == []


def test_removes_an_obsolete_service(wiki_cluster: NamespaceClient) -> None:
    wiki_cluster.merge("Druid", "wiki", {"spec": {"services": services("%s", "%s-more")}})
    plan(wiki_cluster)
    wiki_cluster.merge("Druid", "wiki", {"spec": {"services": services("%s")}})
    assert plan(wiki_cluster) == [f"delete Service druid-wiki-{group}-more" for group in ("brokers", "data", "routers")]


def controlled_by(manifest: Manifest) -> Manifest:
    """Return metadata with an existing controller: the garbage collector checks it."""
    identity = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "name": manifest["metadata"]["name"]}
    return {"ownerReferences": [{**identity, "uid": manifest["metadata"]["uid"], "controller": True}]}


FOREIGN: dict[str, Callable[[NamespaceClient], Manifest]] = {
    "nobody's": lambda _live: {},
    "another cluster's": lambda live: controlled_by(live.create(all_kinds_cluster.resource("other"))),
    "another kind's": lambda live: controlled_by(live.create({"kind": "ConfigMap", "metadata": {"name": "wiki"}})),
}


@pytest.mark.parametrize("whose", FOREIGN)
def test_prunes_only_owned_objects(wiki_cluster: NamespaceClient, whose: str) -> None:
    metadata = {"name": "druid-wiki-old", "labels": LABELS, **FOREIGN[whose](wiki_cluster)}
    foreign: list[Manifest] = [
        {"kind": "ConfigMap", "metadata": metadata, "data": {}},
        {"kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}},
        {"kind": "PodDisruptionBudget", "metadata": metadata, "spec": {"minAvailable": 0}},
    ]
    for manifest in foreign:
        wiki_cluster.create(manifest)
    mark = wiki_cluster.mark()
    assert plan(wiki_cluster) == []
    assert without_status(wiki_cluster.writes(mark)) == []
    assert all(wiki_cluster.find(each["kind"], "druid-wiki-old") for each in foreign)
