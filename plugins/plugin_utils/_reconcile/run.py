# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the request of a task: one reconcile, or with `wait` repeated ones until the outcome is final.

The resource is named, provided or without a resource; with `state: absent`, reconciles run its finalizer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import masked_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, DeleteResource, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request, read_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import from_spec, submit
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind


_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])
# Receives a line of progress.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Outcome(Generic[_Plan]):
    """The outcome of a task; the plan has the steps of all reconciles.

    `report` is that of the last reconcile, None if there was none. `remains` names the objects that are not deleted
    yet; with `is_deleted` the resource is. `stuck`: why the task does not wait any longer, although the desired state
    is not reached. `masker` has the secrets of all reconciles whose steps are shown.
    """

    plan: _Plan
    changed: bool = False
    report: Report[_Plan] | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
    remains: tuple[str, ...] = ()
    is_deleted: bool = False
    stuck: str = ""
    masker: Masker = field(default=Masker(), repr=False)

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else self.plan.problems

    def after(self, report: Report[_Plan]) -> Self:
        """Return the outcome after one more reconcile."""
        plan = report.plan.following(self.plan)
        warnings = tuple(dict.fromkeys((*self.warnings, *report.warnings)))
        # Without steps, all texts of the report are masked already.
        masker = self.masker | report.masking.masker if report.plan.shows_steps else self.masker
        changed = self.changed or report.changed
        return replace(self, plan=plan, changed=changed, report=report, warnings=warnings, masker=masker)


_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


def repeat_until(
    is_final: Callable[[_Outcome], bool],
    attempt: Callable[[_Outcome], _Outcome],
    outcome: _Outcome,
    request: Request[Any],
    progress: Callable[[_Outcome], None],
    clock: Clock,
) -> _Outcome:
    """Return the outcome of the first attempt; with `wait`, of the first final one, or of the last one in time."""
    outcome = attempt(outcome)
    if not request.waits:
        return outcome
    ticks = clock.ticks(request.wait_timeout, request.wait_sleep)
    progress(outcome)
    while not is_final(outcome) and next(ticks, False):
        outcome = attempt(outcome)
        progress(outcome)
    return outcome if is_final(outcome) else replace(outcome, timed_out=True)


def without_repeats(progress: Progress) -> Progress:
    """Return a progress function that skips a line equal to the one before, and empty ones."""
    last: str | None = None

    def report_change(line: str) -> None:
        nonlocal last
        if line and line != last:
            last = line
            progress(line)

    return report_change


def delete_resource(
    kind: Kind[_Options, Any, _Plan], api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
) -> Outcome[_Plan]:
    """Delete the resource and run its finalizer, as the operator does; with `wait` until it is deleted."""
    resource = api.get(kind.name, request.namespace, request.name)
    steps = () if resource is None or is_terminating(resource) else (DeleteResource(resource),)
    outcome = Outcome(kind.plan(steps), changed=bool(steps))
    if resource is None or request.options.check_mode:
        return outcome
    for step in steps:
        step.carry_out(Context(api))
    return until_deleted(kind, api, request, resource, outcome, progress, clock)


def until_deleted(
    kind: Kind[_Options, Any, _Plan],
    api: KubernetesApi,
    request: Request[_Options],
    resource: Manifest,
    outcome: Outcome[_Plan],
    progress: Progress,
    clock: Clock,
    add: Callable[[Outcome[_Plan], Report[_Plan]], Outcome[_Plan]] = Outcome.after,
) -> Outcome[_Plan]:
    """Reconcile a terminating resource, with `wait` until it is deleted; `add` adds a report to the outcome."""

    def attempt(last: Outcome[_Plan]) -> Outcome[_Plan]:
        return continue_deletion(kind, api, request, resource, last, clock, add)

    return until_nothing_remains(_is_deleted, attempt, outcome, request, progress, clock)


def continue_deletion(
    kind: Kind[_Options, Any, _Plan],
    api: KubernetesApi,
    request: Request[_Options],
    resource: Manifest,
    last: Outcome[_Plan],
    clock: Clock,
    add: Callable[[Outcome[_Plan], Report[_Plan]], Outcome[_Plan]] = Outcome.after,
) -> Outcome[_Plan]:
    """Reconcile a terminating resource once, unless it is deleted; the outcome names it while it remains."""
    live = _live(api, resource)
    if live is not None:
        last = add(last, kind.reconcile(api, live, request.options, clock.now()))
        if request.waits and last.report is not None and last.report.is_deleted:
            live = _live(api, resource)
    return replace(last, is_deleted=live is None, remains=() if live is None else (with_finalizers(live),))


def until_nothing_remains(
    is_final: Callable[[Outcome[_Plan]], bool],
    attempt: Callable[[Outcome[_Plan]], Outcome[_Plan]],
    outcome: Outcome[_Plan],
    request: Request[_Options],
    progress: Progress,
    clock: Clock,
) -> Outcome[_Plan]:
    """Repeat a deletion as `repeat_until` does, and name what remains as the progress."""
    report_change = without_repeats(progress)

    def show(last: Outcome[_Plan]) -> None:
        report_change(f"Waiting for the deletion of {join_limited(last.remains)}." if last.remains else "")

    return repeat_until(is_final, attempt, outcome, request, show, clock)


def _is_deleted(outcome: Outcome[Any]) -> bool:
    return not outcome.remains


def _live(api: KubernetesApi, resource: Manifest) -> Manifest | None:
    """Return the live resource; None if it is deleted, or replaced by another one of its name."""
    metadata = resource["metadata"]
    live = api.get(resource["kind"], metadata["namespace"], metadata["name"])
    return live if live is not None and live["metadata"]["uid"] == metadata["uid"] else None


def with_finalizers(live: Manifest) -> str:
    """Return kind and name of an object that is not deleted yet, with the finalizers that hold it."""
    title = f"{live['kind']} {live['metadata']['name']}"
    holders = live["metadata"].get("finalizers") if is_terminating(live) else None
    return f"{title} (finalizers: {', '.join(holders)})" if holders else title


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
