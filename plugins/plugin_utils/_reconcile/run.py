# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the request of a task, by resource, by name, or without a resource."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.delete import continue_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import masked_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import (
    Outcome,
    Progress,
    repeat_until,
    without_repeats,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request, read_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import from_spec, submit

_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])


def run(
    kind: Kind[_Options, Any, _Plan], api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
) -> Outcome[_Plan]:
    """Run the request. DruidopsError if it cannot start."""
    with masked_errors(request.resource, request.spec):
        return _run(kind, api, request, progress, clock)


def _run(
    kind: Kind[_Options, Any, _Plan], api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
) -> Outcome[_Plan]:
    if request.absent:
        delete = kind.delete_without_resource if request.without_resource else kind.delete_resource
        return delete(api, request, progress, clock)
    if request.without_resource:
        resource, warnings = from_spec(kind.name, request.spec or {}, request.name, request.namespace)
        described = replace(request, resource=resource)
        return _until_final(kind, api, described, Outcome(kind.plan(), warnings=warnings), progress, clock)
    if request.resource is None:
        return _until_final(kind, api, request, Outcome(kind.plan()), progress, clock)
    # In check mode this is a dry run, and its result is the resource to plan for.
    submitted = submit(api, request.resource, request.options.check_mode)
    plan = kind.submitted(request.resource, submitted)
    outcome = Outcome(plan, changed=plan.changes)
    return _until_final(kind, api, request, outcome, progress, clock, first=submitted.stored)


def _until_final(
    kind: Kind[_Options, Any, _Plan],
    api: KubernetesApi,
    request: Request[_Options],
    outcome: Outcome[_Plan],
    progress: Progress,
    clock: Clock,
    first: Manifest | None = None,
) -> Outcome[_Plan]:
    """Reconcile once, and with `wait` repeatedly until a final state.

    `outcome` has the steps done before; `first` is the resource that was just read. The final state of a terminating
    resource, from the reconcile on that finds it so, is its deletion.
    """
    report_change = without_repeats(progress)
    terminating: list[Manifest] = []

    def attempt(last: Outcome[_Plan]) -> Outcome[_Plan]:
        if terminating:
            return continue_deletion(kind, api, request, terminating[0], last, clock)
        with request.options.phases("observe"):
            # What was just read is current for the first reconcile only.
            resource = first if first is not None and last is outcome else _current_resource(kind, api, request)
        if request.waits and is_terminating(resource):
            terminating.append(resource)
            return continue_deletion(kind, api, request, resource, last, clock)
        return _with_cause(last.after(kind.reconcile(api, resource, request.options, clock.now())), request)

    def is_final(last: Outcome[_Plan]) -> bool:
        return _is_final(last) or bool(last.stuck) or (bool(terminating) and not last.remains)

    def show(last: Outcome[_Plan]) -> None:
        report_change(last.report.progress if last.report else "")

    return repeat_until(is_final, attempt, outcome, request, show, clock)


def _is_final(outcome: Outcome[Any]) -> bool:
    return outcome.report is None or outcome.report.is_final


def _with_cause(last: Outcome[_Plan], request: Request[Any]) -> Outcome[_Plan]:
    """Return the outcome; of a task that waits, with what keeps the resource from its desired state."""
    if last.report is None or last.report.is_final or not request.waits or request.wait_for_recovery:
        return last
    return replace(last, stuck=last.report.stuck)


def _current_resource(kind: Kind[Any, Any, Any], api: KubernetesApi, request: Request[Any]) -> Manifest:
    if request.without_resource and request.resource is not None:
        return request.resource
    return read_resource(api, kind.name, request, kind.variable)
