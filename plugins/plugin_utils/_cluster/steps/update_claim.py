# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The change of single fields of a PVC, if it still has the values that were read."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Patch
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Operation

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
    """The change of a PVC, if it still has the values that were read."""

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
