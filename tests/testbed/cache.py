# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes long to make is kept between runs and checkouts, and made by one at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .progress import say


def cache_directory() -> Path:
    """Where what takes long to make is kept between runs and checkouts."""
    if chosen := os.environ.get("DRUIDOPS_CACHE"):
        return Path(chosen) / "testbed"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "druidops" / "testbed"


@contextmanager
def lock(target: Path) -> Iterator[None]:
    """Lock the target against other processes that would make it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{target}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another process that makes {target.name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
