# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A secret, and the mask that replaces it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MASK = "********"


class Secret(NamedTuple):
    """A secret in a text: its start, its end, and the name that identified it, if any."""

    start: int
    end: int
    name: str
    value: str


@dataclass(frozen=True)
class Confidential:
    """Replaces a value in a document that is secret because of its location, whatever its name."""

    value: str | int | float


@dataclass(frozen=True)
class Quoting:
    """Replaces a string in a document that contains such values, such as a query with an input source."""

    text: str
    secrets: tuple[Secret, ...]
