# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a resource that describes one object in a Druid: each is data, and carries itself out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import note_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

if TYPE_CHECKING:
    # Steps are part of decisions, which are pure: only their execution loads what sends requests.
    from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
    from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Resource

# Makes the object in Druid, from the client.
InDruid = Callable[["DruidClient"], "Resource"]


class Step(kernel.Step):
    """A step of a resource that describes one object."""


class Finalizer(kernel.Finalizer, Step):
    """Set or remove the finalizer."""


@dataclass(frozen=True)
class SaveNote(Step):
    """Write the annotation that names what is in Druid because of the resource."""

    text: str

    @property
    def title(self) -> str:
        return "record what is submitted"

    def carry_out(self, context: kernel.Context) -> kernel.StepResult[Any]:
        """Return the state with the resource after the change; KubernetesError."""
        if context.state is None:
            raise TypeError(self.title)
        resource = context.state.resource
        metadata, operations = resource["metadata"], note_patch(resource["metadata"], self.text)
        written = context.api.json_patch(resource["kind"], metadata["namespace"], metadata["name"], operations)
        return kernel.StepResult(self, state=replace(context.state, resource=written))


# The fields of a resource for the options of a module that have other names.
_FIELDS = {"user_password": "passwordSecret", "state": "deletionPolicy"}


def of_resource(error: DruidError) -> DruidError:
    """Return the error with the field of the resource in place of a module's option."""
    if isinstance(error, InvalidInput) and request.resource_field(error.name) == error.name:
        name = error.name.removeprefix("spec.")
        error.args = (f"spec.{_FIELDS.get(name, name)}{str(error)[len(error.name) :]}",)
        error.name = f"spec.{name}"
    return error


class Request(request.Request, Step):
    """A request to Druid."""

    def failed(self, error: DruidError, context: kernel.Context) -> kernel.StepResult[Any]:
        return super().failed(of_resource(error), context)


@dataclass(frozen=True)
class Write(request.Write, Request):
    """Create or update the object."""

    connected: InDruid = field(compare=False, repr=False)

    operation = kernel.Operation(reason=reasons.OBJECT_UPDATED, counted="applied")

    def send(self, client: DruidClient, _context: kernel.Context) -> kernel.StepResult[Any]:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import write_resource

        written = write_resource(self.connected(client), self.change)
        return kernel.StepResult(self, warnings=written.warnings)


@dataclass(frozen=True)
class Remove(Request):
    """Remove an object; a missing one is not an error."""

    what: str
    connected: InDruid = field(compare=False, repr=False)

    operation = kernel.Operation(reason=reasons.OBJECT_REMOVED, counted="removed")

    @property
    def title(self) -> str:
        return f"remove {self.what}"

    def send(self, client: DruidClient, _context: kernel.Context) -> kernel.StepResult[Any]:
        resource = self.connected(client)
        before = resource.read()
        # also judges whether it may be removed
        after = resource.merge(before)
        if before is not None:
            resource.write(before, after)
        return kernel.StepResult(self, warnings=tuple(resource.warnings))
