# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of an ingestion read in Kubernetes and in Druid, decided, and did. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import FAILED, Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan


@dataclass(frozen=True)
class Observed:
    """The ConfigMap of the record, the Druid resource with its Services, the Secrets, the other ingestions.

    `record` is the ConfigMap if its record is believed.
    """

    config_map: Manifest | None = None
    record: Manifest | None = None
    cluster: Manifest | None = None
    services: tuple[Manifest, ...] = ()
    secrets: Mapping[SecretKey, Manifest | None] = field(default_factory=dict, repr=False)
    siblings: tuple[Ingestion, ...] = ()


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
class Plan(plan.Plan[Any]):
    """The plan of an ingestion. The plan of a task also has the write of the resource."""

    @property
    def saved(self) -> tuple[LastApplied | None, ...]:
        """The records that the steps save, in order."""
        return tuple(record for step in self.steps for record in step.saved)


@dataclass(frozen=True)
class Reconciled(plan.Completed[Plan]):
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
    failed_step: Any = None
    terminated: frozenset[str] = frozenset()
    is_unanswered: bool = False
    unknown_fields: tuple[str, ...] = ()
