# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which record of an ingestion is believed, and what is known of a batch whose record is incomplete. Pure.

Others may write the ConfigMap with the record, and the status. Only authors of the resource can write its annotation,
which is written before the ConfigMap. So a record is believed if the annotation has its digest. A run that is killed
in between leaves the previous record: that one is believed in the version that was read, which no one can restore.

Lost: the ConfigMap was deleted, or is not believed, but the status shows a task, or the annotation
shows that there was a record. The status is written after the record, so it may not name the last task that was
submitted; the annotation has its revision. If the status names exactly the current spec, its task is taken over.
Otherwise it is unknown whether the spec has run: nothing is submitted until the annotation requests it.

Interrupted: the record has the attempt before Druid does. If the operator was stopped in between, the last spec that
ran is the one before: when it is specified again, it does not run again. So the record keeps what it replaced until
Druid has the new task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import (
    SUCCESS,
    current,
    is_unrecorded,
    job,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    EDITED,
    KEYS,
    LastApplied,
    ReplacedTask,
    SubmittedTask,
    is_elsewhere,
    is_own,
    of_status,
    read_last_applied,
    with_task,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    RETRY_ANNOTATION,
    Ingestion,
    record_name,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
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
        found = json.loads((metadata.get("annotations") or {})[NOTE_ANNOTATION])
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
        f"ConfigMap {record_name(ingestion.name)} is not as this resource has written it (annotation "
        f"{NOTE_ANNOTATION}): others have created or changed it, or the annotation. It is not used: nothing is "
        "submitted, terminated or removed because of it. Check who may write ConfigMaps in the namespace, and whether "
        "a manifest that is applied has the annotation.",
    )


def recovered(record: LastApplied, ingestion: Ingestion) -> LastApplied:
    """Return the record; if it was lost, what the status shows of it. InvalidInput if the spec is invalid."""
    last, noted = of_status(ingestion), note(ingestion)
    if ingestion.is_supervisor or not (record.is_empty or is_unrecorded(ingestion, record)):
        return record
    # the annotation is written before a submission, the status after it
    known = _known_task(ingestion, last) if last.id and last.revision >= noted.revision else None
    if known is not None:
        first = job(ingestion, last.revision).task_id(1)
        return LastApplied(ingestion.specified, first, known, (), last.druid, last.revision)
    if not record.is_empty or not (last.id or noted.replaces):
        return record
    identity = last.id or min(noted.ids, default="unknown")
    # attempt 0: a retry is the first attempt of its revision
    task = SubmittedTask(identity, 0, "unrecorded", _state(ingestion), ingestion.retry)
    return LastApplied({}, identity, task, (), last.druid, max(last.revision, noted.revision))


def is_of_resource(ingestion: Ingestion, task: str, status: Mapping[str, Any], revision: int) -> bool:
    """True when a task that only a record names is of this resource: Druid's status has its datasource, or it is an
    attempt of exactly this spec.
    """
    try:
        datasource = datasource_of(ingestion.document)
    except ValueError:
        return False
    is_its_data = datasource is not None and status.get("dataSource") == datasource
    return is_its_data or is_attempt(ingestion, task, revision)


def is_attempt(ingestion: Ingestion, task: str, revision: int) -> bool:
    """True when a task is an attempt of exactly this spec; False if the spec is invalid, or specifies a supervisor."""
    try:
        return not ingestion.is_supervisor and _attempt(job(ingestion, revision), task) is not None
    except (InvalidInput, KeyError, TypeError, ValueError):
        return False


def _known_task(ingestion: Ingestion, last: LastApplied) -> SubmittedTask | None:
    """Return the task in the status if it is an attempt of exactly this spec in this Druid, None otherwise."""
    is_same = ingestion.status.get("appliedHash") == digest(ingestion.specified) and not is_elsewhere(last, ingestion)
    attempt = _attempt(job(ingestion, last.revision), last.id) if is_same else None
    if attempt is None:
        return None
    if _state(ingestion) == SUCCESS:
        return SubmittedTask(last.id, attempt, "ended", SUCCESS, ingestion.retry)
    # how a task that was still running or that failed ended is read from Druid
    return SubmittedTask(last.id, attempt, "submitted", "", ingestion.retry)


def _attempt(job_of_status: Job, task: str) -> int | None:
    """Return the number of the attempt with this id, None if the task belongs to another job."""
    first = job_of_status.task_id(1)
    if task == first:
        return 1
    number = task.removeprefix(f"{first}_")
    is_later = number.isdecimal() and task == job_of_status.task_id(int(number))
    return int(number) if is_later else None


def _state(ingestion: Ingestion) -> str:
    return str(ingestion.status.get("state") or "")


def finding(ingestion: Ingestion) -> Finding:
    """Return the problem, with the remedy."""
    last = of_status(ingestion).id
    return Finding(
        reasons.RECORD_LOST,
        f"ConfigMap {record_name(ingestion.name)}, which records the submitted tasks, or the annotation "
        f"{NOTE_ANNOTATION}, which confirms it, was deleted or changed by others, and the status names "
        f"{f'a task of another spec ({last})' if last else 'no task'}. It is unknown "
        "whether the current spec has run since, so nothing is submitted. Check the data in Druid. To submit the spec, "
        f"set the annotation {RETRY_ANNOTATION} to a new value.",
    )


def replaced_task(ingestion: Ingestion, record: LastApplied) -> ReplacedTask | None:
    """Return what the next attempt replaces, None if that is an attempt of the same spec, or nothing."""
    task = record.task
    if task is None or task.phase == "unrecorded":
        return None
    if task.phase == "submitting":
        return record.replaced
    is_retry = current(ingestion, record) is not None
    return None if is_retry else ReplacedTask(_digest_of(record), record.id, task, record.revision)


def may_be_interrupted(ingestion: Ingestion, record: LastApplied) -> bool:
    """True if Druid has to be asked whether it has the recorded task, which is one of another spec."""
    if ingestion.is_supervisor or record.task is None:
        return False
    return record.task.phase == "submitting" and current(ingestion, record) is None


def without_interrupted(ingestion: Ingestion, record: LastApplied, is_in_druid: bool) -> LastApplied:
    """Return such a record with what ran last, if that is known: the recorded task, or the one that it replaced."""
    if is_in_druid:
        return replace(with_task(record, phase="submitted"), replaced=None)
    last, here = record.replaced, {"type": ingestion.type, "spec": ingestion.document}
    if last is None or last.specified != digest(here):
        return record
    # The rest was not applied before the submission, but is removed if it was.
    specified = {**record.specified, **here}
    return replace(record, specified=specified, id=last.id, task=last.task, revision=last.revision, replaced=None)


def _digest_of(record: LastApplied) -> str:
    return digest({name: record.specified.get(name) for name in ("type", "spec")})
