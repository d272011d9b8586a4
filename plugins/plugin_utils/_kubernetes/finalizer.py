# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalizers of a resource: which one is set, whether ansible-operator has set it, and how to change them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The field manager of ansible-operator.
OPERATOR = "ansible-operator"


def is_set(resource: Manifest, finalizer: str) -> bool:
    """True for a resource with the finalizer."""
    return finalizer in (resource["metadata"].get("finalizers") or ())


def is_set_by_operator(resource: Manifest, finalizer: str) -> bool:
    """True when ansible-operator has set the finalizer: its binary has written that field."""
    field = ("f:metadata", "f:finalizers", f'v:"{finalizer}"')
    entries = resource["metadata"].get("managedFields") or ()
    return is_set(resource, finalizer) and any(
        below(each.get("fieldsV1") or {}, *field) for each in entries if each.get("manager") == OPERATOR
    )


def changed_finalizers(resource: Manifest, finalizer: str, *, is_desired: bool) -> list[str]:
    """Return the finalizers of the resource with this one, or without it."""
    others = [each for each in resource["metadata"].get("finalizers") or () if each != finalizer]
    return [*others, finalizer] if is_desired else others


def finalizer_patch(
    resource: Manifest, finalizer: str, *, is_desired: bool, unchanged: Iterable[str] = ("resourceVersion",)
) -> list[dict[str, Any]]:
    """Return the JSON patch that sets or removes the finalizer if these fields of the metadata are unchanged."""
    metadata = resource["metadata"]
    finalizers = changed_finalizers(resource, finalizer, is_desired=is_desired)
    return [
        *({"op": "test", "path": f"/metadata/{field}", "value": metadata.get(field)} for field in unchanged),
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]
