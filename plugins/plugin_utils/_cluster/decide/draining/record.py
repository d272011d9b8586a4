# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a drain, in an annotation of its StatefulSet: a worker that we have disabled is never forgotten. Pure.

It is written before the worker is disabled. So every worker in it may be disabled, and no other one is so by us. It is
there as long as the partition is that of a drain, even if no worker is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_after, timestamp


@dataclass(frozen=True)
class Record:
    """A pod whose worker is drained: its name, uid, since when, and when it was released, so that it may be replaced.

    `handed_off`: when the handoff of its task groups was requested. `idle`: since when it was disabled and without a
    task in every reading. `lost`: since when it was not registered, and its pod not ready, in every reading.
    `is_ours`: it was enabled before, and is disabled by us. Otherwise it is not known to be so, or others have disabled
    it: then it stays disabled if its pod stays.
    """

    pod: str
    uid: str
    since: str
    released: str = ""
    handed_off: str = ""
    idle: str = ""
    is_ours: bool = False
    lost: str = ""


_TIMES = {"since": "since", "released": "released", "handed_off": "handedOff", "idle": "idle", "lost": "lost"}
_NAMES = {"pod": "pod", "uid": "uid", **_TIMES}
_OURS = "disabledByUs"


def to_annotation(records: Iterable[Record]) -> str:
    """Return the value of the annotation."""
    return json.dumps([_document(record) for record in records], separators=(",", ":"))


def text_of(manifest: Manifest | None) -> str | None:
    """Return the value of the annotation, if there is one."""
    found: str | None = ((manifest or {}).get("metadata", {}).get("annotations") or {}).get(names.DRAIN_ANNOTATION)
    return found


def with_text(manifest: Manifest, text: str | None) -> Manifest:
    """Return the object with this value of the annotation; None: without it."""
    return annotated(manifest, {names.DRAIN_ANNOTATION: text})


def held_text(step: Apply) -> str | None:
    """Return the value of the annotation as long as the restart of the pods has to wait.

    Then no pod is released, and a partition that is not written is not that of a drain.
    """
    text, live = text_of(step.manifest), text_of(step.live)
    is_mark = step.begins_drain and text == to_annotation(())
    is_release = bool(step.released_pods) and not step.begins_drain
    return live if step.kept_pods is not None and (is_mark or is_release) else text


def from_annotation(text: str | None) -> tuple[Record, ...]:
    """Return the records; an entry that a person has broken counts as none."""
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    entries = (_record(each) for each in (found if isinstance(found, list) else ()))
    by_pod = {each.pod: each for each in entries if each is not None}
    return tuple(by_pod.values())


def without_future(record: Record, now: datetime) -> Record:
    """Return the record with no time later than now: the clock of another writer must not prolong a limit."""
    future: dict[str, Any] = {name: timestamp(now) for name in _TIMES if is_after(getattr(record, name), now)}
    return replace(record, **future) if future else record


def _document(record: Record) -> dict[str, Any]:
    texts = {name: getattr(record, field) for field, name in _NAMES.items()}
    present = {name: text for name, text in texts.items() if text}
    return {**present, **({_OURS: True} if record.is_ours else {})}


def _record(entry: object) -> Record | None:
    if not isinstance(entry, Mapping):
        return None
    texts = {field: str(entry.get(name) or "") for field, name in _NAMES.items()}
    if not texts["pod"].rpartition("-")[2].isdecimal() or not texts["uid"] or not texts["since"]:
        return None
    return Record(**texts, is_ours=entry.get(_OURS) is True)
