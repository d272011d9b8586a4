# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make what a run creates belong to the resource that it runs for."""

from __future__ import annotations

from .client import Json
from .dependents import NAME_ANNOTATION, TYPE_ANNOTATION
from .kinds import Resource
from .owner import Owner


def can_be_owned(owner: Owner, resource: Resource, document: Json, namespace: str) -> bool:
    """Whether Kubernetes lets the owner own the object, which is created in the namespace."""
    if not owner.namespace:
        return True
    return resource.namespaced and owner.namespace == (document["metadata"].get("namespace") or namespace)


def injected(owner: Owner, document: Json, *, by_reference: bool) -> Json:
    """The object with a reference to the owner, after those that it has, or with annotations that say the same."""
    metadata = dict(document["metadata"])
    if by_reference:
        metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or []), owner.reference]
    else:
        name = f"{owner.namespace}/{owner.name}" if owner.namespace else owner.name
        annotations = {NAME_ANNOTATION: name, TYPE_ANNOTATION: owner.type_annotation}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    return {**document, "metadata": metadata}
