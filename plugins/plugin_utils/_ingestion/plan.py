# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pass would do, as a value: writes in order, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.module_utils._spec.task_submission import Job
from ansible_collections.druidops.druid.plugins.plugin_utils._druid import step
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record

Converge = step.Converge


@dataclass(frozen=True)
class Reset:
    """Forget the offsets of a supervisor."""

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
class End:
    """Terminate a supervisor, or shut down a task."""

    kind: str
    id: str

    @property
    def title(self) -> str:
        return f"{'terminate' if self.kind == 'supervisor' else 'shut down'} {self.kind} {self.id}"


@dataclass(frozen=True)
class Remember:
    """Put down in the ConfigMap what Druid was given, or is about to be given; None: remove it.

    `made`: what Druid has made of that, where it is something else.
    """

    record: Record | None
    is_new: bool = False
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        verb = "remove" if self.record is None else "create" if self.is_new else "update"
        return f"{verb} ConfigMap with the applied spec"


@dataclass(frozen=True)
class Finalizer:
    """Set the finalizer, or take it off."""

    is_set: bool

    @property
    def title(self) -> str:
        return "set the finalizer" if self.is_set else "remove the finalizer"


Step = Converge | Reset | Submit | End | Remember | Finalizer


@dataclass(frozen=True)
class Plan:
    """All writes of a pass in their order, what is in the way, and remarks for the user."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_problem)
