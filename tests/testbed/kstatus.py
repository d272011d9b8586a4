# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of an object as the library kstatus computes it, which Flux and other tools use."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .build import build_tool


def program() -> Path:
    """The program, which reads an object from its input."""
    return build_tool("kstatus", Path(__file__).parent / "kstatus_program", minutes=2)


def kstatus(manifest: dict[str, Any]) -> str:
    """Its status: Current, InProgress, Failed, Terminating."""
    text = json.dumps(manifest)
    return subprocess.run([program()], input=text, capture_output=True, text=True, check=True).stdout.strip()
