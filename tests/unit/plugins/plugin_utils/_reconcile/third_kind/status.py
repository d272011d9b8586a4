# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions and events of a Note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    MIN_BACKOFF_SECONDS,
    condition,
    is_ready,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Completed,
    Masked,
    Reporting,
    StatusChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.act import Done
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.decide import (
    FINALIZER,
    Plan,
)


def _completed(done: Done, _check_mode: bool) -> Completed[Plan]:
    is_deleted = any(step.operation == "finalize" for step in done.plan.steps)
    return Completed(done.observed.resource, done.plan, is_deleted=is_deleted)


def _masker(done: Done) -> Masked:
    return masker_of([done.observed.resource]).text


def _status(done: Done, plan: Plan, now: datetime, _check_mode: bool, _masked: Masked) -> dict[str, Any]:
    finding = next(iter((*plan.problems, *plan.findings)), None)
    is_written = finding is None and not plan.steps
    text = (reasons.UP_TO_DATE, "It is written.") if is_written else (reasons.CHANGES_PENDING, "It is being written.")
    reason, message = (finding.reason, finding.message) if finding else text
    metadata, previous = done.observed.resource["metadata"], done.observed.resource.get("status") or {}
    conditions = [
        condition("Ready", is_written, reason, message),
        condition("Degraded", bool(plan.problems), reason, message),
    ]
    times = (previous.get("conditions") or (), metadata.get("generation"), now)
    return {"observedGeneration": metadata.get("generation"), "conditions": with_transition_times(conditions, *times)}


def _events(_done: Done, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
    yield from (EventText("Normal", "NoteWritten", f"Done: {step.title}.") for step in completed.plan.steps)
    if change.has_new_problems:
        yield from (EventText("Warning", each.reason, each.message) for each in completed.plan.problems)


def _requeue_after(document: Mapping[str, Any], _now: datetime, has_changed: bool) -> int | None:
    return MIN_BACKOFF_SECONDS if has_changed or not is_ready(document["conditions"]) else None


REPORTING = Reporting(
    finalizer=FINALIZER,
    transient=frozenset({reasons.APPLY_FAILED}),
    completed=_completed,
    masker=_masker,
    status=_status,
    events=_events,
    is_settled=is_ready,
    requeue_after=_requeue_after,
)
