# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one task asks for, from the resource to the end: submit, reconcile, wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.absence import (
    Absence,
    resource_removal,
    variable_removal,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.finalizer import deletes_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.removal import LEFT_BEHIND
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Finding, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import Settings, reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.resource import BadResource, from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import ApiError, DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest

_Found = TypeVar("_Found")

# A write that failed may succeed in the next pass, and then what was to follow it follows.
_PASSING = frozenset({reasons.WRITE_FAILED, reasons.REMOVAL_HELD_BACK})


class NotThere(DruidopsError):
    """The named resource does not exist."""


@dataclass(frozen=True)
class Request:
    """A cluster named by its resource, given as a resource, or described by variables; and what to do with it."""

    name: str
    namespace: str
    resource: Manifest | None = None
    spec: Mapping[str, Any] | None = None
    by_variable: bool = False
    absent: bool = False
    wait: bool = False
    wait_timeout: int = 600
    wait_sleep: int = 2
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True)
class Clock:
    """Time, as far as waiting is concerned; tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def ticks(self, timeout: float, pause: float) -> Iterator[bool]:
        """Yield True after each pause until the time is over."""
        end = self.monotonic() + timeout
        while self.monotonic() < end:
            self.sleep(min(pause, max(0.0, end - self.monotonic())))
            yield True


@dataclass(frozen=True)
class Outcome:
    """What came of a request; `report` is None when there was nothing to report on."""

    plan: Plan = field(default_factory=Plan)
    changed: bool = False
    report: Report | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False


Progress = Callable[[str], None]


def fulfil(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Do what the request asks for. DruidopsError when it cannot even be begun."""
    if request.by_variable:
        return _by_variable(api, request, progress, clock)
    if request.absent:
        return _absent(api, request, progress, clock)
    if request.resource is None:
        return _passes(api, request, Outcome(), progress, clock, first=None)
    stored, steps = submit(api, request.resource, request.settings.check_mode)
    return _passes(api, request, Outcome(Plan(steps), changed=bool(steps)), progress, clock, first=stored)


def _passes(
    api: KubernetesApi, request: Request, outcome: Outcome, progress: Progress, clock: Clock, first: Manifest | None
) -> Outcome:
    """Make one pass, and with `wait` more of them until the cluster is as wanted or something lasting is in the way."""
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


def _by_variable(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    if request.absent:
        return _absent_by_variable(api, request, progress, clock)
    resource, warnings = from_spec(request.spec or {}, request.name, request.namespace)
    described = replace(request, resource=resource)
    return _passes(api, described, Outcome(warnings=warnings), progress, clock, first=resource)


def _absent_by_variable(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
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


def _absent(api: KubernetesApi, request: Request, progress: Progress, clock: Clock) -> Outcome:
    """Delete the resource and carry out its finalizer, as the operator would; with `wait` until it is gone."""
    resource = api.get(names.KIND, request.namespace, request.name)
    if resource is None:
        return Outcome()
    plan = resource_removal(api, resource)
    outcome = Outcome(plan, changed=True, warnings=plan.warnings)
    if request.settings.check_mode:
        return outcome
    _name_claims(plan, progress)
    # What has no owner does not go with the resource, which may go at once: then nobody else would delete it.
    failures = _failures(act(api, [step for step in plan.steps if step.key.kind in LEFT_BEHIND]))
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


def _name_claims(plan: Plan, progress: Progress) -> None:
    """Say which data go, before they go."""
    for step in plan.steps:
        if step.key.kind == "PersistentVolumeClaim":
            progress(f"Deletes the claim {step.key.name} and the data in its volume.")


def _failures(results: Iterable[Result]) -> tuple[Finding, ...]:
    return tuple(Finding(reasons.WRITE_FAILED, result.error) for result in results if result.error is not None)
