# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change of single fields of an object by a JSON patch, which tests what was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import UPDATE, Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Operation, StepResult


@dataclass(frozen=True, kw_only=True)
class Patch(Step):
    """A JSON patch (RFC 6902) of the live object."""

    live: Manifest
    patch: list[dict[str, Any]] = field(default_factory=list)

    @property
    def operation(self) -> Operation:
        return UPDATE._replace(reason="")

    def dry_run(self, context: Context) -> Verdict:
        return Verdict(self, self._send(context, dry_run=True))

    def has_effect(self, after: Manifest) -> bool:
        """True if a field that the patch sets or removes has another value than before: a webhook may change others."""
        paths = (
            operation["path"] for operation in self.patch if operation["op"] != "test" and operation.get("value") != {}
        )
        return any(_value_at(self.live, path) != _value_at(after, path) for path in paths)

    def carry_out(self, context: Context) -> StepResult[Step]:
        """Return the object, or none if it was terminating and is deleted."""
        try:
            return StepResult(self, self._send(context))
        except ApiError as error:
            if error.is_missing_object and is_terminating(self.live):
                return StepResult(self)
            raise

    def _send(self, context: Context, dry_run: bool = False) -> Manifest:
        return context.api.json_patch(self.key.kind, self.namespace, self.key.name, self.patch, dry_run)


def _value_at(document: Manifest, pointer: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901) into mappings, None if there is none."""
    value: Any = document
    for part in pointer.split("/")[1:]:
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value
