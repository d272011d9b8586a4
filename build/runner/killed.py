# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ansible-runner leaves of a run that does not end by itself, for a run that could not leave it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

TIMEOUT = "timeout"
# The exit status of ansible-runner for a run that it has stopped.
STOPPED = 254


def report(arguments: Sequence[str], cause: str, status: int) -> int:
    """Write the cause, and the files that are not there yet; return the exit status."""
    sys.stderr.write(f"ansible-runner: the run was killed: {cause}\n")
    ident = arguments[arguments.index("-i") + 1] if "-i" in arguments[:-1] else ""
    artifacts = os.path.join(arguments[1], "artifacts", ident)
    name = TIMEOUT if status == STOPPED else "failed"
    for file, text in (("status", name), ("rc", str(status))):
        with suppress(OSError), open(os.path.join(artifacts, file), "x", encoding="utf-8") as stream:
            stream.write(text)
    return status
