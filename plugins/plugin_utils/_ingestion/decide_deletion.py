# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a deletion, given what was read so far. Pure.

What the last applied record names is terminated, then the finalizer is removed; without a resource, the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, is_elsewhere
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Plan,
    SaveLastApplied,
    Step,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import other_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer

_DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
_REMEDY = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."


class Read(Enum):
    """What has to be read before the next decision."""

    RECORD = auto()
    DRUID = auto()
    PARENTS = auto()


@dataclass(frozen=True)
class Deletion:
    """Everything that the plan of a deletion depends on; None was not read yet.

    `record` and `siblings`, the other ingestions, are read together. `is_task_running`: False if the record has no
    task. `refusal` is why the Secrets may not be read. `problem` is why Druid could not be reached, or what failed
    there; it is lasting if the address or the Secret is deleted. `parent` is what is also being deleted, "" if nothing.
    With `is_reported`, only the status shows the record. `unconfirmed` are warnings about what only one place names.
    """

    ingestion: Ingestion
    has_resource: bool = True
    record: LastApplied | None = None
    siblings: tuple[Ingestion, ...] = ()
    is_task_running: bool | None = None
    refusal: Finding | None = None
    problem: Finding | None = None
    is_lasting: bool = False
    parent: str | None = None
    is_reported: bool = False
    unconfirmed: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        return f"the {'supervisor' if self.ingestion.is_supervisor else 'task'} of DruidIngestion {self.ingestion.name}"


def decide_deletion(deletion: Deletion) -> Plan | Read:
    """Return the plan, or what has to be read first."""
    ingestion = deletion.ingestion
    if deletion.has_resource and names.FINALIZER not in ingestion.finalizers:
        return _plan(deletion)
    if ingestion.retains:
        why = f"deletionPolicy Retain: {deletion.what} is left running."
        return _released(deletion, *((why,) if deletion.has_resource else ()))
    if deletion.record is None:
        return Read.RECORD
    if is_elsewhere(deletion.record, ingestion):
        return _in_another_druid(deletion, deletion.record)
    if not deletion.record.id:
        return _released(deletion)
    return _termination(deletion, deletion.record)


def _termination(deletion: Deletion, record: LastApplied) -> Plan | Read:
    own, retained = _own(deletion, record)
    problem = deletion.refusal or deletion.problem
    if problem is not None:
        return _without_druid(deletion, record, problem, retained)
    if record.task is None and not own:
        return _released(deletion, *retained)
    if deletion.is_task_running is None:
        return Read.DRUID
    steps = (*_terminations(record, own, deletion.is_task_running), _last_step(deletion))
    return _plan(deletion, *steps, warnings=retained)


def _terminations(record: LastApplied, supervisors: tuple[str, ...], is_task_running: bool) -> Iterator[Step]:
    yield from (Terminate("supervisor", each) for each in supervisors)
    if record.task is not None and is_task_running:
        yield Terminate("task", record.task.id)


def _own(deletion: Deletion, record: LastApplied) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that no other resource specifies, and a message for each of the others."""
    owners = {each: other_owner(deletion.ingestion, deletion.siblings, each) for each in record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} also specifies supervisor {each}: it is not terminated."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _without_druid(deletion: Deletion, record: LastApplied, problem: Finding, retained: tuple[str, ...]) -> Plan | Read:
    """Return the plan while nothing can be terminated: to retry, unless Druid or the parent is also deleted."""
    if not deletion.has_resource:
        return Plan(findings=(problem if problem is deletion.refusal else _with_remedy(problem),))
    if deletion.is_lasting:
        why = f"{problem.message} So {deletion.what} was not terminated: {record.id} may still run."
        return _released(deletion, *retained, why)
    if deletion.parent is None:
        return Read.PARENTS
    if deletion.parent:
        also = f"The {deletion.parent} is also being deleted: {record.id} was not terminated and may still run."
        return _released(deletion, f"{problem.message} {also}")
    return Plan(findings=(_with_remedy(problem), _DELETING))


def _with_remedy(problem: Finding) -> Finding:
    """Return the problem with the remedy for a deletion while Druid does not respond."""
    return replace(problem, message=f"{problem.message} {_REMEDY}")


def _in_another_druid(deletion: Deletion, record: LastApplied) -> Plan:
    if deletion.has_resource:
        what = f"{deletion.what[0].upper()}{deletion.what[1:]}"
        why = f"{what} runs in another Druid ({record.druid}) than the spec names, and is left running."
        return _released(deletion, why)
    message = (
        f"spec: the ingestion runs in another Druid ({record.druid}). Specify that one, or set deletionPolicy Retain "
        "to leave it running."
    )
    return Plan(findings=(Finding(reasons.INVALID_SPEC, message),))


def _released(deletion: Deletion, *why: str) -> Plan:
    """Return the plan that terminates nothing."""
    return _plan(deletion, _last_step(deletion), warnings=why)


def _last_step(deletion: Deletion) -> Step:
    return Finalizer(names.FINALIZER, is_set=False) if deletion.has_resource else SaveLastApplied(None)


def _plan(deletion: Deletion, *steps: Step, warnings: tuple[str, ...] = ()) -> Plan:
    return Plan(steps, (_DELETING,) if deletion.has_resource else (), (*warnings, *deletion.unconfirmed))
