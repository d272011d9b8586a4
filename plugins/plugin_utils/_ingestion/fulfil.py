# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways to do what one task asks for, told apart by how it names the ingestion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._given import from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.removal import remove_by_variable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import (
    NotThere,
    Outcome,
    Progress,
    Request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest


def fulfil(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Do what the request asks for. DruidopsError when it cannot even be begun."""
    if request.absent:
        return _absent(api, request, clock)
    if request.by_variable:
        resource, warnings = from_spec(names.KIND, request.spec or {}, request.name, request.namespace)
        return _passes(api, request, Outcome(warnings=warnings), progress, clock, lambda: resource)
    if request.resource is None:
        return _passes(api, request, Outcome(), progress, clock, lambda: _read(api, request))
    # In check mode by dry run: what that returns is what is planned for.
    submitted = submit(api, request.resource, request.settings.check_mode)
    done = (f"{submitted.operation} {names.KIND} {request.name}",) if submitted.operation else ()
    if request.settings.check_mode:
        return _passes(api, request, Outcome(done), progress, clock, lambda: submitted.stored)
    return _passes(api, request, Outcome(done), progress, clock, lambda: _read(api, request))


def _passes(
    api: KubernetesApi,
    request: Request,
    outcome: Outcome,
    progress: Progress,
    clock: Clock,
    read: Callable[[], Manifest],
) -> Outcome:
    """Make one pass, and with `wait` more of them until it is as wanted or something lasting is in the way."""
    ticks = clock.ticks(request.wait_timeout if _waits(request) else 0, request.wait_sleep)
    said = ""
    for _tick in chain((True,), ticks):
        outcome = _added(outcome, reconcile(api, read(), request.settings, clock.now()))
        said = _say(progress, outcome.report, said) if _waits(request) else said
        if outcome.report is None or outcome.report.is_over:
            return outcome
    return replace(outcome, timed_out=_waits(request))


def _waits(request: Request) -> bool:
    return request.wait and not request.settings.check_mode


def _added(outcome: Outcome, report: Report) -> Outcome:
    return Outcome(
        done=(*outcome.done, *(step.title for step in report.plan.steps)),
        diff=(*outcome.diff, *report.diff),
        report=report,
        warnings=tuple(dict.fromkeys((*outcome.warnings, *report.warnings))),
    )


def _read(api: KubernetesApi, request: Request) -> Manifest:
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        raise NotThere(
            f"There is no DruidIngestion {request.name} in namespace {request.namespace}. "
            "Create it, or give it as a file or mapping (druid_ingestion_resource)."
        )
    return resource


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


def _say(progress: Progress, report: Report | None, said: str) -> str:
    """Tell how far it is, when that has changed."""
    text = next(
        (each["message"] for each in (report.status["conditions"] if report else ()) if each["type"] == "Ready"), ""
    )
    if text != said:
        progress(text)
    return text
