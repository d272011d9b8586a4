# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nesting limit of values: Kubernetes stores more levels than Python's recursion can handle. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# Levels of mappings and lists. No value that Druid or Kubernetes accepts has a third of them.
MAX_LEVELS = 100
TOO_DEEP = f"it is nested too deeply (more than {MAX_LEVELS} levels)"


def is_too_deep(value: Any) -> bool:
    """True if the value has more levels. Computed without recursion."""
    level = [value]
    for _depth in range(MAX_LEVELS + 1):
        level = [child for each in level for child in _children(each)]
    return bool(level)


def upper_levels(value: Any, levels: int = MAX_LEVELS) -> Any:
    """Return a value without deeper levels."""
    if isinstance(value, dict):
        return {name: upper_levels(child, levels - 1) for name, child in value.items()} if levels > 0 else {}
    if isinstance(value, list):
        return [upper_levels(child, levels - 1) for child in value] if levels > 0 else []
    return value


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
