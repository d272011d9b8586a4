# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How Druid changes a specification: fields that it does not know or drops, and values that it normalizes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, differ_in_type
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, value_at, without


def dropped_fields(specified: Any, returned: Any, path: str = "") -> Iterator[str]:
    """
    Yield the paths, such as ``spec.ioConfig.taskCuont``, that are in ``specified`` but not in ``returned``.

    Both are in canonical form. Null equals a missing field, so it is never dropped.
    """
    if isinstance(specified, Mapping) and isinstance(returned, Mapping):
        for name, value in specified.items():
            child_path = f"{path}.{name}" if path else str(name)
            if value is not None and name not in returned:
                yield child_path
            else:
                yield from dropped_fields(value, returned.get(name), child_path)
    elif isinstance(specified, list) and isinstance(returned, list):
        for index, (one, other) in enumerate(zip(specified, returned, strict=False)):
            yield from dropped_fields(one, other, f"{path}[{index}]")


def differing_fields(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that are in both but differ, in the order of ``one``."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in (name for name in one if name in other):
            yield from differing_fields(one[name], other[name], f"{path}.{name}" if path else str(name))
    elif not are_same(one, other):
        yield path


# Parts for which Druid returns every known field (null if it is not set), and the exceptions.
Complete = Mapping[Path, frozenset[str]]


def unknown_fields(before: Any, desired: Any, complete: Complete) -> Iterator[Path]:
    """Yield the paths of the fields in ``desired`` that ``before``, which Druid has returned, does not contain."""
    for path, exceptions in complete.items():
        known, specified = value_at(before, path), value_at(desired, path)
        if isinstance(known, Mapping) and isinstance(specified, Mapping) and not differ_in_type(known, specified):
            yield from ((*path, name) for name in specified if name not in known and name not in exceptions)


def without_fields(document: Any, paths: Iterable[Path]) -> Any:
    """Return ``document`` without these fields. Druid drops them, so they would never be in the desired state."""
    for path in paths:
        document = without(document, path)
    return document
