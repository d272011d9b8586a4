# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The prose linter Vale, built from Go modules once per machine."""

from __future__ import annotations

from pathlib import Path

from testbed.build import build_tool

_MODULE = Path(__file__).parent / "vale"


def vale() -> Path:
    """Return the program."""
    return build_tool("vale", _MODULE, "github.com/errata-ai/vale/v3/cmd/vale", minutes=3, needs_c=True)
