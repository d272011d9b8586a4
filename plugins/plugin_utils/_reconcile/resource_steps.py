# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps that write the custom resource itself, the same for each kind whose Step is that of the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context, Result, Shown, Step


@dataclass(frozen=True)
class WriteResource(Shown):
    """A write of the resource, before the reconciles."""

    operation: str
    kind: str
    name: str

    @property
    def title(self) -> str:
        return f"{self.operation} {self.kind} {self.name}"


@dataclass(frozen=True)
class Finalizer(Step):
    """Set or remove the finalizer of this name. The state has the resource, and whether it is deleted."""

    name: str
    is_set: bool

    @property
    def title(self) -> str:
        return f"{'set' if self.is_set else 'remove'} the finalizer"

    def carry_out(self, context: Context) -> Result[Any]:
        """Return the state with the resource after the change; without a finalizer it may be deleted already."""
        resource = context.state.resource
        metadata = resource["metadata"]
        try:
            written = context.api.json_patch(
                resource["kind"], metadata["namespace"], metadata["name"], self._operations(resource)
            )
        except ApiError as error:
            if not error.is_missing_object or self.is_set:
                raise
            written = resource
        return Result(self, state=replace(context.state, resource=written, is_deleted=not self.is_set))

    def _operations(self, resource: Manifest) -> list[dict[str, Any]]:
        """Return the JSON patch."""
        return finalizer_patch(resource, self.name, is_desired=self.is_set)


def written(operation: str | None, resource: Manifest | None) -> tuple[WriteResource, ...]:
    """Return the write of a resource; none without an operation, or without a resource."""
    if operation is None or resource is None:
        return ()
    return (WriteResource(operation, resource["kind"], resource["metadata"]["name"]),)
