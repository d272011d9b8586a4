# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resident process: it has imported Ansible once, accepts connections, and forks a process for each run.

It reads nothing that a client sends; the run's process does. Its only other work is the end of a run: the exit status
for the client, the time limit, and the end of a run whose client has ended. It has one thread and no state of a run.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from . import changed_files, message, process_death, restrictions, run_process
from .client import DIRECTORY, SOCKET
from .killed import STOPPED, TIMEOUT

# Without a run for so long it ends; the next run starts another one.
IDLE_SECONDS = 900
_TICK_SECONDS = 5
_PAUSE_SECONDS = 0.1
# ansible-operator's workers are fewer.
_BACKLOG = 128
# After so many runs in a row with another environment, as when the first run was not ansible-operator's, it ends.
_MOST_FOREIGN = 3


def serve(environment: dict[bytes, bytes]) -> None:
    """Serve until SIGTERM, until files have changed, or until there was no run for a long time.

    ``environment``: that in which this process was started, before Ansible's settings were added.
    """
    files = changed_files.loaded_files()
    refusal = changed_files.outdated_bytecode(files)
    path = os.path.join(os.environ[DIRECTORY], SOCKET)
    with socket.socket(socket.AF_UNIX) as listener, woken_by_signals() as (signals, stopped):
        with suppress(FileNotFoundError):
            os.unlink(path)
        listener.bind(path)
        listener.setblocking(False)
        gc.collect()
        gc.freeze()
        listener.listen(_BACKLOG)
        Resident(listener, signals, stopped, path, environment, files, refusal).serve()


@dataclass
class Run:
    """A run: its process, the connection to its client, and when it has to end; ``cause``: why it has been killed."""

    pid: int
    connection: socket.socket
    deadline: float
    cause: str = ""


@dataclass
class Resident:
    """What is served: the listener at the path, the reading end of the signals, the start's environment and files."""

    listener: socket.socket
    signals: socket.socket
    stopped: list[int]
    path: str
    environment: dict[bytes, bytes]
    files: changed_files.Files
    refusal: str
    runs: dict[int, Run] = field(default_factory=dict)
    # how many of the last runs had another environment
    foreign: int = 0

    def serve(self) -> None:
        """Accept until a reason to end; then let the runs finish."""
        limit = restrictions.max_run_seconds(dict(os.environ))
        own, last_run = os.stat(self.path), time.monotonic()
        while self._is_own(own) and not self._is_useless() and time.monotonic() - last_run < IDLE_SECONDS:
            if self._wait(self.listener) and (connection := self._accept()):
                if changed_files.is_changed(self.files):
                    # the client starts another one, since there is no path to this one any more
                    os.unlink(self.path)
                    connection.close()
                    break
                self._start(connection, limit)
            last_run = time.monotonic() if self.runs else last_run
        if self._is_own(own):
            os.unlink(self.path)
        self.listener.close()
        while self.runs:
            self._wait(None)

    def _is_useless(self) -> bool:
        """True if it has been asked to end, or if runs have another environment than the start had."""
        return bool(self.stopped) or self.foreign >= _MOST_FOREIGN

    def _is_own(self, own: os.stat_result) -> bool:
        """False if the directory has been removed, or another process has taken the place of this one."""
        with suppress(OSError):
            return os.path.samestat(os.stat(self.path), own)
        return False

    def _wait(self, listener: socket.socket | None) -> bool:
        """Handle what happens to the runs until a client connects, or a moment has passed; True if one connects."""
        poll = select.poll()
        poll.register(self.signals, select.POLLIN)
        if listener:
            poll.register(listener, select.POLLIN)
        # no data is read here: only the end of the connection counts
        running = [run for run in self.runs.values() if not run.cause]
        for run in running:
            poll.register(run.connection, select.POLLRDHUP)
        now = time.monotonic()
        until = min([now + _TICK_SECONDS, *(run.deadline for run in running)])
        ready = {handle for handle, _event in poll.poll(max(0, until - now) * 1000)}
        if self.signals.fileno() in ready:
            self.signals.recv(4096)
        for run in running:
            if run.connection.fileno() in ready:
                self._kill(run, "its client has ended")
            elif time.monotonic() >= run.deadline:
                self._kill(run, TIMEOUT)
        self._reap()
        return listener is not None and listener.fileno() in ready

    def _accept(self) -> socket.socket | None:
        """Accept a connection of the same user."""
        try:
            connection, _address = self.listener.accept()
        except OSError:
            # too many open files, for example, which does not change at once
            time.sleep(_PAUSE_SECONDS)
            return None
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] == os.geteuid():
            return connection
        connection.close()
        return None

    def _start(self, connection: socket.socket, limit: int) -> None:
        """Fork the process of the run."""
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            # the client takes the ordinary way
            with suppress(OSError):
                connection.sendall(b"%b %b\n" % (message.ORDINARY, str(error).encode()))
            connection.close()
            return
        if pid == 0:
            self._become_run(connection, limit, parent)
        self.runs[pid] = Run(pid, connection, time.monotonic() + limit)

    def _become_run(self, connection: socket.socket, limit: int, parent: int) -> None:
        """In the new process: keep nothing but the own connection, and never return."""
        try:
            process_death.with_parent(parent)
            # it ends soon, and what only a collection would free is little
            gc.disable()
            signal.set_wakeup_fd(-1)
            for each in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(each, signal.SIG_DFL)
            os.setsid()
            self.listener.close()
            self.signals.close()
            for run in self.runs.values():
                run.connection.close()
        finally:
            run_process.serve(connection, self.environment, limit, self.refusal)

    @staticmethod
    def _kill(run: Run, cause: str) -> None:
        """Kill the process of the run, which has not been waited for, and its own processes, which end with it."""
        run.cause = cause
        # it may not have its own group yet
        for kill in (os.kill, os.killpg):
            with suppress(ProcessLookupError):
                kill(run.pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Answer the clients of the runs that have ended."""
        for pid in _ended():
            run = self.runs.pop(pid, None)
            if run is not None:
                # until it is waited for, no other group of processes gets its number
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if run is not None:
                self.foreign = self.foreign + 1 if code == run_process.OTHER_START else 0
                _answer(run, code)


def _answer(run: Run, code: int) -> None:
    """Answer the client of a run that has ended with this exit status, negative for a signal."""
    killed = run.cause or (f"signal {-code}" if code < 0 else "")
    code = STOPPED if run.cause == TIMEOUT else code if code >= 0 else 128 - code
    with suppress(OSError):
        run.connection.sendall(f"{message.ENDED.decode()} {code} {killed}".rstrip().encode() + b"\n")
    run.connection.close()


def _ended() -> Iterator[int]:
    """The processes that have ended, each of which has to be waited for before the next one is found."""
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            yield found.si_pid


@contextmanager
def woken_by_signals() -> Iterator[tuple[socket.socket, list[int]]]:
    """A socket that is readable after a signal, and the list of the signals to stop that have been received."""
    received: list[int] = []
    reader, writer = socket.socketpair()
    with reader, writer:
        for each in (reader, writer):
            each.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda stop, _frame: received.append(stop))
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        yield reader, received
