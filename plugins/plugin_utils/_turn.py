# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of one operator take turns, and remember when something was done last."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PAUSE_SECONDS = 0.005


class NoTurn(Exception):
    """Others took too long, or the file cannot be used."""


@dataclass(frozen=True)
class Turn:
    """What the holder of the file may ask and note."""

    descriptor: int
    monotonic: Callable[[], float] = time.monotonic

    def is_due(self, pause: float) -> bool:
        """Return True when ``note`` was last called so many seconds ago, or never since the machine was started."""
        with suppress(ValueError):
            age = self.monotonic() - float(os.pread(self.descriptor, 64, 0))
            return not 0 <= age < pause
        return True

    def note(self) -> None:
        """Remember that it was done now."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, str(self.monotonic()).encode(), 0)


@contextmanager
def turn(file: Path, patience: float) -> Iterator[Turn]:
    """Hold the file alone until the context, or the process, ends; NoTurn when others hold it for so many seconds."""
    deadline = time.monotonic() + patience
    try:
        # A link that somebody else has put there is not followed.
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise NoTurn(f"The file {file} cannot be used: {error}") from error
    try:
        while not _is_held(descriptor):
            if time.monotonic() > deadline:
                raise NoTurn(f"The file {file} was held by others for {patience} s.")
            time.sleep(PAUSE_SECONDS)
        yield Turn(descriptor)
    finally:
        os.close(descriptor)


def _is_held(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
