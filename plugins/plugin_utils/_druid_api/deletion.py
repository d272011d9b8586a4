# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The deletion of what a resource has in Druid, which may fail there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Completed, Context, execute

_Completed = TypeVar("_Completed", bound=Completed[Any])
# Returns what is planned, knowing what failed in Druid, if anything did.
Decide = Callable[[Finding | None], _Completed]


def carried_out(decide: Decide[_Completed], context: Context, *, check_mode: bool) -> _Completed:
    """Carry out a deletion. If Druid fails, decide once more: the resource is deleted, too, if Druid itself is."""
    planned = decide(None)
    if check_mode:
        return planned
    first, failure = _carried_out(planned, context)
    if failure is None:
        return first
    try:
        planned = decide(failure)
    except KubernetesError:
        # the next reconcile decides again; this one reports what was done, and what failed
        return first
    again, _failure = _carried_out(replace(first, plan=planned.plan), context)
    # the steps before the problem are completed
    warnings = tuple(dict.fromkeys((*first.plan.warnings, *again.plan.warnings)))
    return replace(again, plan=replace(again.plan.following(first.plan), warnings=warnings))


def _carried_out(planned: _Completed, context: Context) -> tuple[_Completed, Finding | None]:
    """Return the deletion after the steps of its plan, and the last problem if a request to Druid failed."""
    results = execute(planned.plan.steps, replace(context, state=planned))
    result = planned.after(results) if results else planned
    has_failed = any(each.error and each.was_tried and each.step.in_druid for each in results)
    return result, result.plan.problems[-1] if has_failed else None
