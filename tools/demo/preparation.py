# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run several commands that take long at once, and report what of how much is ready.

It needs the standard library alone.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testbed.processes import die_with_parent

from .output import say

_REPORT_EVERY = 20.0
# A job that takes no longer has only looked it up.
_FROM_CACHE = 3.0


@dataclass(frozen=True, eq=False)
class Job:
    """Something to make: the seconds that it usually takes on two cores, and the titles of what it needs."""

    title: str
    usually: int
    command: Sequence[str]
    after: Sequence[str] = ()


@dataclass
class _Running:
    process: subprocess.Popen[bytes]
    since: float = field(default_factory=time.monotonic)


class Preparation:
    """The jobs of one demo; their output is in files of a directory."""

    def __init__(self, jobs: Sequence[Job], directory: Path, environment: Mapping[str, str]) -> None:
        self.failures: dict[str, str] = {}
        self._waiting, self._running = list(jobs), dict[Job, _Running]()
        self._ready: set[str] = set()
        self._count, self._directory, self._environment = len(jobs), directory, environment

    def run(self) -> None:
        """Run all jobs; `failures` has the last line of each one that failed."""
        begin = reported = time.monotonic()
        while self._waiting or self._running:
            self._start_possible()
            time.sleep(0.05)
            for job in [each for each, running in self._running.items() if running.process.poll() is not None]:
                self._finish(job)
            if time.monotonic() - reported > _REPORT_EVERY:
                reported = time.monotonic()
                self._report(reported - begin)

    def _start_possible(self) -> None:
        for job in list(self._waiting):
            if lacking := [self.failures[title] for title in job.after if title in self.failures]:
                self.failures[job.title] = lacking[0]
                self._waiting.remove(job)
            elif set(job.after) <= self._ready:
                self._waiting.remove(job)
                self._running[job] = self._started(job)

    def _started(self, job: Job) -> _Running:
        with self._log(job).open("wb") as log:
            return _Running(
                subprocess.Popen(
                    job.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=self._environment,
                    preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls two functions of libc
                )
            )

    def _finish(self, job: Job) -> None:
        running = self._running.pop(job)
        seconds = time.monotonic() - running.since
        if running.process.returncode == 0:
            self._ready.add(job.title)
            how = _duration(seconds) if seconds > _FROM_CACHE else "from the cache"
            say(f"  {len(self._ready)} of {self._count}: {job.title}, {how}")
        else:
            self.failures[job.title] = self._last_line(job)
            say(f"  {job.title}: failed, see {self._log(job)}")

    def _report(self, seconds: float) -> None:
        now = ", ".join(f"{job.title} (usually {_duration(job.usually)})" for job in self._running)
        say(f"  {_duration(seconds)}: {len(self._ready)} of {self._count} are ready; now: {now}")

    def _log(self, job: Job) -> Path:
        return self._directory / f"{job.title.replace(' ', '-')}.log"

    def _last_line(self, job: Job) -> str:
        lines = self._log(job).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"{job.command[0]} failed"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
