# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists of texts as one line of limited length."""

from __future__ import annotations

from collections.abc import Iterable

MAX_SHOWN = 5


def join_limited(texts: Iterable[str], separator: str = ", ") -> str:
    """Return the first texts, and the number of the others."""
    found = [*texts]
    shown = separator.join(found[:MAX_SHOWN])
    return shown if len(found) <= MAX_SHOWN else f"{shown}{separator}and {len(found) - MAX_SHOWN} more"
