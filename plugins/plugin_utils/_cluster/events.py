# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a reconcile: the Go operator's reasons, and the changed fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ROLLOUT_WARNINGS, WARNINGS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import ONLY_BLOCKS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import STALLED
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import (
    MAX_HIDDEN,
    digest_of_warning,
    hidden_warnings,
    shown_warnings,
    warning_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText, StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange

# One event names all objects of these: a new cluster has many.
_TOGETHER = {reasons.CREATE_SUCCEEDED: "created", reasons.DELETE_SUCCEEDED: "deleted"}


def done_texts(results: Iterable[StepResult[Step]]) -> tuple[EventText, ...]:
    """Return the events of successful writes."""
    steps = [result.step for result in results if result.is_done]
    shared = {reason: [step for step in steps if step.operation.reason == reason] for reason in _TOGETHER}
    together = {reason: found for reason, found in shared.items() if len(found) > 1}
    alone = (step.event for step in steps if step.operation.reason not in together)
    return (
        *(_done_together(reason, found) for reason, found in together.items()),
        *(event for event in alone if event is not None),
    )


def _done_together(reason: str, steps: Sequence[Step]) -> EventText:
    """Return the event for several steps; a message that is too long is shortened."""
    objects = ", ".join(f"{step.key.name}:*v1.{step.key.kind}" for step in steps)
    message = f"Successfully {_TOGETHER[reason]} {len(steps)} objects in namespace [{steps[0].namespace}]: {objects}"
    return EventText("Normal", reason, message)


def problem_texts(results: Iterable[StepResult[Step]], findings: Iterable[Finding]) -> tuple[EventText, ...]:
    """Return a warning for each failed write and each other problem, except skipped writes."""
    # The reason of a finding is that of its event.
    failed = (result for result in results if result.error and result.was_tried and result.reason is None)
    problems = (finding for finding in findings if finding.is_problem and finding.reason != reasons.APPLY_FAILED)
    return (
        *(
            EventText("Warning", reason, result.error or "")
            for result in failed
            if (reason := result.step.operation.reason_of_failure)
        ),
        *(EventText("Warning", problem.reason, problem.message) for problem in problems),
    )


def rollout_texts(change: StatusChange, complete: Collection[str]) -> Iterator[EventText]:
    """Yield an event for the end of a group's rollout, for the start of one, and for a stalled one.

    `complete` are the groups whose pods are available. A rollout also ends when its group is stopped or removed. A
    group for which others only wait has none.
    """
    before, after = (_started_rollout(each) for each in (change.before, change.after))
    if before.get("group") in complete and before.get("group") != after.get("group"):
        yield EventText("Normal", reasons.ROLLOUT_COMPLETED, f"Rollout of group {before.get('group')} is completed.")
    if after and before.get("group") != after.get("group"):
        pods = f"{after['pods']} pod{'' if after['pods'] == 1 else 's'}"
        because = f": {after['cause']}" if after.get("cause") else ""
        text = f"Rollout of group {after['group']} ({pods}) has started{because}."
        yield EventText("Normal", reasons.ROLLOUT_STARTED, text)
    stall = (change.after.get("rollout") or {}).get(STALLED)
    if stall and STALLED not in (change.before.get("rollout") or {}):
        yield EventText("Warning", reasons.ROLLOUT_STALLED, stall)


def _started_rollout(document: Mapping[str, Any]) -> Mapping[str, Any]:
    rollout: Mapping[str, Any] = document.get("rollout") or {}
    return {} if rollout.get(ONLY_BLOCKS) else rollout


def warning_texts(warnings: Iterable[str]) -> tuple[EventText, ...]:
    """Return a warning for each message about retained PVCs of a deleted cluster."""
    return tuple(EventText("Warning", reasons.PVCS_RETAINED, text) for text in warnings)


def new_warnings(change: StatusChange, plan: Plan) -> tuple[EventText, ...]:
    """Return an event for each warning that was not in the status before.

    A condition has the first warnings, and the status has the digests of the others. Warnings of the API server are
    not in the status: they are new if something was written, or the spec was changed.
    """
    # The CRD of the Go operator drops the conditions, so that any warning would seem to be new in each reconcile.
    is_known = not change.before or "conditions" in change.before
    is_other = any(of(change.before) != of(change.after) for of in (warning_messages, hidden_warnings))
    if not (plan.changes or (is_known and (is_other or change.is_new_generation))):
        return ()
    reported = {text for message in warning_messages(change.before).values() for text in shown_warnings(message)}
    reported |= {finding.message for finding in plan.findings}
    warnings = ((text, _condition(text, plan)) for text in change.warnings if text not in reported)
    new = ((text, kind) for text, kind in warnings if kind is None or not _was_hidden(text, kind, change))
    return tuple(EventText("Warning", _reason(kind), text) for text, kind in new)


def _was_hidden(warning: str, condition: str, change: StatusChange) -> bool:
    """True for a warning that its condition did not show before, but that was known.

    Where the digests of all are not known, as after an update of the operator, that is if the condition is the same.
    """
    recorded = hidden_warnings(change.before)
    if 0 < len(recorded) < MAX_HIDDEN:
        return digest_of_warning(warning) in recorded
    before, after = (warning_messages(each).get(condition) for each in (change.before, change.after))
    return before is not None and before == after


def _condition(warning: str, plan: Plan) -> str | None:
    """Return the type of the condition that a warning is in, None for one of the API server."""
    if warning in plan.rollout_warnings:
        return ROLLOUT_WARNINGS
    return WARNINGS if warning in plan.warnings else None


def _reason(condition: str | None) -> str:
    return reasons.ROLLOUT_WARNING if condition == ROLLOUT_WARNINGS else reasons.SPEC_WARNING
