# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A deadline for one HTTP exchange, and whether any byte of the request has been sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
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


class Deadline:
    """Ends an exchange after a total time. A socket timeout would not do: it restarts with each byte."""

    def __init__(self) -> None:
        self.sent = False
        self.is_expired = False
        self._seconds = 0.0
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def on_send(self, sock: socket.socket) -> None:
        """Record that bytes of the request are about to be sent. The first call starts the timer."""
        with self._lock:
            # The socket, not the connection: the connection drops it when the response ends with the connection.
            self._socket = sock
            if not self.sent:
                self.sent = True
                self._timer = threading.Timer(self._seconds, self._expire)
                self._timer.daemon = True
                self._timer.start()

    def within(self, seconds: float) -> Deadline:
        """Set the time limit of the next exchange, and return this object."""
        self._seconds = seconds
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


def session(deadline: Deadline, check: Check) -> requests.Session:
    """Return a session whose connections notify the deadline when they send, and that ignores redirects.

    ``check`` is called with each new connection before anything is sent, except for one to a proxy.
    """

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            # Even with allow_redirects=False, requests would read the whole response and validate its Location.
            return None

    session = Session()
    adapter = _adapter(deadline, check)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _pools(deadline: Deadline, check: Check) -> dict[str, type[HTTPConnectionPool]]:
    """Return the pools of connections that notify the deadline when they send, by scheme."""

    class Http(HTTPConnection):
        is_connecting = False

        def _new_conn(self) -> socket.socket:
            sock: socket.socket = super()._new_conn()
            if self.proxy is None:
                check(sock)
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


def _adapter(deadline: Deadline, check: Check) -> HTTPAdapter:
    """Return an adapter for requests with these pools."""
    pools = _pools(deadline, check)

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
            super().init_poolmanager(*arguments, **keywords)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, *arguments: Any, **keywords: Any) -> Any:
            manager = super().proxy_manager_for(*arguments, **keywords)
            manager.pool_classes_by_scheme = pools
            return manager

    return Adapter()
