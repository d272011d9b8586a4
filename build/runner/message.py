# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The request of a client to the resident process, over a unix socket: what a program is executed with.

The length of the body in four bytes, and the body, whose parts end with the byte that none of them can contain: the
number of arguments, these, the working directory, the variables of the environment. Standard input, output and error
are sent with the first byte. The answers are lines.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# The answers of the run's process: it waits for GO; the ordinary runner has to run instead; nothing may run. The last
# two are followed by a space and the reason. The resident process answers with the exit status when the run has ended.
READY = b"ready"
ORDINARY = b"ordinary"
REFUSED = b"refused"
ENDED = b"ended"
# The answer of the client. A run without it has not begun.
GO = b"go\n"
STREAMS = 3
_LENGTH = 4
_END = b"\0"


class Request(NamedTuple):
    """Arguments without the program's name, working directory and environment, as the operating system has them."""

    arguments: Sequence[bytes]
    directory: bytes
    environment: Mapping[bytes, bytes]


def own_request(arguments: Sequence[str]) -> Request:
    """The request of this process."""
    return Request([*map(os.fsencode, arguments)], os.getcwdb(), dict(os.environb))


def encode(request: Request) -> bytes:
    """The length and the body."""
    variables = (name + b"=" + value for name, value in request.environment.items())
    parts = [b"%d" % len(request.arguments), *request.arguments, request.directory, *variables]
    body = b"".join(part + _END for part in parts)
    return len(body).to_bytes(_LENGTH, "big") + body


def length(data: bytes) -> int:
    """The length of the whole message, that of a header if it is not complete."""
    return _LENGTH + int.from_bytes(data[:_LENGTH], "big") if len(data) >= _LENGTH else _LENGTH


def decode(data: bytes) -> Request:
    """The request of a whole message. ValueError or IndexError for another one."""
    number, *parts = data[_LENGTH:].split(_END)[:-1]
    count = int(number)
    variables = (part.partition(b"=") for part in parts[count + 1 :])
    return Request(parts[:count], parts[count], {name: value for name, _equals, value in variables})
