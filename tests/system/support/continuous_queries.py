# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client that sends a query all the time, as an application does while its Druid is changed."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from testbed.api import ApiError


@dataclass
class Answers:
    """The answers to a query that is sent again and again: how many were right, wrong, or failed.

    `runs`: whether they were right, with one entry for several in a row. `problems`: each that was not, with the time.
    """

    number: Counter[str] = field(default_factory=Counter)
    runs: list[bool] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def are_right(self) -> bool:
        """Whether the last one was right."""
        return bool(self.runs) and self.runs[-1]

    def add(self, outcome: str, problem: str = "") -> None:
        """Count one."""
        self.number[outcome] += 1
        self.problems += [problem] if problem else []
        is_right = outcome == "right"
        if not self.runs or is_right != self.are_right:
            self.runs.append(is_right)


@contextmanager
def querying(ask: Callable[[], Any], is_right: Callable[[Any], bool]) -> Iterator[Answers]:
    """Send the query continuously as long as the block runs."""
    answers, stop, start = Answers(), threading.Event(), time.monotonic()

    def send() -> None:
        while not stop.wait(0.05):
            try:
                found = ask()
            except (ApiError, OSError) as error:
                answers.add("failed", f"after {time.monotonic() - start:.1f} s: {error}")
                continue
            if is_right(found):
                answers.add("right")
            else:
                answers.add("wrong", f"after {time.monotonic() - start:.1f} s: {found}")

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield answers
    finally:
        stop.set()
        sender.join()
