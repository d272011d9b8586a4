# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that ends with its parent, so that nothing of a run goes on when its process has been killed."""

from __future__ import annotations

import ctypes
import os
import signal

# prctl(2)
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl


def with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, and the same with the processes that it forks."""
    _end_with(parent)
    forking = [parent]
    os.register_at_fork(
        before=lambda: forking.__setitem__(0, os.getpid()), after_in_child=lambda: _end_with(forking[0])
    )


def _end_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # it has ended before
        os.kill(os.getpid(), signal.SIGKILL)
