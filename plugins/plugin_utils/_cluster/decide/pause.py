# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What waits while the user wants hands off a cluster."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._listed import listed


def suspended(plan: Plan, paused: Finding) -> Plan:
    """Return the plan without its steps: what it would change waits, and what is in the way of it is no problem yet."""
    obstacles = tuple(replace(finding, is_problem=False) for finding in plan.findings)
    waiting = _waiting(plan)
    if waiting is None:
        return Plan((), (paused, *obstacles), plan.warnings)
    return Plan((), (paused, waiting, *obstacles), (*plan.warnings, waiting.message))


def _waiting(plan: Plan) -> Finding | None:
    if not (plan.changes or plan.findings):
        return None
    changes = [f"{step.operation} {step.key}" for step in plan.steps]
    changes += [step.title for step in plan.in_druid]
    number = f"{len(changes)} change{' waits' if len(changes) == 1 else 's wait'}"
    waiting = [f"{number}: {listed(changes)}."] if changes else []
    in_the_way = [finding.message for finding in plan.findings]
    obstacles = [f"In the way then: {listed(in_the_way, ' | ')}"] if in_the_way else []
    return Finding(reasons.CHANGES_WAIT, " ".join(["Paused.", *waiting, *obstacles]), is_problem=False)
