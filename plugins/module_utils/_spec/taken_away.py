# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields that are stated as null: they are taken away, rather than kept with no value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_taken_away(before: Any, desired: Any, after: Any) -> Any:
    """
    Return ``after``, which is ``desired`` laid over ``before``, without the fields that ``desired`` takes away.

    One that was null stays so: that is how Druid gives back a field that it knows and that has no value.
    """
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping) and isinstance(after, Mapping)):
        return after
    return {
        name: without_taken_away(before.get(name), desired.get(name), value)
        for name, value in after.items()
        if not (name in desired and desired[name] is None and before.get(name) is not None)
    }
