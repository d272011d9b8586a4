# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Java properties, as Druid reads them (java.util.Properties.load)."""

from __future__ import annotations

import re

_LINE_CONTINUATION = re.compile(r"(?<!\\)(?:\\\\)*\\\n[ \t\f]*")
_ENTRY = re.compile(r"(?P<name>(?:\\.|[^\\=: \t\f])+)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def properties(text: str) -> dict[str, str]:
    """Return the entries; the last one of a duplicate name."""
    lines = _LINE_CONTINUATION.sub(_joined, text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    entries = (
        _ENTRY.fullmatch(line.lstrip(" \t\f")) for line in lines if line.strip(" \t\f")[:1] not in ("#", "!", "")
    )
    return {_plain(entry["name"]): _plain(entry["value"]) for entry in entries if entry}


def _joined(match: re.Match[str]) -> str:
    """Keep the pairs of backslashes before the line continuation."""
    return match.group().partition("\n")[0][:-1]


def _plain(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    escaped = match.group(1)
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _LETTERS.get(escaped, escaped)
