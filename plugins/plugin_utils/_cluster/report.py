# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the report on a cluster has: the steps that were completed, the status, events, and masked secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.unrecoverable import (
    unrecoverable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_events import decommission_texts
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.requeue import requeue_after
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout_status import STALLED, Pending
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import (
    after_failed_read,
    is_settled,
    status,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Completed,
    Masked,
    Reporting,
    StatusChange,
    ready_message,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText, Result


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) results of a reconcile.

    `normalized_in_druid` are digests of normalized dynamic configurations, None if nothing was written.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    plan: Plan
    results: tuple[Result[Step], ...] = ()
    normalized_in_druid: Mapping[str, str] | None = None


def _completed(done: Reconciled, check_mode: bool) -> Completed[Plan]:
    plan = replace(done.plan, findings=(*done.plan.findings, *_failures(done.results)))
    if not check_mode:
        steps = tuple(result.step for result in done.results if result.is_done)
        # The pending steps of a paused cluster are not in its plan, but the warnings about them are.
        warns = steps or not done.plan.steps
        plan = replace(plan, steps=steps, rollout_warnings=plan.rollout_warnings if warns else ())
    return Completed(done.resource, plan, (*plan.warnings, *plan.rollout_warnings), _is_deleted(done.results))


def _status(done: Reconciled, plan: Plan, now: datetime, check_mode: bool, masked: Masked) -> dict[str, Any]:
    observed = predicted(done.observed, plan.steps) if check_mode else done.observed
    previous = done.resource.get("status") or {}
    found = ((), ()) if is_terminating(done.resource) else (_lasting_warnings(plan), plan.rollout_warnings)
    warnings, rollout_warnings = (tuple(map(masked, texts)) for texts in found)
    removals = tuple(map(str, done.plan.pending_removals))
    document = status(
        done.cluster,
        observed,
        plan.findings,
        previous,
        now,
        done.normalized_in_druid,
        warnings,
        rollout_warnings,
        Pending(
            done.plan.pending_restarts,
            removals,
            # Only what was carried out has begun.
            plan.restarts,
            done.plan.awaited,
            done.plan.druid_before,
            done.plan.awaited_budgets,
        ),
        plan.expanding,
        plan.drain,
        None if plan.decommission is None else plan.decommission.record,
        tuple(map(masked, done.plan.refused_evictions)),
        plan.stored_replicas,
    )
    return document if is_ready(document["conditions"]) else _without_secrets(document, masked)


def _without_secrets(document: dict[str, Any], masked: Masked) -> dict[str, Any]:
    """Return the status with masked messages: Kubernetes reports logs, and errors that may quote the specification."""
    conditions = [{**each, "message": masked(each["message"])} for each in document["conditions"]]
    fields = {"druidNodeStatus": "reason", "rollout": STALLED}
    texts = {
        name: {**document[name], key: masked(document[name][key])}
        for name, key in fields.items()
        if key in document.get(name, {})
    }
    return {**document, "conditions": conditions, **texts}


def _lasting_warnings(plan: Plan) -> tuple[str, ...]:
    """Return the warnings that are not the message of a finding, which has its own condition."""
    reported = {finding.message for finding in plan.findings}
    return tuple(text for text in plan.warnings if text not in reported)


def predicted(observed: Observed, steps: Iterable[Step]) -> Observed:
    """Return the predicted state after the steps, from the results of the dry runs."""
    for step in steps:
        observed = step.observed_after(observed, step.after)
    return observed


def _masker(done: Reconciled) -> Masked:
    """Return a masker for the secrets in all objects that were read, including referenced ones and Druid's."""
    in_druid = (state for step in done.plan.in_druid for state in (step.before, step.after))
    read = (*done.observed.objects.values(), *done.observed.references.values(), *in_druid)
    return masker_of([searched(done.resource), *(each for each in read if each)]).text


def _failures(results: Iterable[Result[Step]]) -> tuple[Finding, ...]:
    return tuple(_failure(result, result.error) for result in results if result.error)


def _failure(result: Result[Step], error: str) -> Finding:
    step = result.step
    leaf = str(step.key) if step.group is not None and step.is_leaf else None
    return Finding(result.reason or reasons.APPLY_FAILED, error, step.group, object=leaf)


def _is_deleted(results: Iterable[Result[Step]]) -> bool:
    """True when the finalizer of a terminating resource was removed, so that it is deleted."""
    done = (result.step for result in results if result.step.is_finalizer and result.is_done)
    return any(step.live is not None and is_terminating(step.live) for step in done)


def _events(done: Reconciled, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
    if completed.is_deleted:
        yield from events.warning_texts(completed.warnings)
        return
    yield from events.done_texts(done.results)
    yield from events.expanded_texts(change, done.observed)
    yield from events.in_druid_texts(completed.plan.in_druid)
    if not is_terminating(done.resource):
        yield from events.new_warnings(change, completed.plan)
        states = group_states(done.cluster, done.observed, as_it_is=True)
        complete = [state.key for state in states if state.is_complete and state.desired]
        yield from events.rollout_texts(change, complete)
        yield from decommission_texts(change, done.observed)
    if change.has_new_problems:
        yield from events.problem_texts(done.results, completed.plan.findings)


def _stuck(done: Reconciled, plan: Plan, now: datetime) -> str:
    return unrecoverable(done.cluster, done.observed, {*plan.restarts, *plan.pending_restarts}, now)


def _progress(document: Mapping[str, Any]) -> str:
    return f"{document.get('nodes', '')} pods ready. {ready_message(document)}"


REPORTING = Reporting(
    finalizer=names.FINALIZER,
    transient=reasons.TRANSIENT_OF_DRUID,
    completed=_completed,
    masker=_masker,
    status=_status,
    events=_events,
    is_settled=is_settled,
    requeue_after=requeue_after,
    progress=_progress,
    after_failed_read=after_failed_read,
    stuck=_stuck,
)
