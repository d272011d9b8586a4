# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Report a reconcile: one patch of the status if it differs, events, and a report for the caller."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import events, status
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_own,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Converge,
    Plan,
    SaveLastApplied,
    Step,
    Submit,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import send
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.status import reporting_errors, write_status


@dataclass(frozen=True)
class Report:
    """Completed steps of a reconcile, or planned ones in check mode. All texts are masked."""

    plan: Plan
    status: dict[str, Any]
    diff: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    requeue_after: int | None = None
    is_gone: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.plan.steps)

    @property
    def is_ready(self) -> bool:
        return is_ready(self.status["conditions"])

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.plan.problems

    @property
    def progress(self) -> str:
        return str(next(each["message"] for each in self.status["conditions"] if each["type"] == "Ready"))

    @property
    def is_final(self) -> bool:
        """True when there is nothing to wait for: the desired state is reached, or a lasting problem blocks it."""
        return status.is_settled(self.status["conditions"]) or any(
            problem.reason not in reasons.TRANSIENT_OF_INGESTION for problem in self.problems
        )


def report(api: KubernetesApi, done: Reconciled, check_mode: bool, now: datetime) -> Report:
    """Write status and events (never in check mode, never without a resource) and return the report."""
    masker = _masker(done)
    findings = tuple(replace(each, message=masker(each.message)) for each in done.plan.findings)
    plan = replace(done.plan, findings=findings)
    warnings = tuple(dict.fromkeys(masker(text) for text in (*done.warnings, *done.plan.warnings, *api.warnings)))
    document = _document(done, plan, now, check_mode, masker)
    if "uid" in done.resource["metadata"] and not check_mode:
        warnings = (*warnings, *map(masker, _publish(api, done, plan, document, warnings, now)))
    pause = status.requeue_after(document["conditions"], now)
    return Report(plan, document, tuple(_diffs(plan.steps)), warnings, pause, done.is_gone)


def _masker(done: Reconciled) -> status.Masked:
    """Return a masker for the secrets in the spec, in the Secrets that were read, and in Druid's spec."""
    change = done.druid_state.change if isinstance(done.druid_state, SupervisorState) else Change(None, None)
    of_specs = spec_masking.masker_of([*_documents(done.resource), change.before, change.after])
    of_secrets = masker_of(secret for secret in done.observed.secrets.values() if secret)

    def masked(text: str) -> str:
        return of_secrets.text(of_specs.text(text))

    return masked


def _documents(resource: Manifest) -> tuple[Any, ...]:
    """Return the resource, and its parsed spec if that is a string."""
    specified = searched(resource)
    try:
        return specified, Ingestion.from_resource(resource).document
    except ValueError:
        return (specified,)


def _document(done: Reconciled, plan: Plan, now: datetime, check_mode: bool, masked: status.Masked) -> dict[str, Any]:
    ingestion = Ingestion.from_resource(done.resource)
    previous = done.resource.get("status") or {}
    document = status.status(
        ingestion, done.druid_state, plan.findings, previous, now, masked, _record_after(done, plan, check_mode)
    )
    applied = [step for step in plan.steps if isinstance(step, Converge | Submit)]
    if not applied or check_mode or done.failed_step is not None:
        return document
    is_created = any(isinstance(step, Submit) or step.change.before is None for step in applied)
    return status.with_last_update(document, ingestion, is_created, now)


def _record_after(done: Reconciled, plan: Plan, check_mode: bool) -> LastApplied | None:
    """Return the record after the reconcile, None if there is none."""
    saved = [] if check_mode else [step.record for step in plan.steps if isinstance(step, SaveLastApplied)]
    if saved:
        return saved[-1]
    found = done.observed.record
    exists = found is not None and is_own(found, Ingestion.from_resource(done.resource))
    return read_last_applied(found, done.resource) if exists else None


def _publish(
    api: KubernetesApi, done: Reconciled, plan: Plan, document: dict[str, Any], warnings: Iterable[str], now: datetime
) -> tuple[str, ...]:
    """Write status and events; return the errors, which do not fail the reconcile."""
    previous = done.resource.get("status") or {}
    news = [*events.of_steps(plan.steps), *events.of_problems(plan, previous, document)]
    if done.is_gone or events.are_news(plan.steps, previous, document):
        news += events.of_warnings(warnings, is_gone=done.is_gone)
    try:
        if document != previous and not done.is_gone:
            write_status(api, done.resource, document)
        send(api, done.resource, news, now)
    except KubernetesError as error:
        return reporting_errors(error)
    return ()


def _diffs(steps: Iterable[Step]) -> Iterable[dict[str, Any]]:
    """Yield before and after of each change in Druid, without secrets."""
    for step in steps:
        if isinstance(step, Converge):
            before, after = step.masked
            yield {"before": before or "", "after": after or "", "before_header": step.what, "after_header": step.what}
        elif isinstance(step, Submit):
            body = spec_masking.masked(step.job.submission(step.attempt))
            yield {"before": "", "after": body, "before_header": step.title, "after_header": step.title}
