# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report a reconcile: one patch of the status if it differs, events, and a report for the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.requeue import requeue_after
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_settled, status
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import degraded, is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText, send
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.status import reporting_errors, write_status


@dataclass(frozen=True)
class Report:
    """Completed steps of a reconcile, or planned ones in check mode. All texts are masked.

    `reporting_errors` are errors of writes of status and events; with `is_gone` the resource was deleted.
    """

    plan: Plan
    status: dict[str, Any]
    changed: bool
    warnings: tuple[str, ...] = ()
    requeue_after: int | None = None
    reporting_errors: tuple[str, ...] = ()
    is_gone: bool = False

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.plan.findings if finding.is_problem)

    @property
    def is_ready(self) -> bool:
        return is_ready(self.status["conditions"])

    @property
    def is_settled(self) -> bool:
        return is_settled(self.status["conditions"])

    @property
    def is_final(self) -> bool:
        """True when there is nothing to wait for: the desired state is reached, or a lasting problem blocks it."""
        return self.is_settled or any(problem.reason not in reasons.TRANSIENT_OF_DRUID for problem in self.problems)

    @property
    def progress(self) -> str:
        ready = next(each for each in self.status["conditions"] if each["type"] == "Ready")
        return f"{self.status.get('nodes', '')} pods ready. {ready['message']}"


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) results of a reconcile.

    `normalized_in_druid` are digests of normalized dynamic configurations, None if nothing was written.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    plan: Plan
    results: tuple[Result, ...] = ()
    normalized_in_druid: Mapping[str, str] | None = None


def report(api: KubernetesApi, done: Reconciled, check_mode: bool, now: datetime) -> Report:
    """Write status and events (never in check mode, never without a resource) and return the report."""
    findings = (*done.plan.findings, *_failures(done.results))
    masker = _masker(done) if findings or done.results or done.plan.changes or api.warnings else Masker()
    plan = replace(done.plan, findings=tuple(_masked(finding, masker) for finding in findings))
    if not check_mode:
        plan = replace(plan, steps=tuple(result.step for result in done.results if result.is_done))
    previous = done.resource.get("status") or {}
    observed = predicted(done.observed, plan.steps) if check_mode else done.observed
    document = status(done.cluster, observed, plan.findings, previous, now, done.normalized_in_druid)
    reporting_failures: tuple[str, ...] = ()
    is_gone = _is_gone(done.results)
    if done.cluster.uid and not check_mode:
        if is_gone:
            reporting_failures = _send(api, done.resource, events.warning_texts(plan.warnings, masker), now)
        else:
            reporting_failures = _publish(api, replace(done, plan=plan), document, masker, now)
    reported = (warning for warning in api.warnings if names.FINALIZER not in warning)
    warnings = tuple(masker.text(warning) for warning in (*plan.warnings, *reported, *reporting_failures))
    # If the status cannot be written, the generation would be new in every reconcile.
    is_new = done.cluster.uid is not None and not reporting_failures and _is_new_generation(done.cluster, previous)
    requeue = requeue_after(document["conditions"], now, has_changed=plan.changes or is_new)
    return Report(plan, document, plan.changes, warnings, requeue, tuple(map(masker.text, reporting_failures)), is_gone)


def _is_new_generation(cluster: Cluster, previous: Mapping[str, Any]) -> bool:
    """True when no reconcile has reported on this generation yet.

    A CRD of the Go operator drops observedGeneration from each status, so that no generation is known to be new.
    """
    reported = previous.get("observedGeneration")
    return not previous if reported is None else reported != cluster.generation


def predicted(observed: Observed, steps: Iterable[Step]) -> Observed:
    """Return the predicted state after the steps, from the results of the dry runs."""
    planned = [step for step in steps if step.key.kind != names.KIND]
    created = [step.after for step in planned if step.after is not None]
    return observed.with_objects(created).without(step.key for step in planned if step.operation == "delete")


def _masker(done: Reconciled) -> Masker:
    """Return a masker for the secrets in all objects that were read, including referenced ones and Druid's."""
    in_druid = (state for step in done.plan.in_druid for state in (step.change.before, step.change.after))
    read = (*done.observed.objects.values(), *done.observed.references.values(), *in_druid)
    return masker_of([searched(done.resource), *(each for each in read if each)])


def _failures(results: Iterable[Result]) -> tuple[Finding, ...]:
    return tuple(Finding(reasons.APPLY_FAILED, result.error, result.step.group) for result in results if result.error)


def _masked(finding: Finding, masker: Masker) -> Finding:
    return replace(finding, message=masker.text(finding.message))


def _is_gone(results: Iterable[Result]) -> bool:
    """True when the finalizer of a terminating resource was removed, so that it is deleted."""
    patches = [result for result in results if result.step.operation == "patch" and result.is_done]
    return any(is_terminating(result.step.manifest) for result in patches)


def _publish(
    api: KubernetesApi, done: Reconciled, document: dict[str, Any], masker: Masker, now: datetime
) -> tuple[str, ...]:
    """Write status and events; return the errors, which do not fail the reconcile."""
    previous = done.resource.get("status") or {}
    news = (*events.done_texts(done.results, masker), *events.in_druid_texts(done.plan.in_druid, masker))
    # An unchanged problem is in the conditions only.
    if degraded(previous) != degraded(document):
        news = (*news, *events.problem_texts(done.results, done.plan.findings, masker))
    try:
        if document != previous:
            write_status(api, done.resource, document)
    except KubernetesError as error:
        return reporting_errors(error)
    return _send(api, done.resource, news, now)


def _send(api: KubernetesApi, resource: Manifest, news: Iterable[EventText], now: datetime) -> tuple[str, ...]:
    """Write the events; return the errors."""
    try:
        send(api, resource, news, now)
    except KubernetesError as error:
        return reporting_errors(error)
    return ()
