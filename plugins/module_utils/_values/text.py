# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Similar names, for the remedies in messages. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of the names, regardless of case, None if none is similar."""
    by_lower = {each.lower(): each for each in names}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None
