# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps in order, and findings. Each step is data; ``act`` carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer


@dataclass(frozen=True)
class Reset:
    """Reset the offsets of a supervisor."""

    id: str

    @property
    def title(self) -> str:
        return f"reset the offsets of supervisor {self.id}"


@dataclass(frozen=True)
class Submit:
    """Submit an attempt of a batch."""

    job: Job
    attempt: int

    @property
    def title(self) -> str:
        return f"submit task {self.job.task_id(self.attempt)}"


@dataclass(frozen=True)
class Terminate:
    """Terminate a supervisor, or shut down a task."""

    kind: str
    id: str

    @property
    def title(self) -> str:
        return f"{'terminate' if self.kind == 'supervisor' else 'shut down'} {self.kind} {self.id}"


@dataclass(frozen=True)
class SaveLastApplied:
    """Save the applied spec, or the one about to be applied, in the ConfigMap; None: delete the ConfigMap.

    `normalized` are digests of what Druid normalized.
    """

    record: LastApplied | None
    is_new: bool = False
    normalized: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        verb = "remove" if self.record is None else "create" if self.is_new else "update"
        return f"{verb} ConfigMap with the applied spec"


Step = DruidChange | Reset | Submit | Terminate | SaveLastApplied | Finalizer


@dataclass(frozen=True)
class Plan(plan.Plan[Any]):
    """The plan of an ingestion."""

    @property
    def saved(self) -> tuple[LastApplied | None, ...]:
        """The records that the steps save, in order."""
        return tuple(step.record for step in self.steps if isinstance(step, SaveLastApplied))
