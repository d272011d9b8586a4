# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The last applied spec, recorded in a ConfigMap, to detect fields that were removed from the spec.

For a batch the record also prevents a second submission of a task: it is saved before the submission, so that the next
reconcile knows the id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import API_VERSION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    KIND,
    Ingestion,
    record_labels,
    record_name,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

# Of a ConfigMap, 1 MiB (MaxSecretSize of Kubernetes), with some space for the state.
MAX_BYTES = 2**20 - 2**14
_MAX_INDENTED = 2**17
# What a document that others have written can raise, also one of a depth that cannot be parsed.
EDITED = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)
KEYS = SPEC_KEY, HASH_KEY, STATE_KEY = "spec.json", "sha256", "state.json"
Phase = Literal["submitting", "submitted", "ended", "unrecorded"]


@dataclass(frozen=True)
class SubmittedTask:
    """An attempt of a batch: its id in Druid, number, phase, and final status.

    `retry` is the value of the annotation at that time. Phase `unrecorded`: the record was lost (``record_check``).
    """

    id: str
    attempt: int = 1
    phase: Phase = "submitting"
    status: str = ""
    retry: str = ""


@dataclass(frozen=True)
class ReplacedTask:
    """What a batch submitted before the current task: the digest of its type and spec, and its part of the record."""

    specified: str
    id: str
    task: SubmittedTask
    revision: int


@dataclass(frozen=True)
class AbandonedRequest:
    """A request whose response the run could not wait for: what identifies it, and when it was abandoned."""

    identity: str
    at: str


@dataclass(frozen=True)
class LastApplied:
    """`specified` is everything that was applied, `id` the supervisor or the first attempt.

    `former` are previous supervisors that may not be terminated yet; `druid` names the Druid that has them. `revision`
    counts the batch documents (type and spec) that were submitted, so that one which is applied again after another one
    runs again. It is part of the id, so the same revision is never submitted twice. `replaced` is kept until Druid has
    the task (``record_check``). `abandoned` is the last request, unless Druid has answered it.
    """

    specified: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    task: SubmittedTask | None = None
    former: tuple[str, ...] = ()
    # the applied spec is the same in any Druid
    druid: str = field(default="", compare=False)
    revision: int = 0
    replaced: ReplacedTask | None = None
    abandoned: AbandonedRequest | None = None

    @property
    def supervisors(self) -> tuple[str, ...]:
        """The ids of all supervisors that may exist, the last applied one at the end."""
        return self.former if self.task or not self.id else (*self.former, self.id)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the task and of the one that it replaces."""
        replaced = self.replaced.task if self.replaced else None
        return tuple(each.id for each in (self.task, replaced) if each is not None)

    @property
    def is_empty(self) -> bool:
        """True when nothing was recorded."""
        return not (self.id or self.druid)

    @property
    def hash(self) -> str:
        return digest(self.specified) if self.specified else ""


def read_last_applied(config_map: Manifest | None, ingestion: Ingestion) -> LastApplied:
    """Return the record in the ConfigMap, or else the Go operator's record in the status of the resource.

    It is believed as it is: ``record_check.believed`` decides about a ConfigMap.
    """
    if config_map is None or not is_own(config_map, ingestion):
        return _of_go_operator(ingestion)
    data = config_map.get("data") or {}
    try:
        specified, state = json.loads(data[SPEC_KEY]), json.loads(data[STATE_KEY])
        task = SubmittedTask(**state["task"]) if state.get("task") else None
        former, druid = tuple(map(str, state.get("former") or ())), str(state.get("druid") or "")
        last, request = _replaced(state.get("replaced")), state.get("abandoned")
        abandoned = AbandonedRequest(**request) if request else None
        record = LastApplied(dict(specified), str(state["id"]), task, former, druid, _revision(state), last, abandoned)
        return _of_this_druid(record, ingestion)
    except EDITED:
        # the ConfigMap was edited: treat it as missing
        return LastApplied()


def _revision(state: Mapping[str, Any]) -> int:
    """Return the revision; an older version, which recorded none, had one id for each document: that of revision 1."""
    revision = state.get("revision")
    return int(bool(state.get("task"))) if revision is None else int(revision)


def _replaced(state: Mapping[str, Any] | None) -> ReplacedTask | None:
    return None if state is None else ReplacedTask(**{**state, "task": SubmittedTask(**state["task"])})


def _of_this_druid(record: LastApplied, ingestion: Ingestion) -> LastApplied:
    """Return the valid part of a record if the resource now names another Druid: what runs in the former one is neither
    terminated nor removed. A completed batch does not run again.
    """
    if not is_elsewhere(record, ingestion):
        return record
    if record.task is None:
        return LastApplied(druid=record.druid, revision=record.revision)
    task_of = {name: value for name, value in record.specified.items() if name in ("type", "spec")}
    return replace(record, specified=task_of, former=())


def is_elsewhere(record: LastApplied, ingestion: Ingestion) -> bool:
    """True when the record belongs to another Druid than the spec names now."""
    here = ingestion.target
    return bool(here and record.druid) and record.druid != here


def of_status(ingestion: Ingestion) -> LastApplied:
    """Return the record from the status: the ConfigMap may be deleted before the resource, which waits for Druid.

    This happens in a foreground deletion, and with a namespace. Without ``appliedHash`` nothing was applied.
    """
    identity = str(ingestion.status.get("taskId") or "")
    if not (identity and ingestion.status.get("appliedHash")):
        return LastApplied()
    task = None if ingestion.is_supervisor else SubmittedTask(identity, phase="submitted")
    revision = int(ingestion.status.get("appliedRevision") or task is not None)
    return LastApplied({}, identity, task, (), str(ingestion.status.get("appliedTo") or ""), revision)


def to_config_map(record: LastApplied, ingestion: Ingestion) -> Manifest:
    """Return the ConfigMap; the resource owns it."""
    task = asdict(record.task) if record.task else None
    state = {
        "id": record.id,
        "task": task,
        "former": record.former,
        "druid": record.druid,
        "revision": record.revision,
        **({"replaced": asdict(record.replaced)} if record.replaced else {}),
        **({"abandoned": asdict(record.abandoned)} if record.abandoned else {}),
    }
    metadata: dict[str, Any] = {
        "name": record_name(ingestion.name),
        "namespace": ingestion.namespace,
        "labels": record_labels(),
    }
    if ingestion.uid:
        metadata["ownerReferences"] = [_owner(ingestion, ingestion.uid)]
    data = {
        SPEC_KEY: _spec_text(record.specified),
        HASH_KEY: record.hash,
        STATE_KEY: json.dumps(state, sort_keys=True),
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _spec_text(specified: Mapping[str, Any]) -> str:
    """Return the text of a spec, with indentation for a reader unless it is large."""
    text = json.dumps(specified, sort_keys=True, indent=1, ensure_ascii=False)
    return text if len(text) <= _MAX_INDENTED else json.dumps(specified, sort_keys=True, ensure_ascii=False)


def size_of(config_map: Manifest) -> int:
    """Return the bytes that Kubernetes counts in a ConfigMap."""
    return sum(len(key) + len(text.encode("utf-8", "surrogatepass")) for key, text in config_map["data"].items())


def former_datasource(record: LastApplied) -> str | None:
    """Return the datasource of the last applied spec."""
    return datasource_of(record.specified.get("spec") or {})


def with_task(record: LastApplied, **changes: Any) -> LastApplied:
    """Return the record with a change of its task."""
    return record if record.task is None else replace(record, task=replace(record.task, **changes))


def is_ours(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when the ConfigMap is the record of this ingestion, or of a previous one of the same name.

    The record of a resource does not belong to an ingestion without a resource of the same name.
    """
    owners = _owners(config_map)
    if any(owner.get("kind") == KIND and owner.get("name") == ingestion.name for owner in owners):
        return ingestion.uid is not None
    labels = config_map["metadata"].get("labels") or {}
    return not owners and record_labels().items() <= labels.items()


def is_own(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when it is the record of this ingestion, not of a deleted one of the same name."""
    owners = _owners(config_map)
    is_same = not owners or any(owner.get("uid") == ingestion.uid for owner in owners)
    return is_same and is_ours(config_map, ingestion)


def resource_of(config_map: Manifest) -> str | None:
    """Return the name of the resource that owns the record, None without a resource."""
    owners = (owner for owner in _owners(config_map) if owner.get("kind") == KIND)
    return next((str(owner["name"]) for owner in owners), None)


def _owners(config_map: Manifest) -> list[dict[str, Any]]:
    return list(config_map["metadata"].get("ownerReferences") or ())


def _owner(ingestion: Ingestion, uid: str) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": ingestion.name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _of_go_operator(ingestion: Ingestion) -> LastApplied:
    """Return the record in its status, which it writes after Druid's response (apache/druid-operator 5824d64)."""
    task, text = ingestion.status.get("taskId"), ingestion.status.get("currentIngestionSpec.json")
    if not (task and text):
        return LastApplied()
    try:
        document = json.loads(text)
    except EDITED:
        return LastApplied()
    specified = {"type": ingestion.type, "spec": document}
    if ingestion.is_supervisor:
        return LastApplied(specified, task)
    return LastApplied(specified, task, SubmittedTask(task, phase="submitted"), revision=1)
