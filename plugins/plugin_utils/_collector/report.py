# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the report on a Collector has: the status, events, the diff, and masked secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.secret import Confidential
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names, status
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import (
    Deploy,
    Mark,
    ObjectChange,
    Plan,
    RemovePending,
    Restore,
    Step,
    Uninstall,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masked_pair, masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Completed,
    Masked,
    Reporting,
    StatusChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText


def _completed(done: Reconciled, _check_mode: bool) -> Completed[Plan]:
    return Completed(done.resource, done.plan, done.plan.warnings, done.is_deleted)


def _masker(done: Reconciled) -> Masked:
    """Return a masker for the secrets in the resource, in the Secret with the configuration, and in the values."""
    configuration = [] if done.desired is None else [done.desired.values]
    secret = [done.secret] if done.secret and done.secret["kind"] == "Secret" else []
    masker = masker_of([searched(done.resource), *configuration, *secret])
    return masker.text


def _status(done: Reconciled, plan: Plan, now: datetime, check_mode: bool, masked: Masked) -> dict[str, Any]:
    return status.status(done, plan.findings, now, check_mode, masked)


def _events(_done: Reconciled, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
    for step in completed.plan.steps:
        if type(step) in _STEP_REASONS:
            yield EventText("Normal", _reason(step), f"Done: {step.title}.")
    if change.has_new_problems:
        yield from (EventText("Warning", each.reason, each.message) for each in completed.plan.problems)
    if completed.is_deleted or change.is_new_generation:
        reason = reasons.RELEASE_RETAINED if completed.is_deleted else reasons.SPEC_WARNING
        yield from (EventText("Warning", reason, text) for text in completed.plan.warnings)


_STEP_REASONS: Mapping[type[Step], str] = {
    Deploy: reasons.RELEASE_UPGRADED,
    Mark: reasons.RELEASE_TAKEN_OVER,
    RemovePending: reasons.INTERRUPTED_REVISION_REMOVED,
    Restore: reasons.OBJECT_RESTORED,
    Uninstall: reasons.RELEASE_UNINSTALLED,
}


def _reason(step: Step) -> str:
    is_new = isinstance(step, Deploy) and step.operation == "install"
    return reasons.RELEASE_INSTALLED if is_new else _STEP_REASONS[type(step)]


def lines(plan: Plan) -> list[str]:
    """Return a line per step, and one per object that follows from it."""
    return [line for step in plan.steps for line in _lines(step)]


def _lines(step: Any) -> Iterator[str]:
    yield step.title
    if isinstance(step, Deploy | RemovePending):
        yield from (change.title for change in step.objects)


def diff(plan: Plan) -> list[dict[str, Any]]:
    """Return before and after of each object, without secrets."""
    return [_difference(change) for step in plan.steps for change in _changes(step)]


def _changes(step: Any) -> Iterable[ObjectChange]:
    if isinstance(step, Deploy | RemovePending):
        return step.objects
    return (step.change,) if isinstance(step, Restore) else ()


def _difference(change: ObjectChange) -> dict[str, Any]:
    before, after = masked_pair(_confidential(change.before), _confidential(change.after))
    title = change.title.partition(" ")[2]
    return {"before": before or "", "after": after or "", "before_header": title, "after_header": title}


def _confidential(manifest: Any) -> Any:
    """Return the object with its data as secrets, if it is a Secret."""
    if not manifest or manifest.get("kind") != "Secret":
        return manifest
    fields = ("data", "stringData")
    hidden = {field: _hidden(manifest[field]) for field in fields if isinstance(manifest.get(field), Mapping)}
    return {**manifest, **hidden}


def _hidden(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Confidential(str(value)) for name, value in data.items()}


REPORTING = Reporting(
    finalizer=names.FINALIZER,
    transient=reasons.TRANSIENT_OF_COLLECTOR,
    completed=_completed,
    masker=_masker,
    status=_status,
    events=_events,
    is_settled=lambda found: status.is_settled([*found]),
    requeue_after=status.requeue_after,
)
