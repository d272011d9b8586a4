# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that is to be absent: what is its own is deleted, its data are named first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, takewhile
from typing import TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.absence import (
    Absence,
    resource_removal,
    variable_removal,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.finalizer import deletes_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.removal import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._given import BadResource
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Progress

_Found = TypeVar("_Found")


def delete_resource(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Delete the resource and carry out its finalizer, as the operator would; with `wait` until it is gone."""
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        return Outcome()
    plan = resource_removal(api, resource)
    outcome = Outcome(plan, changed=True, warnings=plan.warnings)
    if request.settings.check_mode:
        return outcome
    _name_claims(plan, progress)
    # The resource may go at once: nobody would delete any more what it does not own, nor save what is to stay.
    failures = _failures(act(api, takewhile(lambda step: step.key.kind != names.KIND, plan.steps)))
    if failures:
        return replace(outcome, plan=replace(plan, findings=failures))
    api.delete(names.KIND, request.namespace, request.name, resource["metadata"]["uid"])
    for _tick in chain((None,), clock.ticks(request.wait_timeout if request.wait else 0, request.wait_sleep)):
        resource = api.get(names.KIND, request.namespace, request.name)
        if resource is None:
            return outcome
        report = reconcile(api, resource, request.settings, clock.now())
        outcome = replace(outcome, report=report, warnings=(*plan.warnings, *report.warnings))
    return replace(outcome, timed_out=request.wait)


def delete_by_variable(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Delete all that was made of variables; with `wait` until it is gone."""
    _refuse_a_resource(api, request)
    cluster = Cluster.from_resource({"metadata": {"name": request.name, "namespace": request.namespace}})
    delete_claims = request.spec is not None and deletes_claims(request.spec)
    plan = variable_removal(api, cluster, delete_claims)
    _name_claims(plan, progress)
    if request.settings.check_mode:
        return Outcome(plan, changed=plan.changes, warnings=plan.warnings)
    outcome = Outcome(plan, warnings=plan.warnings)
    for _tick in chain((None,), clock.ticks(request.wait_timeout if request.wait else 0, request.wait_sleep)):
        outcome, remains = _take_away(Absence(api, cluster), delete_claims, outcome)
        if not remains:
            return outcome
    return replace(outcome, timed_out=request.wait)


def _refuse_a_resource(api: KubernetesApi, request: Request) -> None:
    """BadResource when the cluster is not one that was made of variables: its claims would look as if it were."""
    try:
        resource = api.get(names.KIND, request.namespace, request.name)
    except ApiError as error:
        if not error.is_missing_kind:
            raise
        return
    if resource is not None:
        raise BadResource(
            f"Druid {request.name} exists in namespace {request.namespace}: that cluster was not made of variables, "
            "and nothing of it is deleted. To delete it with its resource, leave out spec and by_variable."
        )


def _take_away(absence: Absence, delete_claims: bool, outcome: Outcome) -> tuple[Outcome, bool]:
    """Return the outcome after an attempt to delete everything, and whether anything is there yet.

    What fails is put down: what was done before is no less done.
    """
    errors: list[str] = []
    results = act(absence.api, _until_error(absence.of_variables(delete_claims), errors))
    remains = list(_until_error(absence.remains(delete_claims), errors))
    unknown = (Finding(reasons.WRITE_FAILED, error) for error in dict.fromkeys(errors))
    findings = (*_failures(results), *unknown)
    changed = outcome.changed or any(result.is_done for result in results)
    warnings = tuple(dict.fromkeys((*outcome.warnings, *absence.warnings)))
    plan = replace(outcome.plan, findings=findings)
    return replace(outcome, plan=plan, changed=changed, warnings=warnings), bool(remains or findings)


def _until_error(found: Iterator[_Found], errors: list[str]) -> Iterator[_Found]:
    try:
        yield from found
    except KubernetesError as error:
        errors.append(str(error))


def _name_claims(plan: Plan, progress: Progress) -> None:
    """Say which data go, before they go."""
    for step in plan.steps:
        if step.key.kind == CLAIM and step.operation == "delete":
            progress(f"Deletes the claim {step.key.name} and the data in its volume.")


def _failures(results: Iterable[Result]) -> tuple[Finding, ...]:
    return tuple(Finding(reasons.WRITE_FAILED, result.error) for result in results if result.error is not None)
