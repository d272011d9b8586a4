# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a resource that describes one object in a Druid. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import ObjectState
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    degraded_condition,
    ready_and_progressing,
    stalled_condition,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    first_finding,
    joined_messages,
)

# Reasons of Ready that end by themselves.
_PASSING = reasons.TRANSIENT_OF_OBJECT | {reasons.LOADING, reasons.DELETING}


def status(
    item: DruidObject,
    state: ObjectState | None,
    findings: Sequence[Finding],
    previous: Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    """Return the whole status; what Druid has stays as it was if it was not read."""
    problems = [finding for finding in findings if finding.is_problem]
    ready, progressing = _ready(state, findings, problems)
    degraded = degraded_condition((problems[0].reason, joined_messages(problems)) if problems else None)
    current = [ready, progressing, degraded, *stalled_condition(ready, _PASSING)]
    kept = {} if state else {name: value for name, value in previous.items() if name != "conditions"}
    return {
        **kept,
        **(state.fields if state else {}),
        "observedGeneration": item.generation or 0,
        "conditions": with_transition_times(current, previous.get("conditions") or (), item.generation, now),
    }


def _ready(
    state: ObjectState | None, findings: Sequence[Finding], problems: Sequence[Finding]
) -> tuple[Condition, Condition]:
    """Return the conditions Ready and Progressing."""
    if problems:
        return ready_and_progressing(False, problems[0].reason, joined_messages(problems))
    if (pending := first_finding(findings, reasons.DELETING, reasons.CHANGES_PENDING)) is not None:
        return ready_and_progressing(False, pending.reason, pending.message)
    if state is None:
        return ready_and_progressing(False, reasons.PAUSED, "The state in Druid was not read.")
    what = f"{state.change.what[0].upper()}{state.change.what[1:]}"
    if state.change.changed or state.pending:
        text = state.pending or f"{what} is not as specified yet."
        return ready_and_progressing(False, reasons.LOADING, text, in_progress=True)
    return ready_and_progressing(True, reasons.APPLIED, f"{what} is as specified.")
