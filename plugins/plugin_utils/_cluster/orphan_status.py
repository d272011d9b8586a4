# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The orphaned PVCs in the status: those that are marked, and those that stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_sizes import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import mounted_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.orphan_marks import (
    Mark,
    deletion_time,
    mark_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp


def orphaned_pvcs(cluster: Cluster, observed: Observed, is_paused: bool) -> list[dict[str, Any]]:
    """Return the PVCs with a mark, or with the trace of one, that no pod of the cluster mounts, by name."""
    mounted = mounted_claims(observed)
    unused = (live for live in observed.of_kind(CLAIM) if live["metadata"]["name"] not in mounted)
    marks = {live["metadata"]["name"]: mark_of(live) for live in unused if not is_terminating(live)}
    is_active = cluster.deletes_orphans and not cluster.stopped and not is_paused
    return [dict(_entry(name, mark, cluster, is_active)) for name, mark in sorted(marks.items()) if any(mark)]


def _entry(name: str, mark: Mark, cluster: Cluster, is_active: bool) -> Iterator[tuple[str, Any]]:
    yield "name", name
    if mark.is_kept:
        yield "message", f"It stays: the label {names.TO_BE_DELETED_LABEL}=yes was removed, or it is never orphaned."
    elif not is_active:
        yield "message", "It is not deleted while deleteOrphanPvc is false, or the cluster is stopped or paused."
    elif mark.since is not None:
        yield "deletedAfter", timestamp(deletion_time(mark.since, cluster.orphan_grace_seconds))


def next_deletion(document: Mapping[str, Any], now: datetime) -> float | None:
    """Return the seconds until the next PVC in a status may be deleted; None if none of them is waiting."""
    times = (each["deletedAfter"] for each in document.get("orphanedPvcs") or () if each.get("deletedAfter"))
    seconds = ((datetime.fromisoformat(text) - now).total_seconds() for text in times)
    return min((each for each in seconds if each > 0), default=None)
