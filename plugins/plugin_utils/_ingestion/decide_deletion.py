# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a deletion, given what was read so far. Pure.

What the last applied record names is terminated, then the finalizer is removed; without a resource, the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, is_elsewhere
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import other_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import FINALIZER, Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    SaveLastApplied,
    Step,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import DELETING, Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import DeletionReads

_REMEDY = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."


@dataclass(frozen=True)
class Found:
    """What was or will be submitted, and the other ingestions; `warnings` are about what is not believed."""

    record: LastApplied
    siblings: tuple[Ingestion, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """Whether the task of the record is running; False if it has none. `warnings` as above."""

    is_running: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unreached:
    """Why Druid could not be reached, or what failed there; lasting if the address or the Secret is deleted."""

    problem: Finding
    is_lasting: bool = False


@dataclass(frozen=True)
class Deletion:
    """What is known before anything is read.

    `refusal` is why the Secrets may not be read, `failure` what failed in Druid before this decision. `unconfirmed` are
    warnings about what is not believed, once it was read.
    """

    ingestion: Ingestion
    has_resource: bool = True
    refusal: Finding | None = None
    failure: Finding | None = None
    unconfirmed: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        return f"the {'supervisor' if self.ingestion.is_supervisor else 'task'} of DruidIngestion {self.ingestion.name}"

    def knowing(self, warnings: tuple[str, ...]) -> Deletion:
        """Return the deletion with further warnings."""
        return replace(self, unconfirmed=(*self.unconfirmed, *warnings))


def decide_deletion(deletion: Deletion, reads: DeletionReads) -> Plan:
    """Return the plan. Only what it depends on is read: a resource must be deletable although Druid was deleted."""
    ingestion = deletion.ingestion
    if deletion.has_resource and FINALIZER not in ingestion.finalizers:
        return _plan(deletion)
    if ingestion.retains:
        why = f"deletionPolicy Retain: {deletion.what} is left running."
        return _released(deletion, *((why,) if deletion.has_resource else ()))
    found = reads.found()
    deletion = deletion.knowing(found.warnings)
    if is_elsewhere(found.record, ingestion):
        return _in_another_druid(deletion, found.record)
    if not found.record.id:
        return _released(deletion)
    return _termination(deletion, reads, found)


def _termination(deletion: Deletion, reads: DeletionReads, found: Found) -> Plan:
    record, (own, retained) = found.record, _own(deletion, found)
    problem = deletion.refusal or deletion.failure
    if problem is not None:
        return _without_druid(deletion, reads, record, Unreached(problem), retained)
    if record.task is None and not own:
        return _released(deletion, *retained)
    task = reads.task(found)
    if isinstance(task, Unreached):
        return _without_druid(deletion, reads, record, task, retained)
    steps = (*_terminations(record, own, task.is_running), _last_step(deletion))
    return _plan(deletion.knowing(task.warnings), *steps, warnings=retained)


def _terminations(record: LastApplied, supervisors: tuple[str, ...], is_task_running: bool) -> Iterator[Step]:
    yield from (Terminate("supervisor", each) for each in supervisors)
    if record.task is not None and is_task_running:
        yield Terminate("task", record.task.id)


def _own(deletion: Deletion, found: Found) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that no other resource specifies, and a message for each of the others."""
    owners = {each: other_owner(deletion.ingestion, found.siblings, each) for each in found.record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} also specifies supervisor {each}: it is not terminated."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _without_druid(
    deletion: Deletion, reads: DeletionReads, record: LastApplied, unreached: Unreached, retained: tuple[str, ...]
) -> Plan:
    """Return the plan while nothing can be terminated: to retry, unless Druid or the parent is also deleted."""
    problem = unreached.problem
    if not deletion.has_resource:
        return Plan(findings=(problem if problem is deletion.refusal else _with_remedy(problem),))
    if unreached.is_lasting:
        why = f"{problem.message} So {deletion.what} was not terminated: {record.id} may still run."
        return _released(deletion, *retained, why)
    parent = reads.parent()
    if parent:
        also = f"The {parent} is also being deleted: {record.id} was not terminated and may still run."
        return _released(deletion, f"{problem.message} {also}")
    return Plan(findings=(_with_remedy(problem), DELETING))


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
    return Finalizer(FINALIZER, is_set=False) if deletion.has_resource else SaveLastApplied(None)


def _plan(deletion: Deletion, *steps: Step, warnings: tuple[str, ...] = ()) -> Plan:
    return Plan(steps, (DELETING,) if deletion.has_resource else (), (*warnings, *deletion.unconfirmed))
