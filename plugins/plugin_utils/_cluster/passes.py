# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pass, and with `wait` as many as it takes until the cluster is as wanted."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._task import read
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Progress, until_over


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


def _pass(api: KubernetesApi, request: Request, outcome: Outcome, clock: Clock, resource: Manifest | None) -> Outcome:
    with request.settings.phases("observe"):
        resource = resource or _read(api, request)
    report = reconcile(api, resource, request.settings, clock.now())
    plan = replace(
        report.plan,
        steps=(*outcome.plan.steps, *report.plan.steps),
        in_druid=(*outcome.plan.in_druid, *report.plan.in_druid),
    )
    warnings = tuple(dict.fromkeys((*outcome.warnings, *report.warnings)))
    return Outcome(plan, outcome.changed or report.changed, report=report, warnings=warnings)


def _read(api: KubernetesApi, request: Request) -> Manifest:
    if request.by_variable and request.resource is not None:
        return request.resource
    return read(api, names.KIND, request, "druid_cluster_resource")
