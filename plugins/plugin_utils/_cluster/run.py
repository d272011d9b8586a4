# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the request of a task, by resource, by name, or without a resource."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.run import (
    delete_resource,
    delete_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import read_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import (
    Submitted,
    from_spec,
    submit,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.wait import Clock, Progress, wait_until_final


def run(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Run the request. DruidopsError if it cannot start."""
    if request.absent:
        delete = delete_without_resource if request.without_resource else delete_resource
        return delete(api, request, progress, clock)
    if request.without_resource:
        return _without_resource(api, request, progress, clock)
    if request.resource is None:
        return reconcile_until_final(api, request, Outcome(), progress, clock)
    # In check mode this is a dry run, and its result is the resource to plan for.
    submitted = submit(api, request.resource, request.options.check_mode)
    plan = Plan(_steps(request.resource, submitted))
    return reconcile_until_final(
        api, request, Outcome(plan, changed=plan.changes), progress, clock, first=submitted.stored
    )


def _steps(resource: Manifest, submitted: Submitted) -> tuple[Step, ...]:
    """Return the write of the resource itself."""
    if submitted.operation is None:
        return ()
    return (Step(submitted.operation, resource, live=submitted.live, after=submitted.stored),)


def _without_resource(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
    described = replace(request, resource=resource)
    return reconcile_until_final(api, described, Outcome(warnings=warnings), progress, clock)


def reconcile_until_final(
    api: KubernetesApi,
    request: Request,
    outcome: Outcome,
    progress: Progress,
    clock: Clock,
    first: Manifest | None = None,
) -> Outcome:
    """Reconcile once, and with `wait` repeatedly until a final state.

    `outcome` has the steps done before; `first` is the resource that was just read.
    """
    outcome = _reconcile_once(api, request, outcome, clock, first)
    if not request.wait or request.options.check_mode:
        return outcome
    ticks = clock.ticks(request.wait_timeout, request.wait_sleep)
    return wait_until_final(outcome, lambda last: _reconcile_once(api, request, last, clock, None), ticks, progress)


def _reconcile_once(
    api: KubernetesApi, request: Request, outcome: Outcome, clock: Clock, resource: Manifest | None
) -> Outcome:
    with request.options.phases("observe"):
        resource = resource or _current_resource(api, request)
    report = reconcile(api, resource, request.options, clock.now())
    plan = replace(
        report.plan,
        steps=(*outcome.plan.steps, *report.plan.steps),
        in_druid=(*outcome.plan.in_druid, *report.plan.in_druid),
    )
    warnings = tuple(dict.fromkeys((*outcome.warnings, *report.warnings)))
    return Outcome(plan, outcome.changed or report.changed, report=report, warnings=warnings)


def _current_resource(api: KubernetesApi, request: Request) -> Manifest:
    if request.without_resource and request.resource is not None:
        return request.resource
    return read_resource(api, names.KIND, request, "druid_cluster_resource")
