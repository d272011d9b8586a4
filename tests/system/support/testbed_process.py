# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test bed in its own processes, as a user starts it, and the processes that remain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import testbed

# wherever pytest was started
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(testbed.__file__).parents[1])}


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    """One command of the test bed's command line, as a user runs it."""
    command = [sys.executable, "-m", "testbed", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=ENVIRONMENT)


def commands_in(directory: Path) -> list[str]:
    """The command lines, of any process at all, that name the directory."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"{directory}/" in command:
            found.append(command)
    return found
