# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values of many levels."""

from __future__ import annotations

from typing import Any


def nested(levels: int) -> dict[str, Any]:
    """Return so many mappings in each other."""
    value: dict[str, Any] = {}
    for _level in range(levels - 1):
        value = {"a": value}
    return value
