# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove the files of resources that have not been run for a long time, as those of deleted ones."""

from __future__ import annotations

import math
import os
from contextlib import suppress

# ansible-operator keeps the files of each resource below this directory, also of deleted ones. They are removed
# after that time without a run, or after two periods; at most so many resources at a time, and that often.
RUNS = os.path.join("ansible-operator", "runner")
SECONDS = 1800
MAX_REMOVED = 100
SWEEP_SECONDS = 60


def sweep(directory: str, unused: float, now: float) -> None:
    """Remove the files of resources without a run in that time; the directory is that of the resource of this run."""
    root = os.path.abspath(os.path.join(directory, *[os.pardir] * 5))
    if not root.endswith(f"{os.sep}{RUNS}") or not _is_due(os.path.join(root, ".swept"), now):
        return
    import shutil  # it takes 10 ms

    left = MAX_REMOVED
    for namespace in _directories(root, 4):
        for each in _directories(namespace, 1):
            if left and now - _last_run(each) > unused:
                shutil.rmtree(each, ignore_errors=True)
                left -= 1
        with suppress(OSError):
            # unless it has others
            os.rmdir(namespace)


def _is_due(stamp: str, now: float) -> bool:
    """True once per period; one of several runs at the same time may be a second one, which is harmless."""
    with suppress(OSError):
        if now - os.stat(stamp).st_mtime < SWEEP_SECONDS:
            return False
    with suppress(OSError):
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(stamp, (now, now))
        return True
    return False


def _directories(path: str, depth: int) -> list[str]:
    """The directories that many levels below the path."""
    found = [path]
    for _level in range(depth):
        found = [each.path for parent in found for each in _entries(parent) if each.is_dir(follow_symlinks=False)]
    return found


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _last_run(directory: str) -> float:
    """When ansible-operator has last written the variables of a run, or made the directory."""
    for part in (os.path.join("env", "extravars"), ""):
        with suppress(OSError):
            return os.stat(os.path.join(directory, part)).st_mtime
    return math.inf
