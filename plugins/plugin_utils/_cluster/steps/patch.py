# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change of single fields of an object, such as a PVC, by a JSON patch, which tests what was read."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

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


# Path in the PVC -> value, None: removed.
Changes = Mapping[tuple[str, ...], Any]


class Notice(NamedTuple):
    """What a step means for a PVC: the reason and message of its event; the plan has the message, too."""

    reason: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Noticed(Step):
    """A step whose line of the plan and event have the same notice."""

    notice: Notice

    @property
    def remark(self) -> str:
        return f" ({self.notice.message})"

    @property
    def operation(self) -> Operation:
        return super().operation._replace(reason=self.notice.reason)

    @property
    def message(self) -> str:
        return f"PVC {self.key.name}: {self.notice.message}."


@dataclass(frozen=True, kw_only=True)
class UpdateClaim(Noticed, Patch):
    """The change of a PVC."""

    prepares: ClassVar[bool] = True

    @property
    def verdicts(self) -> Literal["writes", "patches"] | None:
        return None if self.group is None else "patches"


def updated_claim(live: Manifest, changes: Changes, notice: Notice, group: str | None) -> UpdateClaim:
    """Return the step that changes these fields of a PVC."""
    patch, after = patch_of(live, changes)
    return UpdateClaim(group=group, live=live, after=after, patch=patch, notice=notice)


def patch_of(live: Manifest, changes: Changes) -> tuple[list[dict[str, Any]], Manifest]:
    """Return the JSON patch, which tests the values that were read, and the PVC afterwards."""
    patch: list[dict[str, Any]] = [{"op": "test", "path": "/metadata/uid", "value": live["metadata"]["uid"]}]
    after = deepcopy(live)
    for path, value in changes.items():
        parent, pointer = after, ""
        for part in path[:-1]:
            pointer += f"/{_escaped(part)}"
            if not isinstance(parent.get(part), dict):
                # Another client may have added the mapping: then the test fails.
                patch += [{"op": "test", "path": pointer, "value": None}, {"op": "add", "path": pointer, "value": {}}]
                parent[part] = {}
            parent = parent[part]
        pointer += f"/{_escaped(path[-1])}"
        if path[-1] in parent or path[0] == "spec":
            patch.append({"op": "test", "path": pointer, "value": parent.get(path[-1])})
        if value is None:
            patch.append({"op": "remove", "path": pointer})
            parent.pop(path[-1], None)
        else:
            patch.append({"op": "add", "path": pointer, "value": value})
            parent[path[-1]] = value
    return patch, after


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
