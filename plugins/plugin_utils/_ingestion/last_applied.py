# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid was given last, in a ConfigMap: what is dropped from a specification is noticed by it.

For a batch it is also the memory that keeps a task from being submitted twice: what is going to be submitted is put
down before, so that whoever finds it knows the id to ask Druid for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.target import target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.digest import digest

SPEC_KEY, HASH_KEY, STATE_KEY = "spec.json", "sha256", "state.json"
Phase = Literal["submitting", "submitted", "ended"]


@dataclass(frozen=True)
class SubmittedTask:
    """An attempt of a batch: its id in Druid, its number, how far it is known to be, and how it has ended.

    `retry` is the annotation's value at that time.
    """

    id: str
    attempt: int = 1
    phase: Phase = "submitting"
    status: str = ""
    retry: str = ""


@dataclass(frozen=True)
class LastApplied:
    """`specified` is all that was given, `id` the supervisor or the first attempt.

    `former` are the supervisors that were described before, and may not be ended yet; `druid` is where all this is.
    """

    specified: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    task: SubmittedTask | None = None
    former: tuple[str, ...] = ()
    # what was given is the same wherever it is
    druid: str = field(default="", compare=False)

    @property
    def supervisors(self) -> tuple[str, ...]:
        """The ids of all supervisors that there may be, the one that was given last at the end."""
        return self.former if self.task or not self.id else (*self.former, self.id)

    @property
    def hash(self) -> str:
        return digest(self.specified) if self.specified else ""


def read_last_applied(config_map: Manifest | None, resource: Mapping[str, Any]) -> LastApplied:
    """Return what the ConfigMap says, or else what the Go operator has put into the status of the resource."""
    if config_map is None or not is_own(config_map, Ingestion.from_resource(resource)):
        return _of_go_operator(resource)
    data = config_map.get("data") or {}
    try:
        specified, state = json.loads(data[SPEC_KEY]), json.loads(data[STATE_KEY])
        task = SubmittedTask(**state["task"]) if state.get("task") else None
        former, druid = tuple(map(str, state.get("former") or ())), str(state.get("druid") or "")
        return _of_this_druid(LastApplied(dict(specified), str(state["id"]), task, former, druid), resource)
    except (AttributeError, KeyError, TypeError, ValueError):
        # somebody has edited it: as if it were not there
        return LastApplied()


def _of_this_druid(record: LastApplied, resource: Mapping[str, Any]) -> LastApplied:
    """Return what counts of a record where the resource is about another Druid by now: nothing is ended or taken away
    there that was given to the former one. A batch that has run is not run again.
    """
    if not is_elsewhere(record, Ingestion.from_resource(resource)):
        return record
    if record.task is None:
        return LastApplied(druid=record.druid)
    task_of = {name: value for name, value in record.specified.items() if name in ("type", "spec")}
    return replace(record, specified=task_of, former=())


def is_elsewhere(record: LastApplied, ingestion: Ingestion) -> bool:
    """True when it was given to another Druid than the ingestion is about now."""
    here = target(ingestion)
    return bool(here and record.druid) and record.druid != here


def of_status(resource: Mapping[str, Any]) -> LastApplied:
    """Return what the status tells of the record: it may be gone before the resource, which waits for Druid.

    That is how a namespace goes, and a deletion in the foreground. Without ``appliedHash`` Druid was given nothing.
    """
    status = resource.get("status") or {}
    identity = str(status.get("taskId") or "")
    if not (identity and status.get("appliedHash")):
        return LastApplied()
    is_supervisor = Ingestion.from_resource(resource).is_supervisor
    task = None if is_supervisor else SubmittedTask(identity, phase="submitted")
    return LastApplied({}, identity, task, druid=str(status.get("appliedTo") or ""))


def to_config_map(record: LastApplied, ingestion: Ingestion) -> Manifest:
    """Return the ConfigMap; the resource owns it."""
    task = asdict(record.task) if record.task else None
    state = {"id": record.id, "task": task, "former": record.former, "druid": record.druid}
    metadata: dict[str, Any] = {
        "name": names.record_name(ingestion.name),
        "namespace": ingestion.namespace,
        "labels": names.labels(),
    }
    if ingestion.uid:
        metadata["ownerReferences"] = [_owner(ingestion, ingestion.uid)]
    data = {
        SPEC_KEY: json.dumps(record.specified, sort_keys=True, indent=1, ensure_ascii=False),
        HASH_KEY: record.hash,
        STATE_KEY: json.dumps(state, sort_keys=True),
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def with_task(record: LastApplied, **changes: Any) -> LastApplied:
    """Return the record with a change of its task."""
    return record if record.task is None else replace(record, task=replace(record.task, **changes))


def is_ours(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when the ConfigMap of that name is the record of this ingestion, or of one of its name before.

    One that is described by variables has no part in the record of a resource, although the name is the same.
    """
    owners = _owners(config_map)
    if any(owner.get("kind") == names.KIND and owner.get("name") == ingestion.name for owner in owners):
        return ingestion.uid is not None
    labels = config_map["metadata"].get("labels") or {}
    return not owners and names.labels().items() <= labels.items()


def is_own(config_map: Manifest, ingestion: Ingestion) -> bool:
    """True when it is the record of this very ingestion: one that was recreated has done nothing yet."""
    owners = _owners(config_map)
    is_same = not owners or any(owner.get("uid") == ingestion.uid for owner in owners)
    return is_same and is_ours(config_map, ingestion)


def resource_of(config_map: Manifest) -> str | None:
    """Return the name of the resource that the record belongs to, None when it was written by variables."""
    owners = (owner for owner in _owners(config_map) if owner.get("kind") == names.KIND)
    return next((str(owner["name"]) for owner in owners), None)


def _owners(config_map: Manifest) -> list[dict[str, Any]]:
    return list(config_map["metadata"].get("ownerReferences") or ())


def _owner(ingestion: Ingestion, uid: str) -> dict[str, Any]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "name": ingestion.name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _of_go_operator(resource: Mapping[str, Any]) -> LastApplied:
    """Return what its status says, which it writes once Druid has answered (apache/druid-operator 5824d64)."""
    status, kind = resource.get("status") or {}, Ingestion.from_resource(resource).type
    task, text = status.get("taskId"), status.get("currentIngestionSpec.json")
    if not (task and text):
        return LastApplied()
    try:
        document = json.loads(text)
    except ValueError:
        return LastApplied()
    specified = {"type": kind, "spec": document}
    is_supervisor = Ingestion.from_resource(resource).is_supervisor
    return LastApplied(specified, task, None if is_supervisor else SubmittedTask(task, phase="submitted"))
