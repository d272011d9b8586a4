# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories in which PVCs grow: none gets smaller, all get their size, and no pod restarts for it."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.specification import (
    Cluster,
    Group,
    group_of_claim,
    names_of_claims,
)
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.simulator.world import World
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Create, Event
from ansible_collections.druidops.druid.tests.unit.simulator.histories import (
    GROWING_CLUSTERS,
    histories_with_growth,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject
from ansible_collections.druidops.druid.tests.unit.simulator.test_histories import EXAMPLES
from hypothesis import given

CLAIM = "PersistentVolumeClaim"
CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "ssd"}}


def sizes(subject: Subject) -> dict[str, int]:
    """Return the size of each PVC, by its uid."""
    found = subject.world.store.of_kind(CLAIM)
    return {each["metadata"]["uid"]: _size(each["spec"]["resources"]["requests"]["storage"]) for each in found}


def _size(text: str) -> int:
    return int(text.removesuffix("Gi"))


def is_specified(claim: Manifest, group: Group) -> bool:
    """True if a template of the group specifies the PVC: a template that is removed leaves its PVCs."""
    return group.kind == "StatefulSet" and claim["metadata"]["name"].partition("-")[0] in names_of_claims(group)


def check_sizes(subject: Subject) -> None:
    """Assert that each PVC of a group has at least the size that the spec requests."""
    cluster = subject.cluster
    for claim in subject.world.store.of_kind(CLAIM) if cluster else ():
        group = cluster.groups.get(group_of_claim(claim["metadata"]["name"])[0]) if cluster else None
        is_used = "toBeDeleted" not in (claim["metadata"].get("labels") or {})
        # One that no pod mounts, since a budget keeps the pod without it, has no volume yet.
        is_bound = (claim.get("status") or {}).get("phase") == "Bound"
        if group is not None and is_used and is_specified(claim, group) and is_bound:
            requested = claim["spec"]["resources"]["requests"]["storage"]
            assert _size(requested) >= _size(group.storage), claim["metadata"]["name"]
            assert claim["status"]["capacity"]["storage"] == requested


@EXAMPLES
@given(GROWING_CLUSTERS, histories_with_growth("operator"))
def test_pvcs_grow_and_nothing_is_lost(cluster: Cluster, history: list[Event]) -> None:
    observer = Observer("operator", Subject(World(has_driver=True)))
    observer.subject.world.store.create({**CLASS, "allowVolumeExpansion": True})
    observer.act(Create(cluster))
    observer.converge()
    for action in history:
        before = sizes(observer.subject)
        observer.act(action)
        after = sizes(observer.subject)
        assert all(after[uid] >= size for uid, size in before.items() if uid in after)
    observer.converge()
    check_sizes(observer.subject)
    observer.delete()
