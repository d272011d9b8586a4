# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The results of the campaign in docs/testing.md: a row for each part, with the date and commit of its last run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

DOCUMENT = Path("docs/testing.md")
BEGIN = "<!-- record: written by `make campaign` -->\n"
END = "<!-- end of record -->\n"
_HEADER = "| Part | Subject | Date | Commit | Result | Minutes |\n|---|---|---|---|---|---|\n"
_ROW = re.compile(r"^\| `(?P<name>[^`]+)` \|.*\n", re.M)


def with_rows(document: str, rows: Mapping[str, str], order: Sequence[str]) -> str:
    """Return the document with these rows replaced, and the rows of other parts unchanged."""
    before, begin, rest = document.partition(BEGIN)
    table, end, after = rest.partition(END)
    assert begin, f"{DOCUMENT} lacks the results"
    assert end, f"{DOCUMENT} lacks the end of the results"
    known = {found["name"]: found[0] for found in _ROW.finditer(table)}
    merged = {**known, **rows}
    return f"{before}{begin}\n{_HEADER}{''.join(merged[name] for name in order if name in merged)}\n{end}{after}"


def row(name: str, shows: str, date: str, commit: str, result: str, minutes: int) -> str:
    """Return the row of a part."""
    return f"| `{name}` | {shows} | {date} | {commit} | {result} | {minutes} |\n"
