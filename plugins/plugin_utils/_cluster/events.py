# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a reconcile: the Go operator's reasons, and the changed fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.druid_health import ONLY_BLOCKS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_sizes import capacity
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import BOOKKEEPING
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout_status import STALLED
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import (
    MAX_HIDDEN,
    ROLLOUT_WARNINGS,
    WARNINGS,
    digest_of_warning,
    hidden_warnings,
    shown_warnings,
    warning_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import shown

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange

MAX_CHANGES = 5
_BEFORE_DIFFERENCE = 20
# Reasons by operation: (success, failure).
_REASONS = {
    "create": (reasons.CREATE_SUCCEEDED, reasons.CREATE_FAILED),
    "update": (reasons.UPDATE_SUCCEEDED, reasons.UPDATE_FAILED),
    "recreate": (reasons.UPDATE_SUCCEEDED, reasons.UPDATE_FAILED),
    "delete": (reasons.DELETE_SUCCEEDED, reasons.DELETE_FAILED),
}
# Operations of which one event names all objects.
_TOGETHER = {"create": "created", "delete": "deleted"}


def done_texts(results: Iterable[StepResult]) -> tuple[EventText, ...]:
    """Return the events of successful writes of objects, except patches of finalizers, owners and policies.

    One event names all created objects, and one all deleted ones: a new cluster has many.
    """
    done = (result.step for result in results if result.is_done)
    steps = [step for step in done if step.patch is None or step.notice is not None]
    together = {
        operation: found
        for operation in _TOGETHER
        if len(found := [step for step in steps if step.operation == operation and step.notice is None]) > 1
    }
    return (
        *(_done_together(operation, found) for operation, found in together.items()),
        *(_done(step) for step in steps if step.operation not in together or step.notice is not None),
    )


def _done_together(operation: str, steps: Sequence[Step]) -> EventText:
    """Return the event for several steps; a message that is too long is shortened."""
    objects = ", ".join(f"{step.key.name}:*v1.{step.key.kind}" for step in steps)
    namespace = steps[0].manifest["metadata"]["namespace"]
    message = f"Successfully {_TOGETHER[operation]} {len(steps)} objects in namespace [{namespace}]: {objects}"
    return EventText("Normal", _REASONS[operation][0], message)


def expanded_texts(change: StatusChange, observed: Observed) -> tuple[EventText, ...]:
    """Return one event per PVC that was expanding before, and has a file system of the desired size now."""
    remaining = {each["name"] for each in change.after.get("expandingVolumes") or ()}
    finished = (each for each in change.before.get("expandingVolumes") or () if each["name"] not in remaining)
    found = ((each, observed.objects.get(ObjectKey("PersistentVolumeClaim", each["name"]))) for each in finished)
    existing = ((each, live) for each, live in found if live is not None)
    sizes = ((each["name"], capacity(live), quantity.parse(each.get("size"))) for each, live in existing)
    return tuple(
        EventText("Normal", reasons.VOLUME_EXPANDED, f"PVC {name} has {size.text}.")
        for name, size, desired in sizes
        if size is not None and desired is not None and size.amount >= desired
    )


def in_druid_texts(steps: Iterable[DruidChange]) -> tuple[EventText, ...]:
    """Return one event per change in Druid."""
    return tuple(_done_in_druid(step) for step in steps)


def problem_texts(results: Iterable[StepResult], findings: Iterable[Finding]) -> tuple[EventText, ...]:
    """Return a warning for each failed write and each other problem, except skipped writes."""
    failed = (result for result in results if result.error and result.was_tried and _has_own_event(result))
    problems = (each for each in findings if each.is_problem and each.reason != reasons.APPLY_FAILED)
    return (
        *(EventText("Warning", _REASONS[each.step.operation][1], each.error or "") for each in failed),
        *(EventText("Warning", each.reason, each.message) for each in problems),
    )


def _has_own_event(failed: StepResult) -> bool:
    """False for a patch, and for a failure whose finding has a reason of its own: that is the reason of its event."""
    return failed.step.operation != "patch" and failed.reason is None


def rollout_texts(change: StatusChange, complete: Collection[str]) -> Iterator[EventText]:
    """Yield an event for the end of a group's rollout, for the start of one, and for a stalled one.

    `complete` are the groups whose pods are available. A rollout also ends when its group is stopped or removed. A
    group for which others only wait has none.
    """
    before, after = (_started_rollout(each) for each in (change.before, change.after))
    if before.get("group") in complete and before.get("group") != after.get("group"):
        yield EventText("Normal", reasons.ROLLOUT_COMPLETED, f"Rollout of group {before.get('group')} is completed.")
    if after and before.get("group") != after.get("group"):
        pods = f"{after['pods']} pod{'' if after['pods'] == 1 else 's'}"
        yield EventText("Normal", reasons.ROLLOUT_STARTED, f"Rollout of group {after['group']} ({pods}) has started.")
    stall = (change.after.get("rollout") or {}).get(STALLED)
    if stall and STALLED not in (change.before.get("rollout") or {}):
        yield EventText("Warning", reasons.ROLLOUT_STALLED, stall)


def _started_rollout(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document.get("rollout") or {}
    return {} if found.get(ONLY_BLOCKS) else found


def warning_texts(warnings: Iterable[str]) -> tuple[EventText, ...]:
    """Return a warning for each message about retained PVCs of a deleted cluster."""
    return tuple(EventText("Warning", reasons.PVCS_RETAINED, text) for text in warnings)


def new_warnings(change: StatusChange, plan: Plan) -> tuple[EventText, ...]:
    """Return an event for each warning that was not in the status before.

    A condition has the first warnings, and the status has the digests of the others. Warnings of the API server are
    not in the status: they are new if something was written, or the spec was changed.
    """
    # The CRD of the Go operator drops the conditions, so that any warning would seem to be new in each reconcile.
    is_known = not change.before or "conditions" in change.before
    is_other = any(of(change.before) != of(change.after) for of in (warning_messages, hidden_warnings))
    if not (plan.changes or (is_known and (is_other or change.is_new_generation))):
        return ()
    reported = {text for message in warning_messages(change.before).values() for text in shown_warnings(message)}
    reported |= {finding.message for finding in plan.findings}
    found = ((text, _condition(text, plan)) for text in change.warnings if text not in reported)
    new = ((text, kind) for text, kind in found if kind is None or not _was_hidden(text, kind, change))
    return tuple(EventText("Warning", _reason(kind), text) for text, kind in new)


def _was_hidden(warning: str, condition: str, change: StatusChange) -> bool:
    """True for a warning that its condition did not show before, but that was known.

    Where the digests of all are not known, as after an update of the operator, that is if the condition is the same.
    """
    recorded = hidden_warnings(change.before)
    if 0 < len(recorded) < MAX_HIDDEN:
        return digest_of_warning(warning) in recorded
    before, after = (warning_messages(each).get(condition) for each in (change.before, change.after))
    return before is not None and before == after


def _condition(warning: str, plan: Plan) -> str | None:
    """Return the type of the condition that a warning is in, None for one of the API server."""
    if warning in plan.rollout_warnings:
        return ROLLOUT_WARNINGS
    return WARNINGS if warning in plan.warnings else None


def _reason(condition: str | None) -> str:
    return reasons.ROLLOUT_WARNING if condition == ROLLOUT_WARNINGS else reasons.SPEC_WARNING


def _done(step: Step) -> EventText:
    kind, name = step.key
    if step.notice is not None:
        return EventText("Normal", step.notice.reason, f"PVC {name}: {step.notice.message}.")
    if step.request is not None:
        return EventText("Normal", step.request.reason, f"Done in Druid: {step.request.title}.{_changes(step)}")
    namespace = step.manifest["metadata"]["namespace"]
    messages = {
        "create": f"Successfully created object [{name}:*v1.{kind}] in namespace [{namespace}]",
        "update": f"Updated [{name}:*v1.{kind}].{_changes(step)}",
        "recreate": f"Recreated [{name}:*v1.{kind}], leaving its pods.{_changes(step)}",
        "delete": f"Successfully deleted object [{name}:*v1.{kind}] in namespace [{namespace}]",
    }
    return EventText("Normal", _REASONS[step.operation][0], messages[step.operation])


def _done_in_druid(step: DruidChange) -> EventText:
    changes = _listed(list(_differences(*step.masked, "")))
    return EventText("Normal", reasons.UPDATE_SUCCEEDED, f"Done in Druid: {step.title}.{changes}")


# Our own notes in JSON: the pods that leave are in the status, with events of their own.
_RECORDS: Mapping[str, str] = {
    f"metadata.annotations.{names.DRAIN_ANNOTATION}": "the drain",
    f"metadata.annotations.{names.DECOMMISSION_ANNOTATION}": "the decommissioning",
}


def _changes(step: Step) -> str:
    found = changed_fields(step.live or {}, step.after or {})
    shown = _listed([each for each in found if each[0] not in _RECORDS])
    records = " and ".join(_RECORDS[path] for path, _before, _after in found if path in _RECORDS)
    return shown or (f" Only the record of {records}." if records else " Field ownership only.")


def _listed(found: list[tuple[str, str, str]]) -> str:
    shown = "; ".join(f"{path}: {before} -> {after}" for path, before, after in found[:MAX_CHANGES])
    more = f" and {len(found) - MAX_CHANGES} more" if len(found) > MAX_CHANGES else ""
    return f" {shown}{more}" if found else ""


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (path, old value, new value) of each leaf that differs, without server-side fields; secrets are masked."""
    return list(_differences(*masked_pair(before, after), ""))


def _differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            if name not in BOOKKEEPING and not (name == "status" and not path):
                yield from _differences(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, path)
    else:
        yield path, *_distinct_pair(before, after)


def _distinct_pair(before: Any, after: Any) -> tuple[str, str]:
    """Return both as text; if the beginning of each does not show the difference, from shortly before that."""
    first, second = _shown_pair(before, after)
    if first != second or not (isinstance(before, str) and isinstance(after, str)):
        return first, second
    same = next((index for index, pair in enumerate(zip(before, after, strict=False)) if len({*pair}) > 1), 0)
    begin = max(0, same - _BEFORE_DIFFERENCE)
    first, second = _shown_pair(before[begin:], after[begin:])
    return f"...{first}", f"...{second}"


def _list_differences(before: list[Any], after: list[Any], path: str) -> Iterator[tuple[str, str, str]]:
    old, new = _by_name(before), _by_name(after)
    for name in {**old, **new}:
        yield from _differences(old.get(name), new.get(name), f"{path}[{name}]")


def _by_name(elements: list[Any]) -> dict[Any, Any]:
    """Return the elements by name if names are unique, otherwise by position."""
    mappings = [element for element in elements if isinstance(element, Mapping)]
    named = {each["name"]: each for each in mappings if isinstance(each.get("name"), str)}
    return named if len(named) == len(elements) else dict(enumerate(elements))


def _shown_pair(before: Any, after: Any) -> tuple[str, str]:
    """Return both as text; of multi-line strings only the lines that differ."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return shown(before), shown(after)
    old, new = before.splitlines(), after.splitlines()
    removed, added = [line for line in old if line not in new], [line for line in new if line not in old]
    if not (removed or added) or len(old) == len(new) == 1:
        return shown(before), shown(after)
    return shown("\n".join(removed) or None), shown("\n".join(added) or None)
