# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of a run, forked by the resident process: it reads the request, and becomes what was requested."""

from __future__ import annotations

import os
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from . import in_process, message, ordinary_runner, restrictions, step_aside
from .request import Request, decode
from .same_start import ordinary_reason

_FAILED = 1
# The exit status of a process that runs nothing since the resident process was started in another way.
OTHER_START = 253
_REQUEST_SECONDS = 15


class _ClientEnded(Exception):
    """There is no whole request."""


def serve(connection: socket.socket, environment: Mapping[bytes, bytes], limit: int, refusal: str) -> NoReturn:
    """Answer the request and run it. The process exits with the status of the run, and without the parent's cleanup.

    ``environment``: that of the resident process; ``limit``: of the run, in seconds; ``refusal``: why nothing may run.
    """
    status = _FAILED
    try:
        status = _serve(connection, environment, limit, refusal)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else _FAILED
    except _ClientEnded:
        pass
    except BaseException:  # noqa: BLE001 - this process must not go on as its parent
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


def _serve(connection: socket.socket, environment: Mapping[bytes, bytes], limit: int, refusal: str) -> int:
    connection.settimeout(_REQUEST_SECONDS)
    request, streams = _received(connection)
    arguments = [*map(os.fsdecode, request.arguments)]
    if refusal:
        _answer(connection, message.REFUSED, refusal)
        return _FAILED
    if reason := ordinary_reason(request, environment):
        _answer(connection, message.ORDINARY, reason)
        return OTHER_START
    connection.sendall(b"%b %d\n" % (message.READY, limit))
    if connection.recv(len(message.GO)) != message.GO:
        return _FAILED
    connection.settimeout(None)
    for stream, handle in enumerate(streams):
        os.dup2(handle, stream)
        os.close(handle)
    os.chdir(request.directory)
    os.environb.clear()
    os.environb.update(request.environment)
    deletion = step_aside.deletion(arguments[1])
    arguments = restrictions.restrict(arguments, dict(os.environ), time.time())
    options = in_process.options(arguments)
    if options is None:
        return ordinary_runner.run(arguments)
    return step_aside.run(options, deletion) if deletion else in_process.run(options)


def _answer(connection: socket.socket, kind: bytes, reason: str) -> None:
    connection.sendall(b"%b %b\n" % (kind, reason.replace("\n", " ").encode()))


def _received(connection: socket.socket) -> tuple[Request, Sequence[int]]:
    """The request, and the client's standard input, output and error."""
    data, streams, _flags, _address = socket.recv_fds(connection, 1 << 16, message.STREAMS)
    while len(data) < message.length(data):
        part = connection.recv(1 << 16)
        if not part:
            raise _ClientEnded
        data += part
    if len(streams) != message.STREAMS:
        raise _ClientEnded
    return decode(data), streams
