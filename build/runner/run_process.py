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

from . import in_process, message, ordinary_runner, restrictions
from .request import Request, decode
from .same_start import ordinary_reason

_FAILED = 1
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
        return _answer(connection, message.REFUSED, refusal)
    if reason := ordinary_reason(request, environment):
        return _answer(connection, message.ORDINARY, reason)
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
    arguments = restrictions.restrict(arguments, dict(os.environ), time.time())
    options = in_process.options(arguments)
    return in_process.run(options) if options else ordinary_runner.run(arguments)


def _answer(connection: socket.socket, kind: bytes, reason: str) -> int:
    connection.sendall(b"%b %b\n" % (kind, reason.replace("\n", " ").encode()))
    return _FAILED


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
