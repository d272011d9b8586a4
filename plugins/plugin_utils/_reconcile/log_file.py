# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Append lines to the operator's log."""

from __future__ import annotations


def append(file: str, line: str) -> str | None:
    """Append the line to the file; return the error, or None."""
    try:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
    except OSError as error:
        return f"The log {file} cannot be written: {error}"
    return None
