# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields that a version of Druid does not know, as far as what it gives back tells. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import differ_in_type
from ansible_collections.druidops.druid.plugins.module_utils._spec.paths import Path, value_at, without

# Parts of which Druid gives back every field that it knows, null where it is not set, but for these.
Complete = Mapping[Path, frozenset[str]]


def unknown_fields(before: Any, desired: Any, complete: Complete) -> Iterator[Path]:
    """Yield the places of the fields in ``desired`` that ``before``, which Druid has given back, says nothing of."""
    for place, exceptions in complete.items():
        known, stated = value_at(before, place), value_at(desired, place)
        if isinstance(known, Mapping) and isinstance(stated, Mapping) and not differ_in_type(known, stated):
            yield from ((*place, name) for name in stated if name not in known and name not in exceptions)


def without_fields(document: Any, places: Iterable[Path]) -> Any:
    """Return ``document`` without what is there: what Druid drops could never be found as it is wanted."""
    for place in places:
        document = without(document, place)
    return document
