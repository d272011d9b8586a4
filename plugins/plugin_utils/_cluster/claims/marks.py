# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The mark of an orphaned PVC, and PVCs that are older than the cluster. Pure.

A mark is in labels as the Go operator writes them, and in an annotation, which shows what happened to the labels since:
without it, the Go operator or a person has added them; without the labels, a person has removed them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import (
    DELETION_TIME_LABEL,
    ORPHANED_SINCE_ANNOTATION,
    TO_BE_DELETED_LABEL,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

MARKED = "yes"
_LABELS = ("metadata", "labels")
_ANNOTATION = ("metadata", "annotations", ORPHANED_SINCE_ANNOTATION)
_NEVER = "never"
# The field of a PVC that is never deleted as an orphan, by path.
KEEPING: Mapping[tuple[str, ...], Any] = {_ANNOTATION: _NEVER}


class Mark(NamedTuple):
    """The mark of a PVC.

    `is_marked`: it is to be deleted. `since`: when the grace period has begun, None if that has to be recorded.
    `is_kept`: it stays, because a person has removed or changed the label, or because of the annotation.
    """

    is_marked: bool = False
    since: datetime | None = None
    is_kept: bool = False


def mark_of(claim: Manifest) -> Mark:
    """Return the mark of a PVC."""
    labels, annotations = (claim["metadata"].get(name) or {} for name in ("labels", "annotations"))
    label, annotation = labels.get(TO_BE_DELETED_LABEL), annotations.get(ORPHANED_SINCE_ANNOTATION)
    if label != MARKED or annotation == _NEVER:
        return Mark(is_kept=label is not None or annotation is not None)
    times = (_moment(annotation), _seconds(labels.get(DELETION_TIME_LABEL)))
    known = [each for each in times if each is not None]
    # The later one: a Go operator may have marked it again, or a person has postponed the deletion.
    return Mark(is_marked=True, since=max(known) if len(known) == len(times) else None)


def marking(now: datetime) -> dict[tuple[str, ...], Any]:
    """Return the fields of a PVC that is marked now, by path."""
    return {
        (*_LABELS, TO_BE_DELETED_LABEL): MARKED,
        (*_LABELS, DELETION_TIME_LABEL): str(int(now.timestamp())),
        _ANNOTATION: timestamp(now),
    }


def unmarking(claim: Manifest) -> dict[tuple[str, ...], Any]:
    """Return the fields to remove from a marked PVC, by path."""
    return {path: None for path in marking(datetime.now(UTC)) if path[-1] in (claim["metadata"].get(path[1]) or {})}


def deletion_time(since: datetime, grace_seconds: int) -> datetime:
    """Return when a PVC that is marked since this time may be deleted: at the end of time if it is later."""
    try:
        return since + timedelta(seconds=grace_seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _seconds(text: str | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(text or ""), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def exists_since(inputs: Inputs) -> str | None:
    """Return when the cluster was created: without a resource, its oldest object shows it. None if it has none."""
    objects = inputs.live.of_kind("StatefulSet", "ConfigMap")
    times = filter(None, (_created(live) for live in objects if is_ours(live, inputs.cluster)))
    return _created(inputs.resource) or min(times, default=None)


def is_older(claim: Manifest, since: str | None) -> bool:
    """True for a PVC that is older than the cluster, or may be."""
    return since is None or _created(claim) < since


def _created(live: Manifest) -> str:
    return str(live["metadata"].get("creationTimestamp") or "")
