# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports without garbage collection: the objects of a large library are permanent."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_gc() -> Iterator[None]:
    """Disable garbage collection in the context, and exclude its objects afterwards (``gc.freeze``).

    Ansible forks a process for each task, where a collection would also copy the memory of these objects.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if is_enabled:
            gc.enable()
