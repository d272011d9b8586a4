# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A secret, however it was found out to be one, and what is shown in its place. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MASK = "********"


class Secret(NamedTuple):
    """A secret in a text: from where to where, and the name that gives it away, if one does."""

    start: int
    end: int
    name: str
    value: str


@dataclass(frozen=True)
class Confidential:
    """Stands in a document for a value that is secret because of its place there, whatever its name."""

    value: str | int | float


@dataclass(frozen=True)
class Quoting:
    """Stands in a document for a text in which there are such values: a query with an input source in it."""

    text: str
    secrets: tuple[Secret, ...]
