# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision about an ingestion is based on: what was observed, and what follows from it and from Druid. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange, Normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import record_check, supervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource_owner import (
    Field,
    older_owners,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, read_normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconciled import (
    DruidState,
    Observed,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads


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
    def _recorded(self) -> supervisor.Confirmed:
        return supervisor.recorded(self.observed.record, self.ingestion)

    @cached_property
    def normalized(self) -> Normalized:
        """Digests of what Druid normalized."""
        return read_normalized(self.observed.record, self.ingestion)

    @cached_property
    def record(self) -> LastApplied:
        """The last applied record, as far as it is known after a loss or an interruption."""
        record = record_check.recovered(self._recorded.record, self.ingestion)
        if record.task is None or not record_check.may_be_interrupted(self.ingestion, record):
            return record
        is_in_druid = self.reads.has_task(record.task.id)
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
        return self.reads.state(self.ingestion, self.record, self.normalized)

    @cached_property
    def older_owner(self) -> str | None:
        """The name of the older resource that owns the supervisor, if there is one."""
        if not isinstance(self.druid_state, SupervisorState):
            return None
        has_own_ids = self.reads.has_own_ids(self.ingestion, self.siblings)
        return supervisor.older_owner(self.ingestion, self.siblings, self.druid_state.id, has_own_ids=has_own_ids)

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
        named = supervisor.unrecorded(self.ingestion, self.record, self.siblings)
        return tuple(each for each in named if self.reads.has_supervisor(each))

    @cached_property
    def datasource(self) -> tuple[DruidChange, ...]:
        """The changes of the configuration of the datasource, and the unchanged parts of it."""
        if self._is_unknown:
            return ()
        return self.reads.datasource(self.ingestion, self.record, self.normalized, self.siblings)
