# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the resource itself notes about its record, in an annotation: which one is believed. Pure.

Others may write the ConfigMap with the record, and the status. Only authors of the resource can write its annotation,
which is written before the ConfigMap. So a record is believed if the annotation has its digest. A run that is killed
in between leaves the previous record: that one is believed in the version that was read, which no one can restore.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    EDITED,
    KEYS,
    is_own,
    of_status,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest


@dataclass(frozen=True)
class Note:
    """`ids` are the supervisors and tasks that were or will be submitted, and may still run.

    `record` is the digest of the record that was or will be written last, and `replaces` the resourceVersion of the
    ConfigMap before that; "": there was none. `revision` is that of the record (``LastApplied``).
    """

    ids: frozenset[str] = frozenset()
    record: str = ""
    replaces: str = ""
    revision: int = 0


def note_of(metadata: Mapping[str, Any]) -> Note:
    """Return the note of a resource; an empty one if it has none, or that of the resource from which it was copied."""
    try:
        found = json.loads((metadata.get("annotations") or {})[names.NOTE_ANNOTATION])
        if found["uid"] != metadata["uid"] or not isinstance(found["ids"], list):
            return Note()
        ids = frozenset(map(str, found["ids"]))
        return Note(ids, str(found["record"]), str(found["replaces"]), int(found["revision"]))
    except EDITED:
        return Note()


def text_of(note: Note, uid: str) -> str:
    """Return the value of the annotation."""
    return json.dumps({**asdict(note), "ids": sorted(note.ids), "uid": uid}, sort_keys=True)


def note(ingestion: Ingestion) -> Note:
    """Return the note of the resource; that of an ingestion without a resource is empty."""
    return note_of({"uid": ingestion.uid, "annotations": ingestion.annotations}) if ingestion.uid else Note()


def believed(config_map: Manifest | None, ingestion: Ingestion) -> Manifest | None:
    """Return the ConfigMap if its record is as noted, None otherwise. Without a resource it is the only reference.

    A resource without a note, as after `kubectl replace`, confirms it by its status. One whose status is newer than its
    note was restored: so may the ConfigMap be.
    """
    if config_map is None or not is_own(config_map, ingestion):
        return None
    noted = note(ingestion)
    if ingestion.uid and noted == Note():
        return config_map if _is_in_status(config_map, ingestion) else None
    is_replaced = bool(noted.replaces) and version_of(config_map) == noted.replaces
    is_restored = int(ingestion.status.get("appliedRevision") or 0) > noted.revision
    return config_map if (is_replaced or is_written(config_map, ingestion)) and not is_restored else None


def _is_in_status(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when the status names everything that the record has."""
    record, status = read_last_applied(config_map, ingestion), of_status(ingestion)
    ids = {*record.supervisors, *record.tasks}
    shown = ({status.id}, status.revision, ingestion.status.get("appliedHash"))
    return (ids, record.revision, record.hash) == shown


def is_written(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when the record is the one that was written last."""
    return ingestion.uid is None or digest_of(config_map) == note(ingestion).record


def digest_of(config_map: Manifest) -> str:
    """Return the digest of the record; other keys of the ConfigMap have no effect."""
    data = config_map.get("data") or {}
    return digest({key: data[key] for key in KEYS if key in data})


def version_of(config_map: Manifest | None) -> str:
    """Return the resourceVersion, "" if there is none."""
    return str(((config_map or {}).get("metadata") or {}).get("resourceVersion") or "")


def warnings(config_map: Manifest | None, ingestion: Ingestion) -> tuple[str, ...]:
    """Return a warning about a record that is not believed."""
    if config_map is None or not is_own(config_map, ingestion) or believed(config_map, ingestion) is not None:
        return ()
    return (
        f"ConfigMap {names.record_name(ingestion.name)} is not as this resource has written it (annotation "
        f"{names.NOTE_ANNOTATION}): others have created or changed it, or the annotation. It is not used: nothing is "
        "submitted, terminated or removed because of it. Check who may write ConfigMaps in the namespace, and whether "
        "a manifest that is applied has the annotation.",
    )
