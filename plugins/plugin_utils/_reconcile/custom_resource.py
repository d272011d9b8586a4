# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every custom resource has, whichever kind it is. A part of another type counts as not set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


@dataclass(frozen=True)
class CustomResource:
    """A resource of a kind; `uid` is None if it is not stored, because variables define it."""

    name: str
    namespace: str
    uid: str | None
    generation: int | None
    created: str
    is_terminating: bool
    finalizers: tuple[str, ...]
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]
    status: Mapping[str, Any]

    @classmethod
    def from_resource(cls, resource: Manifest) -> Self:
        """Return it from its manifest."""
        metadata = resource["metadata"]
        return cls(
            name=metadata["name"],
            namespace=metadata["namespace"],
            uid=metadata.get("uid"),
            generation=metadata.get("generation"),
            created=str(metadata.get("creationTimestamp") or ""),
            is_terminating=is_terminating(resource),
            finalizers=tuple(metadata.get("finalizers") or ()),
            annotations=metadata.get("annotations") or {},
            spec=mapping(resource.get("spec")),
            status=mapping(resource.get("status")),
        )

    def lacks(self, finalizer: str) -> bool:
        """Return whether it is stored without this finalizer."""
        return self.uid is not None and finalizer not in self.finalizers


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}
