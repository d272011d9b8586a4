# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The limits of one HTTP exchange, in time and in bytes, and whether any byte of the request has been sent."""

from __future__ import annotations

import http.client
import io
import math
import socket
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any

try:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
except ImportError:
    # reported by transport.py, which everything that uses this module imports
    pass


Check = Callable[[socket.socket], None]
CHUNK = 64 * 1024


class TooLarge(OSError):
    """The response has more bytes than are read, as they are sent, or decompressed."""


class LimitedStream(io.RawIOBase):
    """The bytes that a server sends, up to a limit; then TooLarge.

    This also limits what the HTTP libraries read without a limit: interim responses, the sizes of chunks, trailers.
    """

    def __init__(self, stream: io.RawIOBase, limit: int) -> None:
        self._stream, self._left = stream, limit

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read once."""
        count: int | None = self._stream.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise TooLarge
        return count

    def close(self) -> None:
        """Close both."""
        self._stream.close()
        super().close()


def read_body(response: requests.Response, limit: int) -> bytes:
    """Return the decompressed body, or its first ``limit + 1`` bytes. Only gzip is requested, and accepted.

    zlib.error for any other compression.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise zlib.error(encoding)
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress if "gzip" in encoding else None
    body = bytearray()
    for chunk in response.raw.stream(CHUNK, decode_content=False):
        # at most that many bytes: a chunk can contain a thousand times as many
        body += chunk if unpack is None else unpack(chunk, limit + 1 - len(body))
        if len(body) > limit:
            break
    return bytes(body[: limit + 1])


def _close(late: Future[socket.socket]) -> None:
    """Close a connection that was opened too late."""
    if late.exception() is None:
        late.result().close()


class Deadline:
    """Ends an exchange after a total time. A socket timeout would not do: it restarts with each byte."""

    def __init__(self) -> None:
        self.sent = False
        self.is_expired = False
        self._connect_seconds = self._seconds = 0.0
        self._end = math.inf
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    @property
    def is_over(self) -> bool:
        """Whether the total time of the exchange is over, with which also connecting ends."""
        return time.monotonic() >= self._end

    def connect(self, new: Callable[[], socket.socket]) -> socket.socket:
        """Return a new connection; TimeoutError at the end of the total time.

        The resolution of a name has no timeout of its own, and each of its addresses has one. What does not end in time
        is left to a thread.
        """
        if self._end == math.inf:
            return new()
        future: Future[socket.socket] = Future()

        def run() -> None:
            try:
                future.set_result(new())
            except Exception as error:  # noqa: BLE001 - raised by the exchange
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            return future.result(max(0.0, self._end - time.monotonic()))
        except TimeoutError:
            future.add_done_callback(_close)
            raise

    def on_connect(self, sock: socket.socket) -> None:
        """Limit the time of what precedes the request: the handshake of TLS, the response of a proxy to CONNECT."""
        with self._lock:
            self._start(sock, self._connect_seconds)

    def on_send(self, sock: socket.socket) -> None:
        """Record that bytes of the request are about to be sent. The first call starts its timer."""
        with self._lock:
            if self.sent:
                self._socket = sock
            else:
                self.sent = True
                self._start(sock, self._seconds)

    def _start(self, sock: socket.socket, seconds: float) -> None:
        # The socket, not the connection: the connection drops it when the response ends with the connection.
        self._socket = sock
        if self._timer:
            self._timer.cancel()
        self._timer = threading.Timer(min(seconds, max(0.0, self._end - time.monotonic())), self._expire)
        self._timer.daemon = True
        self._timer.start()

    def within(self, connect_seconds: float, seconds: float, total: float) -> Deadline:
        """Set the time limits of the next exchange, before and after it is sent, and of both; return this object."""
        self._connect_seconds, self._seconds, self._end = connect_seconds, seconds, time.monotonic() + total
        return self

    def __enter__(self) -> None:
        self.sent = self.is_expired = False

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._socket = None
            if self._timer:
                self._timer.cancel()

    def _expire(self) -> None:
        with self._lock:
            if self._socket is None or threading.current_thread() is not self._timer:
                return
            self.is_expired = True
            with suppress(OSError):
                # shutdown of the plain socket: that of TLS would send close_notify first
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def session(deadline: Deadline, check: Check, max_bytes: int) -> requests.Session:
    """Return a session whose connections notify the deadline when they send, and that ignores redirects.

    ``check`` is called with each new connection before anything is sent, except for one to a proxy. ``max_bytes``: of
    each response, with its headers.
    """

    settings: dict[Any, Any] = {}

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            # Even with allow_redirects=False, requests would read the whole response and validate its Location.
            return None

        def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
            # requests reads all variables of the environment for each request, which takes as long as to send it
            key = ("/".join(url.split("/", 3)[:3]), verify, cert)
            if key not in settings:
                settings[key] = super().merge_environment_settings(url, proxies, stream, verify, cert)
            return settings[key]

    session = Session()
    adapter = _adapter(deadline, check, max_bytes)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _pools(deadline: Deadline, check: Check, max_bytes: int) -> dict[str, type[HTTPConnectionPool]]:
    """Return the pools of connections that notify the deadline when they send, by scheme."""

    class Limited(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *arguments: Any, **keywords: Any) -> None:
            super().__init__(sock, *arguments, **keywords)
            self.fp = io.BufferedReader(LimitedStream(self.fp.detach(), max_bytes))

    class Http(HTTPConnection):
        is_connecting = False
        response_class = Limited

        def _new_conn(self) -> socket.socket:
            sock = deadline.connect(super()._new_conn)
            if self.proxy is None:
                check(sock)
            deadline.on_connect(sock)
            return sock

        def connect(self) -> None:
            self.is_connecting = True
            try:
                super().connect()
            finally:
                self.is_connecting = False

        def send(self, data: Any) -> None:
            if self.sock is None:
                self.connect()
            # CONNECT, sent to a proxy while connecting, is not the request.
            if not self.is_connecting:
                deadline.on_send(self.sock)
            super().send(data)

    class Https(Http, HTTPSConnection):
        pass

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    return {"http": HttpPool, "https": HttpsPool}


def _adapter(deadline: Deadline, check: Check, max_bytes: int) -> HTTPAdapter:
    """Return an adapter for requests with these pools."""
    pools = _pools(deadline, check, max_bytes)

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
            super().init_poolmanager(*arguments, **keywords)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, *arguments: Any, **keywords: Any) -> Any:
            manager = super().proxy_manager_for(*arguments, **keywords)
            manager.pool_classes_by_scheme = pools
            return manager

    return Adapter()
