# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines that report long operations, and that they are still running."""

from __future__ import annotations

import subprocess
import sys
import time

INTERVAL = 15.0


def say(message: str) -> None:
    """Print a line at once, where it does not mix with results."""
    print(message, file=sys.stderr, flush=True)


def wait(process: subprocess.Popen[bytes], what: str) -> int:
    """The exit status of the process, after a line with the seconds passed every now and then."""
    begin = time.monotonic()
    while True:
        try:
            return process.wait(INTERVAL)
        except subprocess.TimeoutExpired:
            say(f"  ... {what}, {time.monotonic() - begin:.0f} s")
