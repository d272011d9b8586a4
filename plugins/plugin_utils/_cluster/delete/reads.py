# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the deletion of a cluster reads before and between its steps: each time again, since they change it."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import read_cluster, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS


class DeletionReads:
    """Reads of one namespace; ApiError if one fails."""

    def __init__(self, api: KubernetesApi, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    def labelled(self) -> Observed:
        """Return the objects with the label of the cluster, including ReplicaSets."""
        return read_cluster(self._api, self._cluster).with_objects(replica_sets(self._api, self._cluster))

    def with_all_claims(self, observed: Observed) -> Observed:
        """Return the same with all PVCs of the namespace: a StatefulSet may own some that do not have our labels."""
        return observed.with_objects(self._list(retain.CLAIM).objects.values())

    def claims(self, owned: Collection[str]) -> Observed:
        """Return all PVCs of the namespace; if the cluster has any, also all pods and workloads, which may use them.

        Those of the cluster may not have its labels: users can remove them.
        """
        claims = self._list(retain.CLAIM)
        has_claims = bool(targets.remaining_claims(self._cluster, claims, owned))
        return claims.with_objects(self.users().objects.values()) if has_claims else claims

    def pods(self) -> Observed:
        """Return the pods with the labels of the cluster: few of the namespace's."""
        return self._list("Pod", selector=f"{names.CLUSTER_LABEL}={self._cluster.name}")

    def users(self) -> Observed:
        """Return all pods and workloads of the namespace: those of other owners may not have our labels."""
        return self._list("Pod", *WORKLOADS)

    def pause(self, seconds: float) -> None:
        """Leave controllers some time."""
        self._api.sleep(seconds)

    def _list(self, *kinds: str, selector: str = "") -> Observed:
        found = (live for kind in kinds for live in self._api.list_objects(kind, self._cluster.namespace, selector))
        return Observed().with_objects(found)
