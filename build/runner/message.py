# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The request of a client to the resident process, over a unix socket: what a program is executed with.

The length of the body in four bytes, and the body, whose parts end with the byte that none of them can contain: the
number of arguments, these, the working directory, the variables of the environment. Standard input, output and error
are sent with the first byte. The answers are lines.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # these imports take 15 ms
    from collections.abc import Mapping, Sequence

# The first answer, when the run begins, is READY and its time limit in seconds. The second one is ENDED, the exit
# status, and why the run was killed, if it was.
READY = b"ready"
ENDED = b"ended"
STREAMS = 3
LENGTH = 4
END = b"\0"


class Request:
    """Arguments without the program's name, working directory and environment, as the operating system has them."""

    def __init__(self, arguments: Sequence[bytes], directory: bytes, environment: Mapping[bytes, bytes]) -> None:
        self.arguments = [*arguments]
        self.directory = directory
        self.environment = {**environment}


def encode(request: Request) -> bytes:
    """The length and the body."""
    variables = [name + b"=" + value for name, value in request.environment.items()]
    parts = [b"%d" % len(request.arguments), *request.arguments, request.directory, *variables]
    body = b"".join([part + END for part in parts])
    return len(body).to_bytes(LENGTH, "big") + body


def length(data: bytes) -> int:
    """The length of the whole message, that of a header if it is not complete."""
    return LENGTH + int.from_bytes(data[:LENGTH], "big") if len(data) >= LENGTH else LENGTH


def decode(data: bytes) -> Request:
    """The request of a whole message. ValueError or IndexError for another one."""
    number, *parts = data[LENGTH:].split(END)[:-1]
    count = int(number)
    variables = (part.partition(b"=") for part in parts[count + 1 :])
    return Request(parts[:count], parts[count], {name: value for name, _equals, value in variables})
