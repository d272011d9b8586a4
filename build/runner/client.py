# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The `ansible-runner` that ansible-operator finds first on PATH: it has a resident process carry out the run.

Python and the collection take most of a second to start; the resident process has done so, and forks. Without it, this
program becomes the real ansible-runner, after it has restricted the run. It runs before every run as `python -I -S`,
and waits for it, so it imports nearly nothing.
"""

from __future__ import annotations

import _socket
import os
import sys

from . import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    # these imports take 10 ms
    from collections.abc import Sequence
    from typing import NoReturn

# The directory of the resident process; without it, each run is one of ansible-runner.
DIRECTORY = "DRUIDOPS_WARM_RUNNER"
SOCKET = "socket"
# For the first answer, in seconds. A resident process only accepts and forks: without an answer it hangs.
ANSWER_SECONDS = 15
# How much later than the time limit of a run the resident process has stopped it, unless it hangs.
STOPPED_SECONDS = 60
# Why a run was killed that has exceeded its time limit, and its exit status, which is that of ansible-runner.
TIMEOUT = "timeout"
STOPPED = 254
FAILED = 1


def main() -> NoReturn:
    """Have the resident process run, or become the real program; exit with the status of the run."""
    os.umask(0o077)
    arguments = sys.argv[1:]
    directory = os.environ.get(DIRECTORY)
    reason = _run(directory, arguments) if directory and arguments[:1] == ["run"] else None
    from . import ansible_runner

    ansible_runner.become(arguments, reason)


def _run(directory: str, arguments: Sequence[str]) -> str:
    """Exit with the status of the run, or return why it has to be one of ansible-runner."""
    try:
        connection, answer = _answered(directory, arguments)
    except OSError as error:
        return str(error)
    if connection is None:
        return answer.decode(errors="replace")
    # From here on there is no run of ansible-runner, whatever fails: the run has begun.
    status = _result(connection, int(answer.removeprefix(message.READY)), arguments)
    sys.stderr.flush()
    # Python's own end takes a millisecond, and nothing else has been written
    os._exit(status)


def _answered(directory: str, arguments: Sequence[str]) -> tuple[_socket.socket | None, bytes]:
    """The connection and the answer; without a connection, why the run has to be one of ansible-runner."""
    # the second attempt is for one that has ended by itself, since files have changed or nothing was to be done
    for _attempt in range(2):
        connection = connect(directory)
        if connection is None:
            from . import start_resident

            connection = start_resident.started(directory)
            if connection is None:
                return None, start_resident.problem(directory).encode()
        answer = _ask(connection, arguments)
        if answer is None:
            killed = ", and has been killed" if send_signal(connection, 9) else ""
            return None, f"the resident process did not answer within {ANSWER_SECONDS} s{killed}".encode()
        if answer:
            return connection, answer
    from . import start_resident

    start_resident.pause(directory)
    return None, b"the resident process ended"


def connect(directory: str) -> _socket.socket | None:
    """The connection to the resident process of this directory, None if there is none. OSError if it is not safe."""
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise PermissionError(f"{directory} is not only this user's")
        # the path of a socket may only have 108 bytes
        return _connection(f"/proc/self/fd/{handle}/{SOCKET}")
    finally:
        os.close(handle)


def _connection(path: str) -> _socket.socket | None:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(ANSWER_SECONDS)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
            return None
        raise
    return connection


def _ask(connection: _socket.socket, arguments: Sequence[str]) -> bytes | None:
    """Send the request, and return the answer: empty at the end of the connection, None if there is none in time."""
    own = message.Request([os.fsencode(each) for each in arguments], os.getcwdb(), os.environb)
    data = message.encode(own)
    streams = b"".join(each.to_bytes(4, sys.byteorder) for each in range(message.STREAMS))
    try:
        sent = connection.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
        if sent < len(data):
            connection.sendall(data[sent:])
        return _line(connection)
    except TimeoutError:
        return None
    except (BrokenPipeError, ConnectionResetError):
        return b""


def _line(connection: _socket.socket) -> bytes:
    """The next line without its end; empty at the end of the connection. The line after it stays there."""
    found = b""
    while not found.endswith(b"\n"):
        part = connection.recv(1)
        if not part:
            return b""
        found += part
    return found[:-1]


def process(connection: _socket.socket) -> int:
    """The process that accepts connections at the other end."""
    import struct

    size = struct.calcsize("3i")
    found: int = struct.unpack("3i", connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, size))[0]
    return found


def send_signal(connection: _socket.socket, number: int) -> bool:
    """Send a signal to the process at the other end; False if it has ended, or belongs to another container."""
    import select
    import signal

    pid = process(connection)
    if pid <= 0:
        return False
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # While the connection is open its process, or a run of it, has not ended: then the number is still its own.
        poll = select.poll()
        poll.register(connection, select.POLLHUP)
        if poll.poll(0):
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _result(connection: _socket.socket, limit: int, arguments: Sequence[str]) -> int:
    """Wait for the end of the run, and return its exit status; it is stopped after the limit in seconds."""
    connection.settimeout(limit + STOPPED_SECONDS)
    try:
        answer = _line(connection)
    except TimeoutError:
        send_signal(connection, 9)
        answer = b""
    except OSError:
        answer = b""
    _ended, _space, text = answer.partition(b" ")
    status, _space, cause = text.partition(b" ")
    if status and not cause:
        return int(status)
    return _killed(arguments, cause.decode() or "the resident process has ended", int(status or FAILED))


def _killed(arguments: Sequence[str], cause: str, status: int) -> int:
    """Write the cause, and what ansible-runner leaves of a run that does not end by itself; return the exit status."""
    sys.stderr.write(f"ansible-runner: the run was killed: {cause}\n")
    ident = arguments[arguments.index("-i") + 1] if "-i" in arguments[:-1] else ""
    artifacts = os.path.join(arguments[1], "artifacts", ident)
    name = TIMEOUT if status == STOPPED else "failed"
    for file, text in (("status", name), ("rc", str(status))):
        try:
            with open(os.path.join(artifacts, file), "x", encoding="utf-8") as stream:
                stream.write(text)
        except OSError:
            # the run has left it
            continue
    return status
