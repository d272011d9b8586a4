# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is the Go operator still at work? Two operators on one cluster would undo each other's writes for ever."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import field_ownership
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def go_operator_conflict(cluster: Cluster, observed: Observed) -> Finding | None:
    """Return that objects which we had taken over carry the Go operator's annotation again.

    It was removed when they were taken over; back it comes only with a write of the Go operator. After a rollback to it
    the user says by an annotation of the resource that it has been stopped.
    """
    if cluster.annotations.get(names.TAKE_OVER_ANNOTATION) == "true":
        return None
    back = sorted(str(key_of(live)) for live in observed.objects.values() if _is_contested(live, cluster))
    if not back:
        return None
    more = f" and {len(back) - 1} more" if len(back) > 1 else ""
    return Finding(
        reasons.CONFLICTING_OPERATOR,
        f"The Go operator writes this cluster, too: its annotation {names.RESOURCE_HASH_ANNOTATION} is back on "
        f"{back[0]}{more}. Nothing is changed. Stop the Go operator, then annotate the Druid resource with "
        f"{names.TAKE_OVER_ANNOTATION}=true.",
    )


def _is_contested(live: Manifest, cluster: Cluster) -> bool:
    annotations = live["metadata"].get("annotations") or {}
    # There the annotation was left when the object was taken over.
    if live["kind"] in field_ownership.KEEPS_HASH or names.RESOURCE_HASH_ANNOTATION not in annotations:
        return False
    owned = field_ownership.owned_fields(live)
    # An annotation that we own is one that we are just about to remove: the takeover was cut short.
    return bool(owned) and not below(owned, *field_ownership.GO_OPERATOR_HASH) and is_ours(live, cluster)
