# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Server-side apply, and who owns which field afterwards (structured-merge-diff).

Merging and removing are the project's own predictions of it, which other tests compare with a real API server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    SELF,
    FieldSet,
    Shape,
    difference,
    field_set,
    intersection,
    key_step,
    shape_of,
    union,
    value_step,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge, remove
from ansible_collections.druidops.druid.tests.simulator.store import Manifest

_KINDS = frozenset(
    {
        "ConfigMap",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Ingress",
        "PersistentVolumeClaim",
        "PodDisruptionBudget",
        "Service",
        "StatefulSet",
    }
)


def applied(live: Manifest | None, manifest: Manifest, manager: str) -> Manifest:
    """Return the object after a forced apply."""
    specified = _without_preconditions(manifest)
    if live is None:
        return _with_entries(specified, [_entry(specified, manager, "Apply", field_set(specified))])
    entries = live["metadata"].get("managedFields") or []
    own = _union(each for each in entries if _is(each, manager, "Apply"))
    others = [each for each in entries if not _is(each, manager, "Apply")]
    desired = field_set(specified, own)
    dropped = _exclusively(difference(own, desired), _union(others))
    after = merge(remove(live, dropped) if dropped else live, specified)
    taken = intersection(_changed(live, after), desired)
    return _with_entries(after, [*_without(others, taken), _entry(live, manager, "Apply", desired)])


def updated(live: Manifest | None, after: Manifest, manager: str, subresource: str = "") -> Manifest:
    """Return the object with its fields' owners after a create, an update or a patch."""
    if live is None:
        return _with_entries(after, [_entry(after, manager, "Update", _all_fields(after))])
    entries = after["metadata"].get("managedFields") or []
    changed = _changed(live, after)
    removed = difference(_all_fields(live), _all_fields(after))
    own = [each for each in entries if _is(each, manager, "Update", subresource)]
    others = [each for each in entries if each not in own]
    mine = difference(union(_union(own), changed), removed)
    return _with_entries(
        after, [*_without(others, union(changed, removed)), _entry(live, manager, "Update", mine, subresource)]
    )


def _all_fields(live: Manifest) -> FieldSet:
    """Return the fields of an object; of a kind without known structure only its finalizers."""
    if live["kind"] in _KINDS:
        return field_set(live)
    finalizers = live["metadata"].get("finalizers") or ()
    return {"f:metadata": {"f:finalizers": {SELF: {}, **{value_step(each): {} for each in finalizers}}}}


def _changed(before: Manifest, after: Manifest) -> FieldSet:
    """Return the fields that were added or have another value."""
    fields = _all_fields(after)
    added = difference(fields, _all_fields(before))
    if after["kind"] not in _KINDS:
        return added
    return union(added, _modified(fields, before, after, shape_of(after["kind"])))


def _modified(fields: FieldSet, before: Any, after: Any, shape: Shape) -> FieldSet:
    changed: FieldSet = {}
    for step, children in fields.items():
        if step == SELF:
            continue
        old, new = _child(before, step, shape), _child(after, step, shape)
        if children.keys() - {SELF}:
            below = shape.child(step[2:]) if step.startswith("f:") else shape.element
            if deeper := _modified(children, old, new, below):
                changed[step] = deeper
        elif old != new:
            changed[step] = {}
    return changed


def _child(value: Any, step: str, shape: Shape) -> Any:
    if step.startswith("f:"):
        return value.get(step[2:]) if isinstance(value, Mapping) else None
    elements = value if isinstance(value, list) else []
    name = key_step if step.startswith("k:") else lambda _shape, element: value_step(element)
    return next((element for element in elements if name(shape, element) == step), None)


def _exclusively(dropped: FieldSet, others: FieldSet) -> FieldSet:
    """Return the dropped fields without other owners, and without mappings in which another manager owns a field."""
    remaining: FieldSet = {}
    for step, children in difference(dropped, others).items():
        if not others.get(step):
            remaining[step] = children
        elif deeper := _exclusively({name: each for name, each in children.items() if name != SELF}, others[step]):
            remaining[step] = deeper
    return remaining


def _union(entries: Iterable[Manifest]) -> FieldSet:
    return reduce(union, (each["fieldsV1"] for each in entries), FieldSet())


def _without(entries: list[Manifest], fields: FieldSet) -> list[Manifest]:
    return [{**each, "fieldsV1": difference(each["fieldsV1"], fields)} for each in entries]


def _is(entry: Manifest, manager: str, operation: str, subresource: str = "") -> bool:
    return (entry["manager"], entry["operation"], entry.get("subresource", "")) == (manager, operation, subresource)


def _entry(live: Manifest, manager: str, operation: str, fields: FieldSet, subresource: str = "") -> Manifest:
    more = {"subresource": subresource} if subresource else {}
    common = {"apiVersion": live["apiVersion"], "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1"}
    return {"manager": manager, "operation": operation, **common, "fieldsV1": fields, **more}


def _with_entries(live: Manifest, entries: list[Manifest]) -> Manifest:
    kept = [each for each in entries if each["fieldsV1"]]
    return {**live, "metadata": {**live["metadata"], "managedFields": kept}}


def _without_preconditions(manifest: Manifest) -> Manifest:
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in ("uid", "resourceVersion")}
    return {**manifest, "metadata": metadata}
