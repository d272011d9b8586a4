# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a deletion, given what was read so far. Pure.

What the last applied record names is terminated, then the finalizer is removed; without a resource, the record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import (
    is_lasting,
    terminating_parent,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_elsewhere,
    of_status,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    Confirmed,
    confirmed,
    noted_record,
    only_named,
    other_owner,
    recorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import FINALIZER, Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Observed, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    SaveLastApplied,
    Step,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import DELETING, Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads

_REMEDY = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."


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


def decide_deletion(deletion: Deletion, reads: IngestionReads) -> Plan:
    """Return the plan. Only what it depends on is read: a resource must be deletable although Druid was deleted."""
    ingestion = deletion.ingestion
    if deletion.has_resource and FINALIZER not in ingestion.finalizers:
        return _plan(deletion)
    if ingestion.retains:
        why = f"deletionPolicy Retain: {deletion.what} is left running."
        return _released(deletion, *((why,) if deletion.has_resource else ()))
    observed = reads.observe()
    record, warnings = _record(deletion, observed)
    deletion = deletion.knowing(warnings)
    if is_elsewhere(record, ingestion):
        return _in_another_druid(deletion, record)
    if not record.id:
        return _released(deletion)
    own, retained = _own(deletion, record, observed.siblings)
    problem = deletion.refusal or deletion.failure
    if problem is None and record.task is None and not own:
        return _released(deletion, *retained)
    if problem is None:
        try:
            return _termination(deletion, reads, record, own, retained)
        except DruidError as error:
            problem = error_finding(error)
    return _without_druid(deletion, reads, record, problem, retained)


def _is_reported(deletion: Deletion, observed: Observed) -> bool:
    """Return whether only the status, or the annotation, can name what runs: others may write it."""
    return deletion.has_resource and observed.record is None


def _record(deletion: Deletion, observed: Observed) -> Confirmed:
    """Return the record; of a resource that has none, that of its status, or of its annotation."""
    ingestion = deletion.ingestion
    record, unconfirmed = recorded(observed.record, ingestion)
    if _is_reported(deletion, observed) and record.is_empty:
        record, _also = confirmed(of_status(ingestion), ingestion)
        last = noted_record(ingestion)
        # the annotation is written before a submission, the status after it
        record = last if last.id and last.revision >= record.revision else record
    return Confirmed(record, (*unconfirmed, *record_check.warnings(observed.config_map, ingestion)))


def _termination(
    deletion: Deletion, reads: IngestionReads, record: LastApplied, own: tuple[str, ...], retained: tuple[str, ...]
) -> Plan:
    """Return the plan that terminates these supervisors, and the task of the record; DruidError without Druid.

    A task that only the status names must be of this resource.
    """
    reads.connect()
    steps: list[Step] = [Terminate("supervisor", each) for each in own]
    status = (reads.task_status(record.task.id) if record.task else None) or {}
    if record.task is not None and status.get("statusCode") == batch.RUNNING:
        task, ingestion = record.task.id, deletion.ingestion
        is_own = record_check.is_of_resource(ingestion, task, status, record.revision)
        if is_own or not _is_reported(deletion, reads.observe()):
            steps.append(Terminate("task", task))
        else:
            deletion = deletion.knowing((only_named(f"task {task}"),))
    return _plan(deletion, *steps, _last_step(deletion), warnings=retained)


def _own(
    deletion: Deletion, record: LastApplied, siblings: tuple[Ingestion, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that no other resource specifies, and a message for each of the others."""
    owners = {each: other_owner(deletion.ingestion, siblings, each) for each in record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} also specifies supervisor {each}: it is not terminated."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _without_druid(
    deletion: Deletion, reads: IngestionReads, record: LastApplied, problem: Finding, retained: tuple[str, ...]
) -> Plan:
    """Return the plan while nothing can be terminated: to retry, unless Druid or the parent is also deleted."""
    if not deletion.has_resource:
        return Plan(findings=(problem if problem is deletion.refusal else _with_remedy(problem),))
    if is_lasting(problem, reads.observe()):
        why = f"{problem.message} So {deletion.what} was not terminated: {record.id} may still run."
        return _released(deletion, *retained, why)
    if parent := terminating_parent(reads):
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
