# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the events about a pass say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Converge,
    DatasourceConfigChange,
    Finalizer,
    Plan,
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import degraded
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText

_REASONS: Mapping[type[Step], str] = {
    Converge: reasons.SUPERVISOR_UPDATED,
    DatasourceConfigChange: reasons.DATASOURCE_CONFIG_UPDATED,
    Reset: reasons.OFFSETS_RESET,
    Submit: reasons.TASK_SUBMITTED,
}
_TERMINATIONS = {"supervisor": reasons.SUPERVISOR_TERMINATED, "task": reasons.TASK_SHUT_DOWN}


def of_steps(steps: Iterable[Step]) -> list[EventText]:
    """Return one event per thing that was done in Druid; our own bookkeeping is no news."""
    done = (step for step in steps if not isinstance(step, Finalizer | SaveLastApplied))
    return [EventText("Normal", _reason(step), f"Done: {step.title}.") for step in done]


def _reason(step: Step) -> str:
    return _TERMINATIONS[step.kind] if isinstance(step, Terminate) else _REASONS[type(step)]


def of_problems(plan: Plan, previous: Mapping[str, Any], document: Mapping[str, Any]) -> list[EventText]:
    """Return a warning for each problem, once it has become one."""
    if degraded(previous) == degraded(document):
        return []
    return [EventText("Warning", each.reason, each.message) for each in plan.problems]


def of_warnings(warnings: Iterable[str], *, is_gone: bool) -> list[EventText]:
    """Return what the author of the resource should know; of one that goes, what of it may run on."""
    reason = reasons.TASKS_ORPHANED if is_gone else reasons.SPEC_WARNING
    return [EventText("Warning", reason, text) for text in warnings]


def are_news(steps: Iterable[Step], previous: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """True when warnings have not been told yet: the specification is new, or something was done just now."""
    return any(steps) or previous.get("observedGeneration") != document.get("observedGeneration")
