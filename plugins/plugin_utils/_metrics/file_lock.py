# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A file lock between runs of one operator, which also records the time of the last run."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PAUSE_SECONDS = 0.005
MAX_BYTES = 4096


class LockTimeout(Exception):
    """The lock was not available in time, or the file cannot be used."""


@dataclass(frozen=True)
class FileLock:
    """A held lock, with access to the recorded times."""

    descriptor: int
    monotonic: Callable[[], float] = time.monotonic

    def is_due(self, what: str, pause: float) -> bool:
        """Return True if it was last recorded at least ``pause`` seconds ago, or not since the machine started."""
        age = self.monotonic() - self._recorded().get(what, float("-inf"))
        return not 0 <= age < pause

    def record_run(self, what: str) -> None:
        """Record that it was done now."""
        recorded = json.dumps({**self._recorded(), what: self.monotonic()}).encode()
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, recorded, 0)

    def _recorded(self) -> dict[str, float]:
        """Return the recorded times; empty if the content of the file is invalid."""
        try:
            recorded = json.loads(os.pread(self.descriptor, MAX_BYTES, 0))
        except ValueError:
            return {}
        return (
            recorded
            if isinstance(recorded, dict) and all(isinstance(each, float) for each in recorded.values())
            else {}
        )


@contextmanager
def file_lock(file: Path, timeout: float) -> Iterator[FileLock]:
    """Hold the lock until the end of the context or the process; LockTimeout if it is not available in time."""
    deadline = time.monotonic() + timeout
    try:
        # O_NOFOLLOW: another user may have created a symbolic link of this name.
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LockTimeout(f"The file {file} cannot be used: {error}") from error
    try:
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise LockTimeout(f"The file {file} was locked by other processes for {timeout} s.")
            time.sleep(PAUSE_SECONDS)
        yield FileLock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
