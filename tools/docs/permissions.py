# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of the permissions in Druid that each module needs, from the table that a test runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

BEGIN = "<!-- permissions: begin -->"
END = "<!-- permissions: end -->"


def table(rows: Path) -> str:
    """Return the table in Markdown."""
    return "\n".join(_lines(yaml.safe_load(rows.read_text(encoding="utf-8"))))


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| Module | Operation | Druid | Permissions | If Druid reports no error |"
    yield "|---|---|---|---|---|"
    for row in rows:
        required = "<br>".join(map(_permission, row.get("shown") or row["permissions"]))
        note = f"; {_text(row['note'])}" if "note" in row else ""
        omitting = " and ".join(f"`{action}`" for action in row.get("omits", ()))
        without = f"without {omitting}: omitted from the result" if omitting else ""
        mark = "" if "arguments" in row else " (source)"
        yield (
            f"| `{row['module']}` | {_text(row['operation'])} | {row.get('druid', 'all')}{mark} | {required}{note} | "
            f"{without} |"
        )


def _permission(right: str) -> str:
    kind, name, action = right.split()
    resource = "the datasource" if name == "@name@" else f"`{name}`"
    return f"`{kind}` {resource}: `{action}`"


def _text(text: str) -> str:
    """Return semantic markup as Markdown."""
    return re.sub(r"[OC]\((\w+)\)", r"`\1`", text)
