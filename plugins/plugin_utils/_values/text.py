# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many texts in one line, of which a person is shown the first."""

from __future__ import annotations

from collections.abc import Iterable

MAX_SHOWN = 5


def join_limited(texts: Iterable[str], separator: str = ", ") -> str:
    """Return the first texts, and how many more there are."""
    found = [*texts]
    shown = separator.join(found[:MAX_SHOWN])
    return shown if len(found) <= MAX_SHOWN else f"{shown}{separator}and {len(found) - MAX_SHOWN} more"
