# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request and its answer, over ``requests``: bounded in time and size, and exact about whether it left."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _address
from ansible_collections.druidops.druid.plugins.module_utils._connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadAnswer, Unreachable

try:
    import requests
    import urllib3
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None

CHUNK = 64 * 1024
# Of a refusal the first words are enough.
LARGEST_REFUSAL = 256 * 1024
# Nothing was listening, or it went away: somebody may be there again soon.
PASSING = (ConnectionRefusedError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, EOFError)
CLOSED = "the server closed the connection before its answer was complete"


@dataclass(frozen=True)
class Answer:
    """What came back. The body is not decoded; that of a refusal may be cut."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    method: str
    url: str


class Transport:
    """Connections that are kept open. One thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._watch = _Watch(connection.read_timeout)
        self._session = _session(self._watch)
        if not connection.verify:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """Send once, follow nothing; any status is an answer. Unreachable, or BadAnswer when it is too large."""
        try:
            with self._watch:
                answer = self._exchange(method, url, body, headers)
            if self._watch.is_over:
                # Where an answer ends with its connection, what was cut off looks complete.
                raise TimeoutError
            return answer
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, EOFError) as error:
            raise self._unreachable(method, _address.shown(url), error) from None

    def _exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection = self._connection
        with self._session.request(
            method,
            url,
            data=body,
            headers=dict(headers),
            # Only credentials that were stated: without this, requests would take those of a .netrc.
            auth=self._authorize,
            timeout=(connection.connect_timeout, connection.read_timeout),
            verify=(connection.ca_file or True) if connection.verify else False,
            cert=_certificate(connection),
            allow_redirects=False,
            stream=True,
        ) as response:
            return Answer(response.status_code, response.headers, self._body(response), method, url)

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        authorization = self._connection.authorization
        if authorization:
            request.headers["Authorization"] = authorization
        return request

    def _body(self, response: requests.Response) -> bytes:
        refused = response.status_code >= 300
        largest = LARGEST_REFUSAL if refused else self._connection.largest_answer
        body = bytearray()
        for chunk in response.iter_content(CHUNK):
            body += chunk
            if len(body) > largest:
                break
        if len(body) > largest and not refused:
            method, url = response.request.method or "", _address.shown(response.url)
            raise BadAnswer(response.status_code, f"an answer of more than {largest} bytes", method, url)
        if _is_cut(response) and len(body) <= largest:
            raise EOFError(CLOSED)
        return bytes(body[:largest])

    def _unreachable(self, method: str, url: str, error: Exception) -> Unreachable:
        sent, late = self._watch.sent, self._watch.is_over
        cause = _innermost(error)
        if late or isinstance(cause, TimeoutError):
            return Unreachable(method, url, *self._late(sent), sent=sent)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Unreachable(method, url, f"its certificate is not trusted ({cause.verify_message})", _TRUST)
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
            return Unreachable(method, url, f"no TLS connection ({cause.reason or cause})", _TLS, sent=sent)
        if isinstance(cause, socket.gaierror):
            return Unreachable(method, url, f"the name of the host is not known ({cause.strerror})", _ADDRESS)
        if isinstance(error, requests.exceptions.ContentDecodingError):
            return Unreachable(method, url, "its answer cannot be unpacked (Content-Encoding)", _PROXY, sent=sent)
        if isinstance(error, requests.exceptions.ProxyError):
            return Unreachable(method, url, f"the proxy gave no way to it ({_text(cause)})", _PROXY)
        return self._broken(method, url, cause)

    def _broken(self, method: str, url: str, cause: BaseException) -> Unreachable:
        sent = self._watch.sent
        is_passing = isinstance(cause, PASSING) or sent
        wants = _CLIENT if url.startswith("https:") and not self._connection.client_cert else ""
        reason, hint = (CLOSED, wants) if sent else (_text(cause), _ADDRESS)
        return Unreachable(method, url, reason, hint, sent=sent, is_passing=is_passing)

    def _late(self, sent: bool) -> tuple[str, str]:
        if not sent:
            return f"no connection within {self._connection.connect_timeout:g} seconds (connect_timeout)", _ADDRESS
        hint = "Druid may be busy; see its log"
        return f"no complete answer within {self._connection.read_timeout:g} seconds (read_timeout)", hint


_ADDRESS = (
    "Check the option url (host, port), whether Druid runs there, the network, and the proxy (https_proxy, no_proxy)"
)
_PROXY = "Check the proxy (http_proxy, https_proxy, no_proxy)"
_TRUST = "Set ca_path to the CA that signed it, and use the name in url that the certificate is made for"
_CLIENT = "A server that wants to see a client certificate may do so, too (client_cert)"
_TLS = "Check whether url is that of Druid's TLS port, and whether Druid asks for a client certificate (client_cert)"


def _is_cut(response: requests.Response) -> bool:
    """Return whether fewer bytes came than were announced: urllib3 before 2.0 does not mind."""
    announced = response.headers.get("Content-Length", "")
    is_counted = announced.isdigit() and "Transfer-Encoding" not in response.headers
    # Status 204 and 304 have no body, whatever they announce.
    return is_counted and response.status_code not in (204, 304) and response.raw.tell() < int(announced)


def _certificate(connection: Connection) -> Any:
    if not connection.client_cert:
        return None
    return (connection.client_cert, connection.client_key) if connection.client_key else connection.client_cert


class _Watch:
    """Ends an exchange that takes too long, whatever it is doing: a timeout of a socket starts anew with each byte."""

    def __init__(self, seconds: float) -> None:
        self.sent = False
        self.is_over = False
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def sending(self, sock: socket.socket) -> None:
        """Note that bytes of a request are about to leave; from the first of them on the time runs."""
        with self._lock:
            # The socket and not its connection, which lets go of it when an answer ends with its end.
            self._socket = sock
            if not self.sent:
                self.sent = True
                self._timer = threading.Timer(self._seconds, self._end)
                self._timer.daemon = True
                self._timer.start()

    def __enter__(self) -> None:
        self.sent = self.is_over = False

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._socket = None
            if self._timer:
                self._timer.cancel()

    def _end(self) -> None:
        with self._lock:
            if self._socket is None or threading.current_thread() is not self._timer:
                return
            self.is_over = True
            with suppress(OSError):
                # That of the socket itself, also below TLS, which would want to say goodbye first.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _session(watch: _Watch) -> requests.Session:
    """Return a session whose connections tell the watch when they send, and which looks at no redirect itself."""

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            # Even when it is not to follow, requests would read the whole answer and judge its Location.
            return None

    session = Session()
    adapter = _adapter(watch)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _adapter(watch: _Watch) -> HTTPAdapter:
    """Return an adapter of requests whose connections tell the watch when they send."""

    class Http(HTTPConnection):
        is_connecting = False

        def connect(self) -> None:
            self.is_connecting = True
            try:
                super().connect()
            finally:
                self.is_connecting = False

        def send(self, data: Any) -> None:
            if self.sock is None:
                self.connect()
            # What is sent to make a connection is no request: CONNECT, to a proxy.
            if not self.is_connecting:
                watch.sending(self.sock)
            super().send(data)

    class Https(Http, HTTPSConnection):
        pass

    class HttpPool(HTTPConnectionPool):
        ConnectionCls = Http

    class HttpsPool(HTTPSConnectionPool):
        ConnectionCls = Https

    pools = {"http": HttpPool, "https": HttpsPool}

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
            super().init_poolmanager(*arguments, **keywords)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, *arguments: Any, **keywords: Any) -> Any:
            manager = super().proxy_manager_for(*arguments, **keywords)
            manager.pool_classes_by_scheme = pools
            return manager

    return Adapter()


def _innermost(error: BaseException) -> BaseException:
    """Return what happened first: requests wraps what urllib3 wraps what the socket said."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        error = _inner(error) or error
    return error


def _inner(error: BaseException) -> BaseException | None:
    candidates = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    return next((each for each in candidates if isinstance(each, BaseException)), None)


def _text(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
