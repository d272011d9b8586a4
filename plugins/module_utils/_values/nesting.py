# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How deeply a value may be nested: Kubernetes stores more levels than Python can walk down. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# Of mappings and lists in each other. Nothing that Druid or Kubernetes understands has a third of them.
MAX_LEVELS = 100
TOO_DEEP = f"it is nested too deeply, in more than {MAX_LEVELS} levels"


def is_too_deep(value: Any) -> bool:
    """True when there are more levels in it; found out without recursion."""
    level = [value]
    for _depth in range(MAX_LEVELS + 1):
        level = [child for each in level for child in _children(each)]
    return bool(level)


def upper_levels(value: Any, levels: int = MAX_LEVELS) -> Any:
    """Return a value without what is nested more deeply."""
    if isinstance(value, dict):
        return {name: upper_levels(child, levels - 1) for name, child in value.items()} if levels > 0 else {}
    if isinstance(value, list):
        return [upper_levels(child, levels - 1) for child in value] if levels > 0 else []
    return value


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
