# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Duration of the phases of a reconcile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class PhaseTimer:
    """Seconds by phase, summed over several reconciles; ``last`` is the phase entered last."""

    monotonic: Callable[[], float] = time.monotonic
    seconds: dict[str, float] = field(default_factory=dict)
    last: str = "observe"

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Measure the duration of the context, also if it fails."""
        self.last, began = phase, self.monotonic()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + self.monotonic() - began
