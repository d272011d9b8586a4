# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pending changes of a paused cluster."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding, pending_changes
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def without_steps(plan: Plan, paused: Finding) -> Plan:
    """Return the plan without its steps: they become pending changes, and findings are not problems."""
    blockers = tuple(replace(finding, is_problem=False) for finding in plan.findings)
    pending, rollout = _pending(plan), plan.rollout_warnings
    if pending is None:
        return Plan((), (paused, *blockers), plan.warnings, rollout_warnings=rollout)
    return Plan((), (paused, pending, *blockers), (*plan.warnings, pending.message), rollout_warnings=rollout)


def _pending(plan: Plan) -> Finding | None:
    if not (plan.changes or plan.findings):
        return None
    changes = [f"{step.operation} {step.key}{' (destructive)' if step.is_destructive else ''}" for step in plan.steps]
    changes += [step.title for step in plan.in_druid]
    pending = [pending_changes(changes)] if changes else []
    blocking = [finding.message for finding in plan.findings]
    blockers = [f"Blocked by: {join_limited(blocking, ' | ')}"] if blocking else []
    return Finding(reasons.CHANGES_PENDING, " ".join(["Paused.", *pending, *blockers]), is_problem=False)
