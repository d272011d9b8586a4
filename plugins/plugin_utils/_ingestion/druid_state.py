# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of the supervisor or the task in Druid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change, Resource
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import DesiredSupervisor
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_submission import Job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import FAILED, Attempt


@dataclass(frozen=True)
class SupervisorState:
    """A supervisor: desired spec, change, and status (``payload`` of Druid's response)."""

    desired: DesiredSupervisor
    resource: Resource
    change: Change
    payload: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.desired.id

    @property
    def is_suspended(self) -> bool:
        """True when it is suspended now, whatever the spec says."""
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
