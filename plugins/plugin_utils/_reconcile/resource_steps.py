# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps that write the custom resource itself, the same for each kind whose steps have titles only."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


@dataclass(frozen=True)
class WriteResource:
    """A write of the resource, before the reconciles."""

    operation: str
    kind: str
    name: str

    @property
    def title(self) -> str:
        return f"{self.operation} {self.kind} {self.name}"


@dataclass(frozen=True)
class Finalizer:
    """Set or remove the finalizer."""

    is_set: bool

    @property
    def title(self) -> str:
        return f"{'set' if self.is_set else 'remove'} the finalizer"


def written(operation: str | None, resource: Manifest | None) -> tuple[WriteResource, ...]:
    """Return the write of a resource; none without an operation, or without a resource."""
    if operation is None or resource is None:
        return ()
    return (WriteResource(operation, resource["kind"], resource["metadata"]["name"]),)
