# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of what other tools conclude from the status of a Druid, from the table that a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

BEGIN = "<!-- health: begin -->"
END = "<!-- health: end -->"


def table(rows: Path) -> str:
    """Return the table in Markdown."""
    return "\n".join(_lines(yaml.safe_load(rows.read_text(encoding="utf-8"))))


def _lines(rows: list[dict[str, str]]) -> Iterator[str]:
    yield "| State | Reason of `Ready` | Argo CD | kstatus (Flux) | `kubectl wait --for=condition=Ready` |"
    yield "|---|---|---|---|---|"
    for row in rows:
        reason = f"`{row['reason']}`" if "reason" in row else ""
        yield f"| {row['shown']} | {reason} | `{row['argocd']}` | `{row['kstatus']}` | {row['kubectl']} |"
