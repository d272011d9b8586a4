# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which orphaned PVCs may be deleted, judged by the spec and the marks, not by the code under test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ansible_collections.druidops.druid.tests.simulator.kubelet import claim_names
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, group_of_claim
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, is_terminating
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

CLAIM = "PersistentVolumeClaim"
LABEL, ANNOTATION = "toBeDeleted", "druid.apache.org/orphaned-since"
GRACE = timedelta(seconds=60)


def is_marked(claim: Manifest) -> bool:
    """True if a PVC has both parts of a mark."""
    labels, annotations = (claim["metadata"].get(name) or {} for name in ("labels", "annotations"))
    return LABEL in labels and annotations.get(ANNOTATION, "never") != "never"


@dataclass
class MarkedClaims:
    """The marked PVCs that no pod mounts, before an action, and the cluster that the user wanted then."""

    subject: Subject
    claims: dict[str, Manifest] = field(default_factory=dict)
    cluster: Cluster | None = None

    def look(self) -> None:
        """Take note of the state before an action."""
        store = self.subject.world.store
        mounted = {name for pod in store.of_kind("Pod") for name in claim_names(pod)}
        found = (each for each in store.of_kind(CLAIM) if is_marked(each) and not is_terminating(each))
        self.claims = {each["metadata"]["name"]: each for each in found if each["metadata"]["name"] not in mounted}
        self.cluster = self.subject.cluster
        self.subject.deleted_before.clear()

    def may_be_deleted(self, name: str) -> bool:
        """True for a PVC that was marked for the whole grace period, and that the specs before and after do not need.

        What the user specified after the request to delete it could not be known.
        """
        claim = self.claims.get(name)
        if claim is None or claim["metadata"]["uid"] in self.subject.unmarked:
            return False
        since = datetime.fromisoformat(claim["metadata"]["annotations"][ANNOTATION])
        later = () if name in self.subject.deleted_before else (self.subject.cluster,)
        specified = [cluster for cluster in (self.cluster, *later) if cluster is not None]
        is_unused = bool(specified) and all(_is_unused(name, cluster) for cluster in specified)
        return self.subject.world.clock.now() - since >= GRACE and is_unused


def _is_unused(name: str, cluster: Cluster) -> bool:
    key, ordinal = group_of_claim(name)
    if not cluster.deletes_orphans or cluster.stopped or cluster.paused or not key:
        return False
    group = cluster.groups.get(key)
    if group is None:
        return True
    is_kept = cluster.is_stopped(key) or group.when_scaled == "Retain" or group.kind != "StatefulSet"
    maximum = group.autoscaler[1] if group.autoscaler else 0
    return not is_kept and ordinal >= max(group.replicas or 0, maximum)
