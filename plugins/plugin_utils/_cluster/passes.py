# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pass, and with `wait` as many as it takes until the cluster is as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome, Progress
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import NotThere, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest

# A write that failed may succeed in the next pass, and then what was to follow it follows.
_PASSING = frozenset({reasons.WRITE_FAILED, reasons.REMOVAL_HELD_BACK})


def passes(
    api: KubernetesApi,
    request: Request,
    outcome: Outcome,
    progress: Progress,
    clock: Clock,
    first: Manifest | None = None,
) -> Outcome:
    """Make one pass, and with `wait` more of them until the cluster is as wanted or something lasting is in the way.

    `outcome` is what has been done before; `first` is the resource as it has just been read.
    """
    outcome = _pass(api, request, outcome, clock, first)
    if not request.wait or request.settings.check_mode:
        return outcome
    ticks = clock.ticks(request.wait_timeout, request.wait_sleep)
    return until_over(outcome, lambda last: _pass(api, request, last, clock, None), ticks, progress)


def until_over(
    outcome: Outcome, again: Callable[[Outcome], Outcome], ticks: Iterator[bool], progress: Progress
) -> Outcome:
    """Return what came of the pass after which there is nothing to wait for, or of the last one that was in time."""
    said = _say(progress, outcome, None)
    while not _is_over(outcome) and next(ticks, False):
        outcome = again(outcome)
        said = _say(progress, outcome, said)
    return outcome if _is_over(outcome) else replace(outcome, timed_out=True)


def _pass(api: KubernetesApi, request: Request, outcome: Outcome, clock: Clock, resource: Manifest | None) -> Outcome:
    with request.settings.phases("observe"):
        resource = resource or _read(api, request)
    report = reconcile(api, resource, request.settings, clock.now())
    plan = replace(report.plan, steps=(*outcome.plan.steps, *report.plan.steps))
    warnings = tuple(dict.fromkeys((*outcome.warnings, *report.warnings)))
    return Outcome(plan, outcome.changed or report.changed, report, warnings)


def _read(api: KubernetesApi, request: Request) -> Manifest:
    if request.by_variable and request.resource is not None:
        return request.resource
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        raise NotThere(
            f"There is no Druid {request.name} in namespace {request.namespace}. "
            "Create it, or give it as a file or mapping (druid_cluster_resource)."
        )
    return resource


def _is_over(outcome: Outcome) -> bool:
    report = outcome.report
    return report is None or report.is_reached or any(_is_lasting(problem) for problem in report.problems)


def _is_lasting(problem: Finding) -> bool:
    return problem.reason not in _PASSING


def _say(progress: Progress, outcome: Outcome, said: str | None) -> str | None:
    """Tell how far the cluster is, when that has changed."""
    if outcome.report is None:
        return said
    ready = next(each for each in outcome.report.status["conditions"] if each["type"] == "Ready")
    text = f"{outcome.report.status.get('nodes', '')} nodes ready. {ready['message']}"
    if text != said:
        progress(text)
    return text
