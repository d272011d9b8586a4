# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resident process: it has imported the collection and the Kubernetes client, and forks a process for each run.

The program `warm-runner`. It imports no Ansible, has one thread, and does nothing with a request but read it: it knows
which runs there are, and ends those that exceed the time limit, or whose client has ended.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from . import kubernetes_models, memory, message, processes, restrictions
from .client import DIRECTORY, FAILED, SOCKET, STOPPED, TIMEOUT
from .fairness import Fairness

# Without a run for so long it ends; the next run starts another one.
IDLE_SECONDS = 900
# The exit status of a run that has needed too much memory.
OUT_OF_MEMORY = 251
_TICK_SECONDS = 5
_PAUSE_SECONDS = 0.1
# ansible-operator's workers are fewer.
_BACKLOG = 128
_RECEIVED_BYTES = 1 << 16
_CLIENT_ENDED = "its client has ended"


def main() -> None:
    """Import what runs need, and serve until SIGTERM, until files have changed, or until there was no run for long."""
    os.umask(0o077)
    os.chdir("/")
    own = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), os.pardir, "collections")
    # where Ansible finds the collection, too
    sys.path[:0] = os.environ.get("ANSIBLE_COLLECTIONS_PATH", own).split(os.pathsep)
    kubernetes_models.leave_out()
    from . import reconcile

    reconcile.load_all()
    path = os.path.join(os.environ[DIRECTORY], SOCKET)
    processes.collect_orphans()
    with socket.socket(socket.AF_UNIX) as listener, woken_by_signals() as (signals, stopped):
        with suppress(FileNotFoundError):
            os.unlink(path)
        listener.bind(path)
        listener.setblocking(False)
        gc.collect()
        gc.freeze()
        listener.listen(_BACKLOG)
        Resident(listener, signals, stopped, path).serve()


@dataclass
class Client:
    """A client whose run has not begun, and what has been received of its request."""

    connection: socket.socket
    data: bytes = b""
    streams: list[int] = field(default_factory=list)

    def receive(self) -> None:
        """Receive what there is. EOFError at the end; OSError, ValueError or IndexError for something else."""
        data, streams, _flags, _address = socket.recv_fds(self.connection, _RECEIVED_BYTES, message.STREAMS)
        if not data:
            raise EOFError
        self.data += data
        self.streams += streams

    def close(self) -> None:
        """Close what has been received from it."""
        self.connection.close()
        self.close_streams()

    def close_streams(self) -> None:
        """Close its standard input, output and error, whose readers wait for their end."""
        for each in self.streams:
            os.close(each)


class Resource(NamedTuple):
    """The resource of a run."""

    group: str
    kind: str
    namespace: str
    name: str


@dataclass
class Run:
    """A run: its process, the connection to its client, the resource, since when it runs, and when it has to end.

    ``since`` and ``deadline`` are times of the monotonic clock. ``is_postponed``: it only asks
    ansible-operator to repeat it. ``cause``: why it has been killed.
    """

    pid: int
    connection: socket.socket
    resource: Resource
    since: float
    deadline: float
    is_postponed: bool = False
    cause: str = ""


@dataclass
class Resident:
    """What is served: the listener at the path, the reading end of the signals, and those that ask it to stop.

    ``runs`` are those in progress, by process. ``unfinished``: why the last run of a resource did not end by itself.
    ``fairness``: of each kind, which has workers of its own.
    """

    listener: socket.socket
    signals: socket.socket
    stopped: list[int]
    path: str
    clients: dict[int, Client] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    unfinished: dict[Resource, str] = field(default_factory=dict)
    fairness: dict[str, Fairness] = field(default_factory=lambda: defaultdict(Fairness))

    def __post_init__(self) -> None:
        from . import reconcile, shipped

        self.reconcile, self.files = reconcile, shipped.Files()
        self.limit = restrictions.max_run_seconds(dict(os.environ))

    def serve(self) -> None:
        """Accept until a reason to end; then let the runs finish."""
        own, last_run = os.stat(self.path), time.monotonic()
        while self._is_own(own) and not self.stopped and time.monotonic() - last_run < IDLE_SECONDS:
            self._wait(self.listener)
            last_run = time.monotonic() if self.runs else last_run
        if self._is_own(own):
            os.unlink(self.path)
        self.listener.close()
        for handle in [*self.clients]:
            self._forget(handle)
        while self.runs:
            self._wait(None)

    def _is_own(self, own: os.stat_result) -> bool:
        """False if the directory has been removed, or another process has taken the place of this one."""
        with suppress(OSError):
            return os.path.samestat(os.stat(self.path), own)
        return False

    def _wait(self, listener: socket.socket | None) -> None:
        """Handle what happens until the next deadline, at most a moment."""
        # no data is read of the client of a run: only the end of its connection counts
        running = [run for run in self.runs.values() if not run.cause]
        now = time.monotonic()
        until = min([now + _TICK_SECONDS, *(run.deadline for run in running)])
        read = [self.signals.fileno(), *self.clients, *([listener.fileno()] if listener else [])]
        ready = _ready(read, [run.connection.fileno() for run in running], max(0, until - now))
        if self.signals.fileno() in ready:
            self.signals.recv(4096)
        for run in running:
            if run.connection.fileno() in ready:
                self._kill(run, _CLIENT_ENDED)
            elif time.monotonic() >= run.deadline:
                self._kill(run, TIMEOUT)
        self._reap()
        for handle in ready & self.clients.keys():
            self._receive(handle)
        if listener and listener.fileno() in ready:
            self._accept(listener)

    def _accept(self, listener: socket.socket) -> None:
        """Accept a connection of the same user."""
        try:
            connection, _address = listener.accept()
        except OSError:
            # too many open files, for example, which does not change at once
            time.sleep(_PAUSE_SECONDS)
            return
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] == os.geteuid():
            connection.setblocking(False)
            self.clients[connection.fileno()] = Client(connection)
        else:
            connection.close()

    def _forget(self, handle: int) -> None:
        if client := self.clients.pop(handle, None):
            client.close()

    def _receive(self, handle: int) -> None:
        """Receive a part of the request. The run begins when it is complete."""
        client = self.clients[handle]
        try:
            client.receive()
            if len(client.data) >= message.length(client.data):
                self._start(client, message.decode(client.data))
        except (OSError, EOFError, ValueError, IndexError):
            self._forget(handle)

    def _start(self, client: Client, request: message.Request) -> None:
        """Fork the process of a client. OSError if there is none; EOFError if files have changed, or it has ended."""
        if self.files.are_changed():
            # the client starts another resident process, since there is no path to this one any more
            os.unlink(self.path)
            raise EOFError
        if len(client.streams) != message.STREAMS:
            raise ValueError
        if _ready([], [client.connection.fileno()], 0):
            # it was killed, and another one may follow for the same resource
            raise EOFError
        resource = Resource(*restrictions.parts_of(os.fsdecode(request.arguments[1])))
        parent, now = os.getpid(), time.monotonic()
        wait = self._turn(resource, now)
        # from here on, whatever fails, its client does not begin a run of ansible-runner
        client.connection.sendall(b"%b %d\n" % (message.READY, self.limit))
        try:
            pid = os.fork()
        except OSError as error:
            # the log may be full
            with suppress(OSError):
                sys.stderr.write(f"{error}\n")
            raise
        if pid == 0:
            self._become_run(client, request, resource, parent, wait)
        del self.clients[client.connection.fileno()]
        self.runs[pid] = Run(pid, client.connection, resource, now, now + self.limit, is_postponed=bool(wait))
        client.close_streams()

    def _turn(self, resource: Resource, now: float) -> float:
        """In how many seconds the run is to be repeated, so that others have a worker; 0 if it may begin."""
        same_kind = [run for run in self.runs.values() if run.resource.kind == resource.kind and not run.is_postponed]
        running = [(run.resource.namespace, run.since) for run in same_kind]
        workers = memory.workers(resource.group, resource.kind, os.environ)
        return self.fairness[resource.kind].wait(resource.namespace, running, now, workers)

    def _become_run(
        self, client: Client, request: message.Request, resource: Resource, parent: int, wait: float
    ) -> NoReturn:
        """In the new process: keep nothing but the own connection, whose end is that of the run, and the streams."""
        try:
            processes.end_with(parent, signal.SIGKILL)
            # it ends soon, and what only a collection would free is little
            gc.disable()
            signal.set_wakeup_fd(-1)
            for each in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(each, signal.SIG_DFL)
            os.setsid()
            kept = {0, 1, 2, client.connection.fileno(), *client.streams}
            for handle in {*map(int, os.listdir("/proc/self/fd"))} - kept:
                # one of them was that of the listing
                with suppress(OSError):
                    os.close(handle)
            for stream, handle in enumerate(client.streams):
                os.dup2(handle, stream)
                os.close(handle)
            self.reconcile.carry_out(request, self.files.problem, self.unfinished.get(resource, ""), wait)
        finally:
            os._exit(FAILED)

    @staticmethod
    def _kill(run: Run, cause: str) -> None:
        """Kill the process of the run, which has not been waited for; its own processes become children of this one."""
        run.cause = cause
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Answer the clients of the runs that have ended, and kill what they have left."""
        for pid in _ended():
            run = self.runs.pop(pid, None)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            for orphan in processes.children() - self.runs.keys():
                os.kill(orphan, signal.SIGKILL)
            if run is not None:
                self._end(run, code)

    def _end(self, run: Run, code: int) -> None:
        """Answer the client of a run that has ended with this exit status, negative for a signal."""
        killed = run.cause or (f"signal {-code}" if code < 0 else "")
        if not run.is_postponed:
            self.unfinished.pop(run.resource, None)
            self.fairness[run.resource.kind].ended(run.resource.namespace, run.since, time.monotonic())
        if code == OUT_OF_MEMORY or (killed and killed != _CLIENT_ENDED):
            self.unfinished[run.resource] = killed or "it needed more memory than a run may have"
        code = STOPPED if run.cause == TIMEOUT else code if code >= 0 else 128 - code
        with suppress(OSError):
            run.connection.sendall(f"{message.ENDED.decode()} {code} {killed}".rstrip().encode() + b"\n")
        run.connection.close()


def _ready(read: Sequence[int], ended: Sequence[int], seconds: float) -> set[int]:
    """The handles of which some can be read, or whose connection has ended, within that time."""
    poll = select.poll()
    for handles, event in ((read, select.POLLIN), (ended, select.POLLRDHUP)):
        for each in handles:
            poll.register(each, event)
    return {handle for handle, _event in poll.poll(seconds * 1000)}


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
