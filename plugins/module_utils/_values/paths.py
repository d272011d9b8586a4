# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paths in nested JSON, as tuples of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
