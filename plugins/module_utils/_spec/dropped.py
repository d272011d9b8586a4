# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Druid has made of a specification: fields that it has dropped without a word, and values that it has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same


def dropped(stated: Any, kept: Any, place: str = "") -> Iterator[str]:
    """
    Yield the places, such as ``spec.ioConfig.taskCuont``, that are in ``stated`` and not in ``kept``.

    Both are in canonical form. Null is nothing, so it cannot be dropped.
    """
    if isinstance(stated, Mapping) and isinstance(kept, Mapping):
        for name, value in stated.items():
            here = f"{place}.{name}" if place else str(name)
            if value is not None and name not in kept:
                yield here
            else:
                yield from dropped(value, kept.get(name), here)
    elif isinstance(stated, list) and isinstance(kept, list):
        for index, (one, other) in enumerate(zip(stated, kept, strict=False)):
            yield from dropped(one, other, f"{place}[{index}]")


def differing(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Yield the places of the fields that are in both and differ, in the order of ``one``."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in (name for name in one if name in other):
            yield from differing(one[name], other[name], f"{place}.{name}" if place else str(name))
    elif not are_same(one, other):
        yield place
