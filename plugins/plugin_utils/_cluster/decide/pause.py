# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the user want hands off this cluster, and what waits meanwhile?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding

_MAX_SHOWN = 5


def pause(cluster: Cluster) -> Finding | None:
    """Return why nothing is written: the annotation of the Go operator, or spec.paused."""
    if cluster.annotations.get(names.IGNORED_ANNOTATION) == "true":
        message = f"The annotation {names.IGNORED_ANNOTATION} is set: nothing is changed until it is removed."
        return Finding(reasons.IGNORED, message, is_problem=False)
    if cluster.spec.get("paused"):
        return Finding(reasons.PAUSED, "spec.paused is set: nothing is changed until it is removed.", is_problem=False)
    return None


def suspended(plan: Plan, paused: Finding) -> Plan:
    """Return the plan without its steps: what it would change waits, and what is in the way of it is no problem yet."""
    obstacles = tuple(replace(finding, is_problem=False) for finding in plan.findings)
    waiting = _waiting(plan)
    if waiting is None:
        return Plan((), (paused, *obstacles), plan.warnings)
    return Plan((), (paused, waiting, *obstacles), (*plan.warnings, waiting.message))


def _waiting(plan: Plan) -> Finding | None:
    if not (plan.steps or plan.findings):
        return None
    changes = [f"{step.operation} {step.key}" for step in plan.steps]
    number = f"{len(changes)} change{' waits' if len(changes) == 1 else 's wait'}"
    waiting = [f"{number}: {_listed(changes, ', ')}."] if changes else []
    in_the_way = [finding.message for finding in plan.findings]
    obstacles = [f"In the way then: {_listed(in_the_way, ' | ')}"] if in_the_way else []
    return Finding(reasons.CHANGES_WAIT, " ".join(["Paused.", *waiting, *obstacles]), is_problem=False)


def _listed(texts: Collection[str], separator: str) -> str:
    shown = separator.join([*texts][:_MAX_SHOWN])
    return shown if len(texts) <= _MAX_SHOWN else f"{shown}{separator}and {len(texts) - _MAX_SHOWN} more"
