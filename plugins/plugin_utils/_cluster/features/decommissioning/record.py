# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Historicals are being decommissioned, as an annotation of their StatefulSet and the status record it.

An entry with a server is stored before its name is written to Druid: the list there does not show whose a name is, and
an operator that is stopped in between must find its own names again. That is what the annotation is for, which a backup
has and a replaced resource does not lose. The progress is in the status only, and in older versions everything was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs

FIELD = "historicalDecommission"


@dataclass(frozen=True)
class Entry:
    """A pod that is to stop, or has stopped.

    `server`: its name in Druid, None until the decommissioning may begin. `bytes`: the size of the segments that it has
    yet to move, None if that is unknown. `empty_since`: since when there are none. `confirmed_at`: when a reading
    confirmed that for the first time, a while later. `listed_by_others`: the name was in Druid's list before, so it is
    not ours. `ended`: the pod stays, or has stopped; only its name has to be removed. If the pod is to stop
    again, that is another decommissioning, with a limit of its own. `unlisted_since`: since when the name is not in
    Druid's list, if it is one of others, or is to be removed. The Coordinator that answers may not have read the latest
    list yet.
    """

    pod: str
    group: str
    started_at: str
    server: str | None = None
    bytes: int | None = None
    empty_since: str | None = None
    listed_by_others: bool = False
    ended: bool = False
    unlisted_since: str | None = None
    confirmed_at: str | None = None

    @property
    def is_ours(self) -> bool:
        """True if the name may be in Druid's list because of us."""
        return self.server is not None and not self.listed_by_others

    @property
    def is_removed(self) -> bool:
        """True if it is ours, and has been removed: the entry is only kept until that is certain."""
        return self.is_ours and self.unlisted_since is not None

    @property
    def document(self) -> dict[str, Any]:
        """The entry as an element of the field of the status."""
        document = {
            "pod": self.pod,
            "group": self.group,
            "startedAt": self.started_at,
            "server": self.server,
            "bytes": self.bytes,
            "emptySince": self.empty_since,
            "emptyConfirmedAt": self.confirmed_at,
            "listedByOthers": self.listed_by_others or None,
            "ended": self.ended or None,
            "unlistedSince": self.unlisted_since,
        }
        return {name: value for name, value in document.items() if value is not None}

    @property
    def without_progress(self) -> Entry:
        """The same entry, as an annotation has it."""
        return replace(self, bytes=None, empty_since=None, confirmed_at=None, ended=False, unlisted_since=None)


def recorded(status: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Return the entries in a status, without those that nothing can be concluded from."""
    entries: Iterable[Mapping[str, Any]] = status.get(FIELD) or ()
    return tuple(
        _entry(entry) for entry in entries if entry.get("pod") and entry.get("group") and entry.get("startedAt")
    )


def to_annotation(entries: Iterable[Entry]) -> str:
    """Return the value of the annotation with the entries; empty if none of them has a name in Druid."""
    documents = [entry.without_progress.document for entry in entries if entry.server]
    return json.dumps(documents, separators=(",", ":")) if documents else ""


def from_annotation(text: str | None) -> tuple[Entry, ...]:
    """Return the entries in an annotation; one that a person has broken counts as none."""
    try:
        entries = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    documents = (entry for entry in (entries if isinstance(entries, list) else ()) if _is_entry(entry))
    return tuple(_entry(document).without_progress for document in documents)


def united(annotated: Sequence[Entry], stored: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the entries of annotations with the progress in the status, and those that only the status has."""
    left = {(entry.pod, entry.server): entry for entry in annotated}
    both = [_united(left.pop((entry.pod, entry.server), None), entry) for entry in stored]
    return (*both, *left.values())


def _united(annotated: Entry | None, stored: Entry) -> Entry:
    """The annotation is written first, but not while its group is blocked."""
    if annotated is None:
        return stored
    others, started = annotated.listed_by_others, max(annotated.started_at, stored.started_at)
    return replace(stored, listed_by_others=others, started_at=started)


def _is_entry(document: object) -> bool:
    if not isinstance(document, Mapping):
        return False
    texts = [document.get(name) for name in ("pod", "group", "startedAt", "server")]
    return all(isinstance(text, str) and text for text in texts) and _is_time(str(texts[2]))


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _entry(document: Mapping[str, Any]) -> Entry:
    return Entry(
        document["pod"],
        document["group"],
        document["startedAt"],
        document.get("server"),
        document.get("bytes"),
        document.get("emptySince"),
        bool(document.get("listedByOthers")),
        bool(document.get("ended")),
        document.get("unlistedSince"),
        document.get("emptyConfirmedAt"),
    )


def record_of(inputs: Inputs) -> tuple[Entry, ...]:
    """Return the stored record."""
    return united(_annotated(inputs), recorded(inputs.resource.get("status") or {}))


def annotated_names(inputs: Inputs) -> frozenset[str]:
    """Return the names in Druid of which an annotation records that they are ours."""
    return frozenset(entry.server for entry in _annotated(inputs) if entry.server and entry.is_ours)


def annotations_of(record: Iterable[Entry]) -> dict[str, str]:
    """Return the value of the annotation by group, for the groups that have one."""
    entries = [*record]
    texts = {key: to_annotation(entry for entry in entries if entry.group == key) for key in {e.group for e in entries}}
    return {key: text for key, text in texts.items() if text}


def _annotated(inputs: Inputs) -> tuple[Entry, ...]:
    annotations = (live["metadata"].get("annotations") or {} for live in inputs.observed.of_kind("StatefulSet"))
    return tuple(
        entry for annotation in annotations for entry in from_annotation(annotation.get(names.DECOMMISSION_ANNOTATION))
    )
