# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects the changes of resources of one kind into a module's result, with secrets masked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden, masked, masked_pair
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure


@dataclass
class Report:
    """
    ``kind``: the key of the result. ``name``: the name of a resource in messages. ``state``: the key of its state.

    ``problems``: the error messages.
    """

    kind: str
    name: str
    state: str
    entries: list[dict[str, Any]] = field(default_factory=list)
    diff: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, identifier: str, change: Change, warnings: Iterable[str]) -> dict[str, Any]:
        """Add a resource and return its entry, which may be extended. DruidError if the result is uncertain."""
        before, after = masked_pair(change.before, change.after)
        if change.changed:
            title = f"{self.name} {identifier}"
            self.diff.append(
                {"before": before or "", "after": after or "", "before_header": title, "after_header": title}
            )
        self.warnings.extend(warnings)
        entry = {"id": identifier, "changed": change.changed, self.state: masked(change.after)}
        self.entries.append(entry)
        if change.problem:
            raise DruidError(hidden(change.problem, [change.before, change.after]))
        return entry

    def result(self) -> dict[str, Any]:
        """Return the module's result. PartialFailure, which contains the result, if there are problems."""
        changed = any(entry["changed"] for entry in self.entries)
        result = {"changed": changed, self.kind: self.entries, "diff": self.diff, "warnings": self.warnings}
        if self.problems:
            raise PartialFailure(" ".join(self.problems), result)
        return result
