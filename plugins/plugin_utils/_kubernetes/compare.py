# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a live object is as it is desired: before a dry run, without a request, and by the result of a dry run.

A value that admission (mutating webhooks and policies) adds or overrides, as the dry run shows, is not ours: a live
object is compared only with what admission leaves as it is specified. So a policy that stamps each object, or that was
installed later, causes no recreation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    fields_of_others,
    owned_fields,
    required_managed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    SELF,
    FieldSet,
    Shape,
    difference,
    field_set,
    shape_of,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import (
    is_dropped,
    merge,
    remove,
    same,
    same_entry,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


@dataclass(frozen=True)
class Comparison:
    """A live object beside the manifest for it.

    ``predicted`` is the live object after an apply; ``managed_fields`` the required ownership before it (None:
    unchanged); ``is_settled`` is True if an apply would change neither values nor ownership.
    """

    predicted: Manifest
    managed_fields: list[dict[str, Any]] | None
    is_settled: bool


def compare(live: Manifest, manifest: Manifest, former: Manifest | None = None) -> Comparison:
    """Compare the fields that we specify now or own already; fields of other managers are ignored.

    ``former`` is the object that ``live`` replaced, if its managers have not got their fields back yet.
    """
    specified = field_set(manifest)
    managed_fields = required_managed_fields(live, manifest, former, specified)
    owner_view = (
        live if managed_fields is None else {**live, "metadata": {**live["metadata"], "managedFields": managed_fields}}
    )
    owned = owned_fields(owner_view)
    desired, dropped = specified, {}
    if specified != owned:
        desired, others = field_set(manifest, owned), fields_of_others(owner_view)
        dropped = _removed_fields(difference(difference(owned, desired), others), others)
    predicted = merge(remove(live, dropped) if dropped else live, manifest)
    return Comparison(predicted, managed_fields, managed_fields is None and owned == desired and predicted == live)


def _removed_fields(dropped: FieldSet, others: FieldSet) -> FieldSet:
    """Return the fields to remove; a mapping or list in which others own a field stays."""
    removed: FieldSet = {}
    for step, children in dropped.items():
        if not others.get(step, {}).keys() - {SELF}:
            removed[step] = children
        elif deeper := _removed_fields({name: each for name, each in children.items() if name != SELF}, others[step]):
            removed[step] = deeper
    return removed


def same_object(live: Manifest, after: Manifest) -> bool:
    """True if the objects differ only in status and server-side fields."""
    return _essence(live) == _essence(after)


def same_fields(live: Manifest, after: Manifest, manifest: Manifest) -> bool:
    """True if the objects have the same values in the fields that we specify or own, and we own the same fields.

    Others, such as admission webhooks, may change the rest with each write.
    """
    ours = union(field_set(manifest), owned_fields(live))
    return same_object(*(remove(each, difference(field_set(each), ours)) for each in (live, after)))


def _essence(live: Manifest) -> dict[str, Any]:
    """Return the parts that an apply can change, without status and server-side metadata."""
    bookkeeping = ("managedFields", "resourceVersion", "generation")
    metadata = {name: value for name, value in live["metadata"].items() if name not in bookkeeping}
    return {**live, "metadata": metadata, "status": None, "ours": owned_fields(live)}


class Override(NamedTuple):
    """A field whose specified value is not what the API server stores; `stored` None: it stores none."""

    path: str
    specified: Any
    stored: Any


def differs(live: Any, desired: Any, admitted: Any, shape: Shape) -> bool:
    """True if ``live`` differs from ``desired`` in a value that is in ``admitted`` as it is in ``desired``."""
    if same(admitted, desired, shape):
        return not same(live, desired, shape)
    if isinstance(desired, list) and isinstance(admitted, list):
        before, specified, after = (_by_name(each or [], shape) for each in (live, desired, admitted))
        names = {**before, **specified, **after}
        return any(_differs_in(before, specified, after, name, shape.element) for name in names)
    if isinstance(desired, Mapping) and isinstance(admitted, Mapping):
        found = live if isinstance(live, Mapping) else {}
        return any(_entry_differs(found, desired, admitted, name, shape) for name in {**found, **desired, **admitted})
    return False


def _entry_differs(
    live: Mapping[str, Any], desired: Mapping[str, Any], admitted: Mapping[str, Any], name: str, shape: Shape
) -> bool:
    if same_entry(admitted, desired, name, shape):
        return not same_entry(live, desired, name, shape)
    if name not in desired and not isinstance(admitted.get(name), Mapping):
        return False
    default: Any = {} if isinstance(admitted.get(name), Mapping) else None
    return differs(live.get(name, default), desired.get(name, default), admitted.get(name), shape.child(name))


def _differs_in(
    live: Mapping[Any, Any], desired: Mapping[Any, Any], admitted: Mapping[Any, Any], name: Any, shape: Shape
) -> bool:
    """True if the element of a list was added, removed or changed, and not by admission."""
    if (name in desired) != (name in admitted):
        return False
    if name not in desired or name not in live:
        return True
    return differs(live[name], desired[name], admitted[name], shape)


def overrides(manifest: Manifest, after: Manifest) -> Iterator[Override]:
    """Yield each field of the manifest that has another value in the result of its dry run, or none."""
    shape = shape_of(manifest["kind"])
    head = {name: manifest["metadata"].get(name) or {} for name in ("labels", "annotations")}
    specified = {**{name: value for name, value in manifest.items() if name not in ("apiVersion", "kind", "status")}}
    yield from _overrides({**specified, "metadata": head}, after, shape, "")


def _overrides(desired: Any, after: Any, shape: Shape, path: str) -> Iterator[Override]:
    if same(after, desired, shape):
        return
    if isinstance(desired, Mapping) and isinstance(after, Mapping):
        for name, value in desired.items():
            where = f"{path}.{name}" if path else name
            if name in after or not (is_dropped(value, name, shape) or same_entry(after, desired, name, shape)):
                yield from _overrides(value, after.get(name), shape.child(name), where)
    elif isinstance(desired, list) and isinstance(after, list) and (shape.type or shape.is_set):
        stored = _by_name(after, shape)
        for name, value in _by_name(desired, shape).items():
            yield from _overrides(value, stored.get(name), shape.element, f"{path}[{name}]")
    else:
        yield Override(path, desired, after)


def _by_name(elements: list[Any], shape: Shape) -> dict[Any, Any]:
    """Return the elements of a list by what identifies them: merge key, value, name or number."""
    if shape.is_set:
        return {str(each): each for each in elements}
    if shape.keys:
        return {"/".join(str(key) for key in shape.key_of(each) if key is not None): each for each in elements}
    mappings = [each for each in elements if isinstance(each, Mapping)]
    named = {name: mapping for mapping in mappings if (name := (mapping.get("metadata") or mapping).get("name"))}
    return named if len(named) == len(elements) else dict(enumerate(elements))
