# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and booleans that are stated as text, as templates make them. Pure."""

from __future__ import annotations

import re
from typing import Any

# Druid's are of 64 bits; of thousands of digits Python makes no number.
_WHOLE_NUMBER = re.compile(r"[0-9]{1,30}")
_BOOLEANS = {"true": True, "false": False}


def whole_number(value: Any) -> Any:
    """Return the whole number that a text says, anything else as it is, for Druid to judge."""
    return int(value) if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) else value


def boolean(value: Any) -> Any:
    """Return the boolean that a text says, anything else as it is."""
    return _BOOLEANS.get(value.lower(), value) if isinstance(value, str) else value
