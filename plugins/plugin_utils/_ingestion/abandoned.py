# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request that Druid has not answered in time: it may still be executing it, and shows the result later. Pure.

Druid takes up to 80 seconds to stop a supervisor, longer than one reconcile in the operator may wait. A repeated
request would wait for the first one, and would then stop the new supervisor again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    AbandonedRequest,
    LastApplied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

# Then Druid has lost the request, as when the Overlord was restarted.
REPEAT_AFTER = timedelta(seconds=120)


def with_abandoned(record: LastApplied, step: Step, now: datetime) -> LastApplied:
    """Return the record after the request of this step was abandoned."""
    return replace(record, abandoned=AbandonedRequest(_identity(step), timestamp(now)))


def without_repetition(plan: Plan, record: LastApplied, now: datetime) -> Plan:
    """Return the plan; if its first request to Druid is the abandoned one, without all that is not done before."""
    first = next((step for step in plan.steps if step.in_druid), None)
    last = record.abandoned
    if first is None or last is None or last.identity != _identity(first):
        return plan
    if seconds_since(last.at, now) >= REPEAT_AFTER.total_seconds():
        return plan
    finding = Finding(
        reasons.DRUID_UNREACHABLE,
        f"Druid has not answered the request to {first.title} in time ({last.at}), and does not show its result yet. "
        f"It is sent again {REPEAT_AFTER.total_seconds():.0f} s after that, in case Druid has lost it.",
    )
    kept = tuple(step for step in plan.steps if not (step.in_druid or step.saved))
    return replace(plan, steps=kept, findings=(finding, *plan.findings))


def _identity(step: Step) -> str:
    return digest([step.title, None if step.change is None else step.change.after])
