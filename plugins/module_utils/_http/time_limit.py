# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a request may take: by the option of its connection, and by what is left of the run that it belongs to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

# Of one run of the operator.
OPERATOR_SECONDS = 30.0
# For the first write of a run, however long its reads have taken. Otherwise a slow Druid would never be written to.
WRITE_SECONDS = 10.0


class Timeout(NamedTuple):
    """Seconds of a response, and the option or limit that they come from, for a message.

    ``total``: the seconds within which also connecting has to end.
    """

    seconds: float
    source: str
    total: float = math.inf


class TimeLimit:
    """The seconds that a whole run may wait for servers whose address the author of a resource sets.

    All connections of the run share it. What is left of it is the timeout of a write, and the longest one of a read.
    """

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self.end = now() + seconds
        self._has_written = False

    def timeout(self, *, is_write: bool) -> Timeout:
        """Return the timeout of a request that is sent now; 0 seconds if it must not be sent."""
        left = self.end - self._now()
        if is_write and not self._has_written:
            self._has_written = True
            left = max(left, WRITE_SECONDS)
        left = max(left, 0.0)
        return Timeout(left, f"the {self.seconds:g} s of one reconcile in the operator", left)
