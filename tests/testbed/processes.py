# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Background processes of one directory, recorded so that none is lost and no other process is ever hit."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_LOG_TAIL = 3000
_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProcessError(RuntimeError):
    """A process ended, or would not end, or does not do what it was started for."""


@dataclass(frozen=True)
class Process:
    """A recorded process: its start time distinguishes it from a later one with the same pid."""

    name: str
    pid: int
    started: int

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return start_time(self.pid) == self.started


def start_time(pid: int) -> int | None:
    """Clock ticks from boot to the start of the process, None if it does not run (any more)."""
    try:
        # the second field, the name, may hold blanks and brackets
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def die_with_parent() -> Callable[[], None]:
    """What a child has to call before it executes its program, so that the kernel kills it when we die."""
    if threading.current_thread() is not threading.main_thread():
        # the kernel takes the end of the thread that forked for the end of the parent
        raise ProcessError("processes that end with this one have to be started by its main thread")
    parent = os.getpid()

    def prepare() -> None:
        end_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    return prepare


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Defer interruptions: between its start and its record a process would be unknown."""
    if threading.current_thread() is not threading.main_thread():
        # interruptions are the main thread's
        yield
        return
    pending: list[int] = []

    def put_off(number: int, frame: object) -> None:
        pending.append(number)

    # what is ignored stays so: the process inherits that
    handled = [each for each in _INTERRUPTIONS if signal.getsignal(each) != signal.SIG_IGN]
    former = {each: signal.signal(each, put_off) for each in handled}
    try:
        yield
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)
        for number in pending:
            signal.raise_signal(number)


class Processes:
    """The processes of one directory: their pid file and their logs are there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._record = directory / "pids"
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, arguments: Sequence[str], *, detached: bool) -> None:
        """Start a process in a session of its own; unless detached it cannot outlive this one."""
        with self._log(name).open("ab") as log, _uninterrupted():
            child = subprocess.Popen(
                arguments,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=None if detached else die_with_parent(),  # noqa: PLW1509 - calls two functions of libc
            )
            self._children.append(child)
            self.adopt(name, child.pid)

    def adopt(self, name: str, number: int) -> None:
        """Record a process, also one that another of them has started."""
        with self._record.open("a") as record:
            record.write(f"{name} {number} {start_time(number) or 0}\n")

    def recorded(self) -> list[Process]:
        """All that were started since the last kill, running or not."""
        self._reap()
        if not self._record.exists():
            return []
        lines = (line.split() for line in self._record.read_text().splitlines())
        return [Process(name, int(pid), int(started)) for name, pid, started in lines]

    def running(self) -> list[Process]:
        """Those that run."""
        return [process for process in self.recorded() if process.alive]

    def ensure_running(self) -> None:
        """Raise an error with the end of the log of the first process that has ended."""
        for process in self.recorded():
            if not process.alive:
                raise ProcessError(f"{process.name} has ended; the end of its log:\n{self.log_tail(process.name)}")

    def log_tail(self, name: str) -> str:
        """The last lines of a process's log, which an adopted one does not have."""
        log = self._log(name)
        return log.read_text(errors="replace")[-_LOG_TAIL:] if log.exists() else ""

    def wait_for(
        self,
        what: str,
        condition: Callable[[], bool],
        *,
        not_yet: tuple[type[Exception], ...] = (),
        timeout: float = 120.0,
        pause: float = 0.02,
    ) -> None:
        """
        Return when the condition is true; errors of the kinds not_yet mean that it is not true yet.

        The timeout and the pause before the next poll are in seconds.
        """
        end = time.monotonic() + timeout
        reason = "not yet"
        while time.monotonic() < end:
            self.ensure_running()
            try:
                if condition():
                    return
            except not_yet as error:
                reason = str(error)
            time.sleep(pause)
        last = self.recorded()[-1].name
        raise ProcessError(
            f"waited {timeout:.0f} s for {what}: {reason}; the end of {last}'s log:\n{self.log_tail(last)}"
        )

    def terminate(self, name: str, timeout: float = 60.0) -> None:
        """Ask a process to stop, and return when it has; kill it if it takes too long."""
        for process in self.recorded():
            if process.name == name and process.alive:
                os.kill(process.pid, signal.SIGTERM)
                end = time.monotonic() + timeout
                while process.alive and time.monotonic() < end:
                    time.sleep(0.05)
        self.kill(name)

    def kill(self, *names: str, timeout: float = 10.0) -> None:
        """Kill those with these names, by default all, and return when none of them is left."""
        chosen = [process for process in self.recorded() if not names or process.name in names]
        for process in chosen:
            if process.alive:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
        end = time.monotonic() + timeout
        while left := [process for process in chosen if process.alive]:
            if time.monotonic() > end:
                raise ProcessError(f"still running after SIGKILL: {', '.join(f'{p.name} ({p.pid})' for p in left)}")
            time.sleep(0.01)
        for child in self._children:
            if child.pid in {process.pid for process in chosen}:
                child.wait()
        self._forget(chosen)

    def _forget(self, ended: Sequence[Process]) -> None:
        left = [process for process in self.recorded() if process not in ended]
        if not left:
            self._record.unlink(missing_ok=True)
        else:
            self._record.write_text("".join(f"{each.name} {each.pid} {each.started}\n" for each in left))

    def _log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def _reap(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]
