# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes quantities (resource.Quantity): ``500m``, ``1.5Gi``, ``2e3``."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

# The message about any other value, and its remedy.
INVALID = "is not a valid quantity"
REMEDY = "use a number, optionally with a suffix such as m, k, Mi or Gi, without a space and without B (500m, 768Mi)"
_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]+)|(m|n|u|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?"
)
_BINARY = {suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_FACTORS = {
    **{
        suffix: Decimal(1000) ** power
        for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)
    },
    **_BINARY,
}


def parse(value: Any) -> Decimal | None:
    """Return the amount of ``value`` (string or number); None if it is not a valid quantity."""
    if isinstance(value, bool):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    try:
        return Decimal(number + (exponent or "")) * _FACTORS[suffix or ""]
    except ArithmeticError:
        # The exponent is out of range.
        return None


def binary(amount: Decimal) -> str:
    """Return the amount as the server writes sizes, in the largest binary unit that it is a multiple of: ``2Gi``."""
    units = (suffix for suffix, factor in reversed(_BINARY.items()) if amount and not amount % factor)
    suffix = next(units, "")
    return f"{amount / _FACTORS[suffix]:f}{suffix}"
