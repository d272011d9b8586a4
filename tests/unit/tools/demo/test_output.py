# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the demo shows of a command, while it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ansible_collections.druidops.druid.tools.demo.output import Shell

# Prints a line, and waits until somebody has read it.
PROGRAM = """
import pathlib, sys, time
print("ready")
end = time.monotonic() + 60
while not pathlib.Path(sys.argv[1]).exists():
    if time.monotonic() > end:
        sys.exit("nobody has read the line")
    time.sleep(0.01)
"""


def test_a_line_is_shown_while_the_command_still_runs(tmp_path: Path) -> None:
    read = tmp_path / "read"

    def show(line: str) -> str:
        read.touch()
        return line

    Shell(os.environ, tmp_path / "log").run(sys.executable, "-c", PROGRAM, read, show=show)
