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

# The answers of the run's process: it waits for GO; the ordinary runner has to run instead; nothing may run. The last
# two are followed by a space and the reason. The resident process answers with the exit status when the run has ended.
READY = b"ready"
ORDINARY = b"ordinary"
REFUSED = b"refused"
ENDED = b"ended"
# The answer of the client. A run without it has not begun.
GO = b"go\n"
STREAMS = 3
LENGTH = 4
END = b"\0"


def encode(arguments: Sequence[bytes], directory: bytes, environment: Mapping[bytes, bytes]) -> bytes:
    """The length and the body."""
    variables = [name + b"=" + value for name, value in environment.items()]
    parts = [b"%d" % len(arguments), *arguments, directory, *variables]
    body = b"".join([part + END for part in parts])
    return len(body).to_bytes(LENGTH, "big") + body


def length(data: bytes) -> int:
    """The length of the whole message, that of a header if it is not complete."""
    return LENGTH + int.from_bytes(data[:LENGTH], "big") if len(data) >= LENGTH else LENGTH
