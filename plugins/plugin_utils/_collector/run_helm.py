# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program that the modules of kubernetes.core start as Helm: it starts Helm, and ends it with the run.

Helm would go on if the process that waits for it is killed, and the next run would start another one beside it. Nor can
its requests to a chart repository be limited in time.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

_POLL_SECONDS = 0.2
STOPPED = 124
_STOPPED_MESSAGE = (
    "Error: Helm was stopped at the end of the time limit of one reconcile in the operator. Does the chart repository "
    "respond?\n"
)


def write(path: str, binary: str, end: float | None) -> None:
    """Write a program that starts Helm for this process, without a time limit if ``end`` is None.

    ``end``: by ``time.monotonic``, which is the same for all processes. Helm also ends with the parent of this process,
    which is ansible-playbook. The modules accept the path of a program only, without arguments.
    """
    words = [sys.executable, "-I", "-S", os.path.abspath(__file__), str(os.getpid()), str(os.getppid())]
    command = shlex.join([*words, "" if end is None else str(end), binary])
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {command} "$@"\n')


def main(arguments: Sequence[str]) -> int:
    """Run Helm with the remaining arguments, and end as it does: with its exit status, or by the same signal."""
    run, parent, end, *helm = arguments
    processes, own_parent = (int(run), int(parent)), os.getppid()
    until = float(end) if end else float("inf")
    with subprocess.Popen(helm) as process:
        while True:
            try:
                status = process.wait(_POLL_SECONDS)
                if status < 0:
                    os.kill(os.getpid(), -status)
                return status
            except subprocess.TimeoutExpired:
                pass
            if os.getppid() != own_parent or not all(map(_exists, processes)):
                process.kill()
            elif time.monotonic() > until:
                process.kill()
                sys.stderr.write(_STOPPED_MESSAGE)
                return STOPPED


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # of another user, which is the parent of a task with become
        return True
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
