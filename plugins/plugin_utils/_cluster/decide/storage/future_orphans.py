# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of the PVCs of pods that a plan stops, if nothing else happens: orphaned, or retained."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import place_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.older_claims import is_older
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.orphan_marks import mark_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import (
    retains_explicitly,
    retains_scaled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import first_ordinal
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def orphaned_by(
    cluster: Cluster, stateful_set: Manifest, replicas: int, claims: Iterable[Manifest], since: str | None
) -> list[str]:
    """Return those of the PVCs that are orphaned once the StatefulSet has this number of replicas, or is removed.

    `since`: when the cluster was created.
    """
    if not cluster.deletes_orphans or cluster.stopped:
        return []
    deletable = (each for each in claims if not is_older(each, since) and not mark_of(each).is_kept)
    names = [each["metadata"]["name"] for each in deletable]
    found = (each for each in cluster.groups if each.unique_name == stateful_set["metadata"]["name"])
    group = next(found, None)
    if group is None:
        return [] if retains_explicitly(stateful_set) else names
    if group.stopped or group.is_deployment or retains_scaled(group) or not replicas:
        return []
    needed = first_ordinal(stateful_set) + max(replicas, group.max_replicas)
    places = ((name, place_of(name)) for name in names)
    return [name for name, place in places if place is not None and place[1] >= needed]
