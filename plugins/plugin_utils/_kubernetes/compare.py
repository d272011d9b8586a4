# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparison of live and desired state. It filters before a dry run, without a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import field_ownership, merge
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
    SELF,
    FieldSet,
    difference,
    field_set,
    union,
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
    managed_fields = field_ownership.required_managed_fields(live, manifest, former, specified)
    owner_view = (
        live if managed_fields is None else {**live, "metadata": {**live["metadata"], "managedFields": managed_fields}}
    )
    owned = field_ownership.owned_fields(owner_view)
    desired, dropped = specified, {}
    if specified != owned:
        desired, others = field_set(manifest, owned), field_ownership.fields_of_others(owner_view)
        dropped = _removed_fields(difference(difference(owned, desired), others), others)
    predicted = merge.merge(merge.remove(live, dropped) if dropped else live, manifest)
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
    ours = union(field_set(manifest), field_ownership.owned_fields(live))
    return same_object(*(merge.remove(each, difference(field_set(each), ours)) for each in (live, after)))


def _essence(live: Manifest) -> dict[str, Any]:
    """Return the parts that an apply can change, without status and server-side metadata."""
    bookkeeping = ("managedFields", "resourceVersion", "generation")
    metadata = {name: value for name, value in live["metadata"].items() if name not in bookkeeping}
    return {**live, "metadata": metadata, "status": None, "ours": field_ownership.owned_fields(live)}
