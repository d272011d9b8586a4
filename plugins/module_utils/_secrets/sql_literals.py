# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The string literals of a Druid SQL statement (Calcite's grammar). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# Comments and quoted identifiers first: a quote inside of them does not start a literal.
_LITERAL = re.compile(
    r"--[^\n]*"
    r"|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
    r'|"(?:[^"]|"")*"'
    r"|(?:(?<!\w)(?P<argument>\w{1,100})\s{0,100}=>\s{0,100})?'(?P<raw>(?:[^']|'')*)'"
)


class Literal(NamedTuple):
    """A literal as written, its start after the quote, and the argument's name, if any (``password => '...'``)."""

    start: int
    argument: str
    raw: str

    @property
    def text(self) -> str:
        """The value of the literal."""
        return unquoted(self.raw)


def literals(statement: str) -> Iterator[Literal]:
    """Yield the literals of a statement, in linear time. The result is arbitrary for invalid SQL."""
    for match in _LITERAL.finditer(statement) if "'" in statement else ():
        if match["raw"] is not None:
            yield Literal(match.start("raw"), match["argument"] or "", match["raw"])


def unquoted(raw: str) -> str:
    """Return the value of a literal without its quotes."""
    return raw.replace("''", "'")
