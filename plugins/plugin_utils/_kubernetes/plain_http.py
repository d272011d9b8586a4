# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP/1.1 without TLS, with a server on the same host: ansible-operator's proxy and its endpoint for metrics.

A run sends some 20 requests. With urllib3, half of its processor time was spent on them; with http.client, which parses
headers as those of a mail, a quarter.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3


class Response(NamedTuple):
    """A response with its whole body."""

    status: int
    headers: Mapping[str, str]
    data: bytes


# What there may be instead of a response: no connection, its end, something that is not HTTP.
NO_RESPONSE = (OSError, EOFError, ValueError)


def read_response(stream: BinaryIO) -> Response:
    """Receive a response with a body of known length or in chunks. One of NO_RESPONSE for anything else."""
    _version, status, *_reason = stream.readline().split()
    headers: dict[str, str] = {}
    while line := stream.readline().decode("latin-1").strip():
        name, _colon, value = line.partition(":")
        headers[name.title()] = value.strip()
    if headers.get("Transfer-Encoding") == "chunked":
        data = b"".join(iter(partial(_read_chunk, stream), b""))
    else:
        data = _read(stream, int(headers.get("Content-Length", "")))
    return Response(int(status), headers, data)


def _read_chunk(stream: BinaryIO) -> bytes:
    chunk = _read(stream, int(stream.readline(), 16))
    stream.readline()
    return chunk


def _read(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


@dataclass
class PlainHttp:
    """Sends reads to one server over one connection, as HTTP/1.1 without what ansible-operator does not use."""

    server: str
    _connection: socket.socket | None = field(default=None, init=False)
    _stream: BinaryIO = field(default_factory=BytesIO, init=False)

    def request(self, method: str, url: str, **arguments: Any) -> Response:
        """Send; urllib3's HTTPError if there is no response. A connection that has become unusable is replaced once."""
        was_used = self._connection is not None
        try:
            return self._send(method, url, **arguments)
        except NO_RESPONSE as error:
            self.close()
            if not was_used:
                raise urllib3.exceptions.MaxRetryError(None, url, error) from error  # type: ignore[arg-type]
        return self.request(method, url, **arguments)

    def _send(self, method: str, url: str, headers: Mapping[str, str], timeout: urllib3.Timeout, **_: Any) -> Response:
        limit: Any = timeout.clone()
        limit.start_connect()
        address = urlsplit(self.server)
        if self._connection is None:
            self._connection = socket.create_connection((address.hostname, address.port or 80), limit.connect_timeout)
            self._stream = self._connection.makefile("rb")
        self._connection.settimeout(limit.read_timeout)
        lines = (f"{name}: {value}\r\n" for name, value in {"Host": address.netloc, **headers}.items())
        request = f"{method} {url.removeprefix(self.server)} HTTP/1.1\r\n{''.join(lines)}\r\n"
        self._connection.sendall(request.encode("latin-1"))
        response = read_response(self._stream)
        if response.headers.get("Connection") == "close":
            self.close()
        return response

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
