# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nested JSON: paths in it, and the limit of its depth. Pure.

Kubernetes stores more levels than Python's recursion can handle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Path = tuple[str, ...]


def value_at(document: Any, path: Path) -> Any:
    """Return the value at ``path``, None if there is none."""
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document


def changed_at(document: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """Return ``document`` with ``change`` applied to the value at ``path``; unchanged if that is missing or null."""
    if not path:
        return change(document)
    if not isinstance(document, Mapping) or document.get(path[0]) is None:
        return document
    return {**document, path[0]: changed_at(document[path[0]], path[1:], change)}


def without(document: Any, path: Path) -> Any:
    """Return ``document`` without the entry at ``path``."""
    name = path[-1]
    return changed_at(document, path[:-1], lambda parent: _without_key(parent, name))


def _without_key(parent: Any, name: str) -> Any:
    return {key: value for key, value in parent.items() if key != name} if isinstance(parent, Mapping) else parent


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
