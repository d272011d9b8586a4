# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wait for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def eventually(
    condition: Callable[[], Result | None], timeout: float = 180, *, otherwise: Callable[[], str] = str
) -> Result:
    """Return the first true result of the condition; if there is none, `otherwise` returns the text of the error."""
    end = time.monotonic() + timeout
    while not (result := condition()):
        assert time.monotonic() < end, f"gave up waiting {otherwise()}"
        time.sleep(0.02)
    return result
