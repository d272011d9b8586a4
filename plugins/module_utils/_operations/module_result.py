# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a module: an entry for each thing that it was called for, and the errors of those that failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import Change
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden, masked, masked_pair
from ansible_collections.druidops.druid.plugins.module_utils._spec.diff import diff_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    PartialFailure,
)

# What an entry has if its item failed. Ansible has both for the module.
_FAILURE = ("failed", "msg")


@dataclass
class ModuleResult:
    """
    ``kind``: the key of the list of entries. ``name``: the name of a thing in messages.

    ``state``: the key of its state in an entry. ``id``: the key of its id, which is also the option.
    """

    kind: str
    name: str
    state: str
    items: list[Item]
    id: str = "id"
    diff: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _ids: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for item in self.items:
            item.result = {self.id: item.options.get(self.id), "changed": False}

    @contextmanager
    def part_of(self, item: Item) -> Iterator[None]:
        """A part of the work for an item. An error fails the item, and does not stop the others."""
        try:
            yield
        except DruidError as error:
            item.result.update(failed=True, msg=str(error))

    def identify(self, item: Item, identifier: str, group: str = "") -> None:
        """Set the id of an item. InvalidInput if it is the id of another item of the same group, such as a tier."""
        item.result[self.id] = identifier
        item.title = f"{group}/{identifier}" if group else identifier
        if (group, identifier) in self._ids:
            raise InvalidInput(self.id, identifier, f"duplicate {self.id}; list each only once")
        self._ids.add((group, identifier))

    def record(self, item: Item, change: Change, warnings: Iterable[str]) -> None:
        """Add the change of an item. DruidError if its outcome is uncertain."""
        if change.changed:
            # the name of the thing is its kind in the table
            before, after = masked_pair(*diff_of(self.name.removesuffix(" of"), change.before, change.after))
            self.add_diff(item.title or item.result[self.id], before, after)
        self.warnings.extend(warnings)
        item.result.update({"changed": change.changed, self.state: masked(change.now)})
        if change.problem:
            raise DruidError(hidden(change.problem, [change.before, change.after]))

    def add_diff(self, identifier: str, before: Any, after: Any) -> None:
        """Add states in which secrets are masked, None if the thing does not exist."""
        title = f"{self.name} {identifier}"
        self.diff.append({"before": before or "", "after": after or "", "before_header": title, "after_header": title})

    def result(self) -> dict[str, Any]:
        """Return the module's result. PartialFailure, which contains the result, if an item failed.

        If the module was called for one thing, and not for a list, the fields of its entry are also at the top level.
        """
        entries = [item.result for item in self.items]
        is_one = len(entries) == 1 and not self.items[0].place
        short = {name: value for name, value in entries[0].items() if name not in _FAILURE} if is_one else {}
        changed = any(entry["changed"] for entry in entries)
        result = {**short, "changed": changed, self.kind: entries, "diff": self.diff, "warnings": self.warnings}
        problems = [_located(item) for item in self.items if item.has_failed]
        if problems:
            raise PartialFailure(" ".join(problems), result)
        return result


def _located(item: Item) -> str:
    message: str = item.result["msg"]
    return f"{item.place}: {message}" if item.place else message
