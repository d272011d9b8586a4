# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Texts in a statement of Druid's SQL (Calcite's grammar): what stands between quotes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# Comments and quoted names first: in them a quote begins nothing.
_LITERAL = re.compile(
    r"--[^\n]*"
    r"|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
    r'|"(?:[^"]|"")*"'
    r"|(?:(?<!\w)(?P<argument>\w{1,100})\s{0,100}=>\s{0,100})?'(?P<raw>(?:[^']|'')*)'"
)


class Literal(NamedTuple):
    """A text as it is written, where it begins behind its quote, and which argument it is (``password => '...'``)."""

    start: int
    argument: str
    raw: str

    @property
    def text(self) -> str:
        """What it says."""
        return unquoted(self.raw)


def literals(statement: str) -> Iterator[Literal]:
    """Yield the texts in a statement, in linear time; in what is no SQL anything or nothing may be found."""
    for match in _LITERAL.finditer(statement) if "'" in statement else ():
        if match["raw"] is not None:
            yield Literal(match.start("raw"), match["argument"] or "", match["raw"])


def unquoted(raw: str) -> str:
    """Return what a text between quotes says."""
    return raw.replace("''", "'")
