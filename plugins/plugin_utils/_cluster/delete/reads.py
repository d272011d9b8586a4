# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the deletion of a cluster reads before and between its steps."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import DryRuns
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import read_cluster, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS


class DeletionReads(DryRuns):
    """Reads of the namespace of a cluster. What was read before a step is read again after it."""

    def __init__(self, api: KubernetesApi, cluster: Cluster) -> None:
        super().__init__(api, cluster.namespace)
        self._cluster = cluster

    def labelled(self) -> Observed:
        """Return the objects with the label of the cluster, including ReplicaSets."""
        return read_cluster(self, self._cluster).with_objects(replica_sets(self, self._cluster))

    def with_all_claims(self, observed: Observed) -> Observed:
        """Return the same with all PVCs of the namespace: a StatefulSet may own some that do not have our labels."""
        return observed.with_objects(self._of_kinds(retain.CLAIM).objects.values())

    def claims(self, owned: Collection[str]) -> Observed:
        """Return all PVCs of the namespace; if the cluster has any, also all pods and workloads, which may use them.

        Those of the cluster may not have its labels: users can remove them.
        """
        claims = self._of_kinds(retain.CLAIM)
        has_claims = bool(targets.remaining_claims(self._cluster, claims, owned))
        return claims.with_objects(self.users().objects.values()) if has_claims else claims

    def pods(self) -> Observed:
        """Return the pods with the labels of the cluster: few of the namespace's."""
        return self._of_kinds("Pod", selector=f"{names.CLUSTER_LABEL}={self._cluster.name}")

    def users(self) -> Observed:
        """Return all pods and workloads of the namespace: those of other owners may not have our labels."""
        return self._of_kinds("Pod", *WORKLOADS)

    def pause(self, seconds: float) -> None:
        """Leave controllers some time."""
        self._api.sleep(seconds)

    def _of_kinds(self, *kinds: str, selector: str = "") -> Observed:
        found = (live for kind in kinds for live in self.list_objects(kind, selector))
        return Observed().with_objects(found)
