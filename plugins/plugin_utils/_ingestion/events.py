# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The events of a reconcile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Finalizer,
    Plan,
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText

_CHANGES: Mapping[str, str] = {
    SUPERVISOR: reasons.SUPERVISOR_UPDATED,
    COMPACTION: reasons.DATASOURCE_CONFIG_UPDATED,
    RETENTION_RULES: reasons.DATASOURCE_CONFIG_UPDATED,
}
_TERMINATIONS: Mapping[str, str] = {"supervisor": reasons.SUPERVISOR_TERMINATED, "task": reasons.TASK_SHUT_DOWN}
_OTHERS: Mapping[type[Step], str] = {Reset: reasons.OFFSETS_RESET, Submit: reasons.TASK_SUBMITTED}


def of_steps(steps: Iterable[Step]) -> list[EventText]:
    """Return one event per change in Druid, without the record and the finalizer."""
    done = (step for step in steps if not isinstance(step, Finalizer | SaveLastApplied))
    return [EventText("Normal", _reason(step), f"Done: {step.title}.") for step in done]


def _reason(step: Step) -> str:
    if isinstance(step, DruidChange):
        return _CHANGES[step.kind]
    return _TERMINATIONS[step.kind] if isinstance(step, Terminate) else _OTHERS[type(step)]


def of_problems(plan: Plan) -> list[EventText]:
    """Return a warning for each problem."""
    return [EventText("Warning", each.reason, each.message) for each in plan.problems]


def of_warnings(warnings: Iterable[str], *, is_gone: bool) -> list[EventText]:
    """Return the warnings for the user; of a deleted resource those about what may still run."""
    reason = reasons.TASKS_ORPHANED if is_gone else reasons.SPEC_WARNING
    return [EventText("Warning", reason, text) for text in warnings]


def are_news(steps: Iterable[Step], previous: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """True when the warnings are new: the spec changed, or a step was executed."""
    return any(steps) or previous.get("observedGeneration") != document.get("observedGeneration")
