# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start the resident process when a run finds none. One client does so while the others wait for it."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from contextlib import suppress

from . import client

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

PROGRAM = "warm-runner"
LOG = "log"
_LOCK = "lock"
_FAILED = "failed"
# How long it may take to import everything, on a busy node.
START_SECONDS = 60
# After a failure, runs are those of ansible-runner for so long.
PAUSE_SECONDS = 60
_POLL_SECONDS = 0.01
_LAST_BYTES = 1000


def started(directory: str) -> _socket.socket | None:
    """Start it, unless another client has already done so; the connection to it, None if it failed."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with open(os.path.join(directory, _LOCK), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        failed = os.path.join(directory, _FAILED)
        connection = client.connect(directory)
        if connection is not None or _has_failed(failed):
            return connection
        connection = _connected(directory, _spawn(directory))
        if connection is None:
            pause(directory)
        return connection


def pause(directory: str) -> None:
    """Start no other one for a while."""
    with open(os.path.join(directory, _FAILED), "wb"):
        pass


def _has_failed(stamp: str) -> bool:
    """True for a while after the last failure."""
    with suppress(OSError):
        return abs(time.time() - os.stat(stamp).st_mtime) < PAUSE_SECONDS
    return False


def _spawn(directory: str) -> int:
    """Start the program without any of this process's streams, which have readers that wait for their end."""
    program = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), PROGRAM)
    log = os.open(os.path.join(directory, LOG), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    streams = [(os.POSIX_SPAWN_DUP2, source, stream) for stream, source in enumerate((nothing, log, log))]
    try:
        return os.posix_spawn(program, [program], os.environ, file_actions=streams, setsid=True)
    finally:
        os.close(log)
        os.close(nothing)


def _connected(directory: str, pid: int) -> _socket.socket | None:
    """Wait until it accepts connections; None if it ends before, or if it takes too long, and is killed."""
    end = time.monotonic() + START_SECONDS
    while (connection := client.connect(directory)) is None:
        ended, _status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return None
        if time.monotonic() > end:
            os.kill(pid, 9)
            return None
        time.sleep(_POLL_SECONDS)
    return connection


def problem(directory: str) -> str:
    """Why there is no resident process: the last line that it has written."""
    try:
        with open(os.path.join(directory, LOG), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _LAST_BYTES))
            lines = log.read().decode(errors="replace").strip().splitlines()
    except OSError as error:
        return f"it cannot be started: {error}"
    return f"it did not start: {lines[-1] if lines else f'it ended, or did not answer within {START_SECONDS} s'}"
