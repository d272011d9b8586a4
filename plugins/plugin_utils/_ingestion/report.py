# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the report on an ingestion has: the status, events, the diff, and masked secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import events, names, status
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
    Submit,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Completed,
    Masked,
    Reporting,
    StatusChange,
)


def _completed(done: Reconciled, _check_mode: bool) -> Completed[Plan]:
    return Completed(done.resource, done.plan, (*done.warnings, *done.plan.warnings), done.is_gone)


def _masker(done: Reconciled) -> Masked:
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


def _status(done: Reconciled, plan: Plan, now: datetime, check_mode: bool, masked: Masked) -> dict[str, Any]:
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


def _events(_done: Reconciled, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
    yield from events.of_steps(completed.plan.steps)
    if change.has_new_problems:
        yield from events.of_problems(completed.plan)
    if completed.is_gone or events.are_news(completed.plan.steps, change.before, change.after):
        yield from events.of_warnings(change.warnings, is_gone=completed.is_gone)


def diff(steps: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield before and after of each change in Druid, without secrets."""
    for step in steps:
        if isinstance(step, Converge):
            before, after = step.masked
            yield {"before": before or "", "after": after or "", "before_header": step.what, "after_header": step.what}
        elif isinstance(step, Submit):
            body = spec_masking.masked(step.job.submission(step.attempt))
            yield {"before": "", "after": body, "before_header": step.title, "after_header": step.title}


REPORTING = Reporting(
    finalizer=names.FINALIZER,
    transient=reasons.TRANSIENT_OF_INGESTION,
    completed=_completed,
    masker=_masker,
    status=_status,
    events=_events,
    is_settled=status.is_settled,
    requeue_after=lambda conditions, now, _has_changed: status.requeue_after(tuple(conditions), now),
)
