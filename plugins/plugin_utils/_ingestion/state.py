# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of a reconcile of an ingestion: what it read, what it decides on, and what it did. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import owners, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import FAILED, Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    Field,
    older_owners,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads
    from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Step


@dataclass(frozen=True)
class Observed(Surroundings[Ingestion]):
    """The surroundings, and the ConfigMap of the record. `record` is the ConfigMap if its record is believed."""

    config_map: Manifest | None = field(default=None, kw_only=True)
    record: Manifest | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class SupervisorState:
    """A supervisor: the change to its desired state, and its status (``payload`` of Druid's response)."""

    change: DruidChange
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.change.id

    @property
    def is_suspended(self) -> bool:
        """True when it is suspended now, regardless of the spec."""
        return bool((self.change.before or {}).get("suspended"))

    @property
    def is_resumed(self) -> bool:
        """True when it is suspended and should be resumed."""
        return self.is_suspended and not (self.change.after or {}).get("suspended")


@dataclass(frozen=True)
class TaskState:
    """A batch: its job, the current attempt, Druid's status of it, and the cause of a failure."""

    job: Job
    attempt: Attempt
    status: Mapping[str, Any] | None = None
    failure: str = ""

    @property
    def id(self) -> str:
        return self.attempt.task.id

    @property
    def has_failed(self) -> bool:
        """True when the last attempt failed and there is no other one; Druid may have deleted the task since."""
        return self.attempt.task.status == FAILED and self.attempt.action != "submit"


DruidState = SupervisorState | TaskState


@dataclass(frozen=True)
class Plan(plan.Plan["Step"]):
    """The plan of an ingestion."""

    @property
    def saved(self) -> tuple[LastApplied | None, ...]:
        """The records that the steps save, in order."""
        return tuple(record for step in self.steps for record in step.saved)


@dataclass(frozen=True)
class IngestionResult(plan.Completed[Plan]):
    """What a reconcile found and did; `failed_step` is the step that failed.

    `written` is the ConfigMap of the record as this reconcile has written it last.
    `terminated` are the ids of the supervisors and tasks that were terminated.
    `is_unanswered`: that step is a request which Druid may still be executing.
    `unknown_fields` are messages about fields that Druid has dropped in a change.
    `ingestion` is the parsed resource.
    """

    ingestion: Ingestion
    druid_state: DruidState | None = None
    observed: Observed = field(default_factory=Observed)
    written: Manifest | None = None
    failed_step: Step | None = None
    terminated: frozenset[str] = frozenset()
    is_unanswered: bool = False
    unknown_fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inputs:
    """The resource, what was observed in Kubernetes, and the reader of everything else.

    The rest follows, and is read when it is needed first. DruidError if Druid does not respond, or if the spec is
    invalid.
    """

    specified: Ingestion
    observed: Observed
    reads: IngestionReads = field(compare=False)

    @property
    def siblings(self) -> tuple[Ingestion, ...]:
        """The other ingestions."""
        return self.observed.siblings

    @cached_property
    def config_owners(self) -> Mapping[Field, str]:
        """The older resources that specify the configuration of the datasource, which this one does not own then."""
        return older_owners(self.specified, self.siblings)

    @cached_property
    def ingestion(self) -> Ingestion:
        """The resource without the configuration of the datasource that an older one owns."""
        return without_fields(self.specified, self.config_owners) if self.config_owners else self.specified

    @cached_property
    def _recorded(self) -> owners.Confirmed:
        return owners.recorded(self.observed.record, self.ingestion)

    @cached_property
    def record(self) -> LastApplied:
        """The last applied record, as far as it is known after a loss or an interruption."""
        record = record_check.recovered(self._recorded.record, self.ingestion)
        if record.task is None or not record_check.may_be_interrupted(self.ingestion, record):
            return record
        is_in_druid = self.reads.task_status(record.task.id) is not None
        return record_check.without_interrupted(self.ingestion, record, is_in_druid=is_in_druid)

    @cached_property
    def is_recorded(self) -> bool:
        """Whether the ConfigMap has the record."""
        found = self.observed.record
        if found is None or self.record != self._recorded.record:
            return False
        return record_check.is_written(found, self.ingestion)

    @cached_property
    def unconfirmed(self) -> tuple[str, ...]:
        """Warnings about what is not believed."""
        return (*self._recorded.warnings, *record_check.warnings(self.observed.config_map, self.ingestion))

    @cached_property
    def druid_state(self) -> DruidState:
        """The supervisor or the task."""
        return self.reads.state(self.ingestion, self.record)

    @cached_property
    def older_owner(self) -> str | None:
        """The name of the older resource that owns the supervisor, if there is one."""
        if not isinstance(self.druid_state, SupervisorState):
            return None
        has_own_ids = self.reads.has_own_ids(self.ingestion, self.siblings)
        return owners.older_owner(self.ingestion, self.siblings, self.druid_state.id, has_own_ids=has_own_ids)

    @cached_property
    def _is_unknown(self) -> bool:
        """True if it is unknown what ran, or if an older resource owns it: then nothing else is of interest."""
        is_unrecorded = isinstance(self.druid_state, TaskState) and self.druid_state.attempt.action == "unrecorded"
        return is_unrecorded or self.older_owner is not None

    @cached_property
    def left(self) -> tuple[str, ...]:
        """The supervisors in Druid that only the annotation of the resource names."""
        if self._is_unknown:
            return ()
        named = owners.unrecorded(self.ingestion, self.record, self.siblings)
        return tuple(each for each in named if self.reads.has_supervisor(each))

    @cached_property
    def datasource(self) -> tuple[DruidChange, ...]:
        """The changes of the configuration of the datasource, and the unchanged parts of it."""
        if self._is_unknown:
            return ()
        return self.reads.datasource(self.ingestion, self.record, self.siblings)
