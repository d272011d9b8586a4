# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of single entries of a list in a configuration that Druid replaces as a whole. Pure.

Others may change the same list at the same time, so the change is not the list that it leads to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple


class ListChange(NamedTuple):
    """The entries to add to the list in a field, and those to remove."""

    field: str
    added: frozenset[str]
    removed: frozenset[str]

    def applied(self, entries: Iterable[str]) -> list[str]:
        """Return the list after the change; its order has no meaning."""
        return sorted((set(entries) - self.removed) | self.added)

    def is_applied(self, entries: Collection[str]) -> bool:
        """True if nothing of the change is missing in the list."""
        return self.applied(entries) == sorted(set(entries))

    def with_lost(self, before: Collection[str], overwritten: Collection[str]) -> ListChange:
        """Return the change with that of another client, which a write from `before` has overwritten."""
        added = frozenset(overwritten) - frozenset(before) - self.removed
        removed = frozenset(before) - frozenset(overwritten) - self.added
        return self._replace(added=self.added | added, removed=self.removed | removed)


def entries_of(config: Mapping[str, Any], field: str) -> list[str]:
    """Return the list; Druid also accepts a text with commas."""
    value = config.get(field) or ()
    texts = value.split(",") if isinstance(value, str) else value
    return [text for each in texts if (text := str(each).strip())]
