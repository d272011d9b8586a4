# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the request of a task, by resource, by name, or without a resource."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.delete_without_resource import (
    delete_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import read_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.wait import Clock, Progress, wait_until_final


def run(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Run the request. DruidopsError if it cannot start."""
    if request.absent:
        return _absent(api, request, clock)
    if request.without_resource:
        resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
        return _reconcile_until_final(api, request, Outcome(warnings=warnings), progress, clock, resource)
    if request.resource is None:
        return _reconcile_until_final(api, request, Outcome(), progress, clock)
    # In check mode this is a dry run, and its result is the resource to plan for.
    submitted = submit(api, request.resource, request.options.check_mode)
    done = (f"{submitted.operation} {names.KIND} {request.name}",) if submitted.operation else ()
    would_be = submitted.stored if request.options.check_mode else None
    return _reconcile_until_final(api, request, Outcome(done), progress, clock, would_be)


def _reconcile_until_final(
    api: KubernetesApi,
    request: Request,
    outcome: Outcome,
    progress: Progress,
    clock: Clock,
    resource: Manifest | None = None,
) -> Outcome:
    """Reconcile once, and with `wait` repeatedly until a final state.

    `resource` is used for every reconcile; if it is None, the resource is read for each.
    """

    def again(last: Outcome) -> Outcome:
        found = read_resource(api, names.KIND, request, "druid_ingestion_resource") if resource is None else resource
        return _added(last, reconcile(api, found, request.options, clock.now()))

    outcome = again(outcome)
    if not request.wait or request.options.check_mode:
        return outcome
    return wait_until_final(outcome, again, clock.ticks(request.wait_timeout, request.wait_sleep), progress)


def _added(outcome: Outcome, report: Report) -> Outcome:
    return Outcome(
        done=(*outcome.done, *(step.title for step in report.plan.steps)),
        diff=(*outcome.diff, *report.diff),
        report=report,
        warnings=tuple(dict.fromkeys((*outcome.warnings, *report.warnings))),
    )


def _absent(api: KubernetesApi, request: Request, clock: Clock) -> Outcome:
    """Delete the resource and run its finalizer, as the operator does; with `wait` until it is deleted."""
    if request.without_resource:
        return delete_without_resource(api, request, clock)
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        return Outcome()
    outcome = Outcome((f"delete {names.KIND} {request.name}",))
    if request.options.check_mode:
        return outcome
    api.delete(names.KIND, request.namespace, request.name, resource["metadata"]["uid"])
    for _tick in chain((True,), clock.ticks(request.wait_timeout if request.wait else 0, request.wait_sleep)):
        resource = api.get(names.KIND, request.namespace, request.name)
        if resource is None:
            return outcome
        outcome = _added(outcome, reconcile(api, resource, request.options, clock.now()))
        if outcome.report is not None and outcome.report.is_gone:
            return outcome
    return replace(outcome, timed_out=request.wait)
