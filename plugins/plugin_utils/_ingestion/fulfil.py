# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways to do what one task asks for, told apart by how it names the ingestion."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._given import from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.removal import remove_by_variable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._task import read
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Progress, until_over


def fulfil(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Do what the request asks for. DruidopsError when it cannot even be begun."""
    if request.absent:
        return _absent(api, request, clock)
    if request.by_variable:
        resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
        return _passes(api, request, Outcome(warnings=warnings), progress, clock, resource)
    if request.resource is None:
        return _passes(api, request, Outcome(), progress, clock)
    # In check mode by dry run: what that returns is what is planned for.
    submitted = submit(api, request.resource, request.settings.check_mode)
    done = (f"{submitted.operation} {names.KIND} {request.name}",) if submitted.operation else ()
    would_be = submitted.stored if request.settings.check_mode else None
    return _passes(api, request, Outcome(done), progress, clock, would_be)


def _passes(
    api: KubernetesApi,
    request: Request,
    outcome: Outcome,
    progress: Progress,
    clock: Clock,
    resource: Manifest | None = None,
) -> Outcome:
    """Make one pass, and with `wait` more of them until it is as wanted or something lasting is in the way.

    `resource` is the one that every pass is made for; without it, it is read anew for each.
    """

    def again(last: Outcome) -> Outcome:
        found = read(api, names.KIND, request, "druid_ingestion_resource") if resource is None else resource
        return _added(last, reconcile(api, found, request.settings, clock.now()))

    outcome = again(outcome)
    if not request.wait or request.settings.check_mode:
        return outcome
    return until_over(outcome, again, clock.ticks(request.wait_timeout, request.wait_sleep), progress)


def _added(outcome: Outcome, report: Report) -> Outcome:
    return Outcome(
        done=(*outcome.done, *(step.title for step in report.plan.steps)),
        diff=(*outcome.diff, *report.diff),
        report=report,
        warnings=tuple(dict.fromkeys((*outcome.warnings, *report.warnings))),
    )


def _absent(api: KubernetesApi, request: Request, clock: Clock) -> Outcome:
    """Delete the resource and carry out its finalizer, as the operator would; with `wait` until it is gone."""
    if request.by_variable:
        return remove_by_variable(api, request, clock)
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        return Outcome()
    outcome = Outcome((f"delete {names.KIND} {request.name}",))
    if request.settings.check_mode:
        return outcome
    api.delete(names.KIND, request.namespace, request.name, resource["metadata"]["uid"])
    for _tick in chain((True,), clock.ticks(request.wait_timeout if request.wait else 0, request.wait_sleep)):
        resource = api.get(names.KIND, request.namespace, request.name)
        if resource is None:
            return outcome
        outcome = _added(outcome, reconcile(api, resource, request.settings, clock.now()))
        if outcome.report is not None and outcome.report.is_gone:
            return outcome
    return replace(outcome, timed_out=request.wait)
