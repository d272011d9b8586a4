# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a decommissioning: what annotations and the status have, and the annotations of the next one."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import (
    Entry,
    from_annotation,
    recorded,
    to_annotation,
    united,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs


def record_of(inputs: Inputs) -> tuple[Entry, ...]:
    """Return the stored record."""
    return united(_annotated(inputs), recorded(inputs.resource.get("status") or {}))


def annotated_names(inputs: Inputs) -> frozenset[str]:
    """Return the names in Druid of which an annotation records that they are ours."""
    return frozenset(entry.server for entry in _annotated(inputs) if entry.server and entry.is_ours)


def annotations_of(record: Iterable[Entry]) -> dict[str, str]:
    """Return the value of the annotation by group, for the groups that have one."""
    entries = [*record]
    texts = {key: to_annotation(each for each in entries if each.group == key) for key in {e.group for e in entries}}
    return {key: text for key, text in texts.items() if text}


def _annotated(inputs: Inputs) -> tuple[Entry, ...]:
    annotations = (live["metadata"].get("annotations") or {} for live in inputs.live.of_kind("StatefulSet"))
    return tuple(entry for each in annotations for entry in from_annotation(each.get(names.DECOMMISSION_ANNOTATION)))
