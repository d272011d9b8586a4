# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request and its response, with ``requests``: limited in time and size, and what the lack of a response means."""

from __future__ import annotations

import socket
import ssl
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http import address
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.deadline import (
    Deadline,
    TooLarge,
    read_body,
    session,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ResponseTooLarge, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._http.own_host import OwnHost, accept_any_peer, peer_check
from ansible_collections.druidops.druid.plugins.module_utils._http.request import SQL, is_read
from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import Timeout

try:
    import requests
    import urllib3
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None


MIB = 1024 * 1024
# The start of an error response is enough.
MAX_ERROR_BYTES = 256 * 1024


@dataclass(frozen=True)
class Response:
    """A response. The body is not decoded; that of an error may be truncated."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    method: str
    url: str


class Transport:
    """Persistent connections. Not thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # the number of requests sent, by method, and of those without a response
        self.sent: Counter[str] = Counter()
        self.unanswered = 0
        self._deadline = Deadline()
        check = peer_check(connection.api_servers) if connection.refuse_own_host else accept_any_peer
        # One more for the headers.
        self._session = session(self._deadline, check, connection.max_response_bytes + MIB)
        if not connection.verify:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        """Send once, without following redirects. Unreachable if there is no response, ResponseTooLarge."""
        timeout = self._connection.timeout(is_write=not is_read(method, url))
        if not timeout.seconds:
            raise Unreachable(method, address.redacted(url), f"no time is left of {timeout.source}", is_timeout=True)
        self.sent[method] += 1
        connecting = min(self._connection.connect_timeout, timeout.seconds)
        try:
            with self._deadline.within(connecting, timeout.seconds, timeout.total):
                response = self._exchange(method, url, body, headers, (connecting, timeout.seconds))
            if self._deadline.is_expired:
                # A truncated response looks complete if its end is the end of the connection.
                raise TimeoutError
            return response
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, EOFError, zlib.error) as error:
            self.unanswered += 1
            ended = self._deadline
            attempt = Attempt(method, address.redacted(url), timeout, ended.sent, ended.is_expired, ended.is_over)
            raise unreachable(attempt, error, self._connection) from None

    def _exchange(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeouts: tuple[float, float]
    ) -> Response:
        connection = self._connection
        with self._session.request(
            method,
            url,
            data=body,
            headers={"Accept-Encoding": "gzip", **headers},
            # Only the configured credentials: otherwise requests would use those of a .netrc.
            auth=self._authorize,
            timeout=timeouts,
            verify=(connection.ca_file or True) if connection.verify else False,
            cert=_certificate(connection),
            allow_redirects=False,
            stream=True,
        ) as response:
            return Response(response.status_code, response.headers, self._body(response), method, url)

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        authorization = self._connection.authorization
        if authorization:
            request.headers["Authorization"] = authorization
        return request

    def _body(self, response: requests.Response) -> bytes:
        is_error = response.status_code >= 300
        limit = MAX_ERROR_BYTES if is_error else self._connection.max_response_bytes
        body = read_body(response, limit)
        if len(body) > limit and not is_error:
            method, url = response.request.method or "", address.redacted(response.url)
            raise ResponseTooLarge(response.status_code, _too_large(limit), method, url)
        if _is_cut(response) and len(body) <= limit:
            raise EOFError(CLOSED)
        return body[:limit]


def _is_cut(response: requests.Response) -> bool:
    """Return whether the response is shorter than its Content-Length: urllib3 before 2.0 does not check."""
    announced = response.headers.get("Content-Length", "")
    is_counted = announced.isdigit() and "Transfer-Encoding" not in response.headers
    # Responses with status 204 or 304 have no body, whatever their Content-Length.
    return is_counted and response.status_code not in (204, 304) and response.raw.tell() < int(announced)


def _too_large(limit: int) -> str:
    return f"a response of more than {limit // MIB} MiB"


def _certificate(connection: Connection) -> Any:
    if not connection.client_cert:
        return None
    return (connection.client_cert, connection.client_key) if connection.client_key else connection.client_cert


# The server is down or restarting: a retry may succeed.
TRANSIENT_ERRORS = (ConnectionRefusedError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, EOFError)
CLOSED = "the server closed the connection before the response was complete"
_ADDRESS = (
    "Check the option url (host, port), whether Druid is running, the network, and the proxy (https_proxy, no_proxy)"
)
_OWN_HOST = "Set the option url to the address of a Service of Druid"
_PROXY = "Check the proxy (http_proxy, https_proxy, no_proxy)"
_TRUST = "Set ca_path to the CA that signed it, and use a host name in url that the certificate is valid for"
_CLIENT = "This may also mean that the server requires a client certificate (client_cert)"
_TLS = "Check whether url has Druid's TLS port, and whether Druid requires a client certificate (client_cert)"


@dataclass(frozen=True)
class Attempt:
    """A request without a response.

    ``sent``: part of it was sent. ``is_timed_out``: its deadline expired. ``is_over``: its total time, too.
    """

    method: str
    url: str
    timeout: Timeout
    sent: bool
    is_timed_out: bool
    is_over: bool


def unreachable(attempt: Attempt, error: Exception, connection: Connection) -> Unreachable:
    """Return the exception for a request that failed with ``error``."""
    method, url, sent = attempt.method, attempt.url, attempt.sent
    cause = _innermost(error)
    if attempt.is_timed_out or isinstance(cause, TimeoutError):
        return Unreachable(method, url, *_timed_out(attempt, connection), sent=sent, is_timeout=True)
    if isinstance(cause, OwnHost):
        return Unreachable(method, url, f"it is refused ({cause})", _OWN_HOST)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Unreachable(method, url, f"the server's certificate is not trusted ({cause.verify_message})", _TRUST)
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
        return Unreachable(method, url, f"the TLS connection failed ({cause.reason or cause})", _TLS, sent=sent)
    if isinstance(cause, socket.gaierror):
        return Unreachable(method, url, f"the host name cannot be resolved ({cause.strerror})", _ADDRESS)
    if unreadable := _unreadable(cause, connection):
        return Unreachable(method, url, unreadable, _PROXY, sent=sent)
    if isinstance(error, requests.exceptions.ProxyError):
        return Unreachable(method, url, f"the proxy could not connect to it ({_text(cause)})", _PROXY)
    return _connection_failed(attempt, cause, connection)


def _unreadable(cause: BaseException, connection: Connection) -> str:
    """Return why a response was not read to its end, an empty string if that is not the cause."""
    if isinstance(cause, TooLarge):
        return _too_large(connection.max_response_bytes)
    return "the response cannot be decompressed (Content-Encoding)" if isinstance(cause, zlib.error) else ""


def _timed_out(attempt: Attempt, connection: Connection) -> tuple[str, str]:
    if not attempt.sent and attempt.is_over:
        return f"no connection within {attempt.timeout.source}", _ADDRESS
    if not attempt.sent:
        return f"no connection within {connection.connect_timeout:g} seconds (connect_timeout)", _ADDRESS
    seconds, source, _total = attempt.timeout
    return f"no complete response within {round(seconds, 2):g} seconds ({source})", "Druid may be busy. Check its log"


def _connection_failed(attempt: Attempt, cause: BaseException, connection: Connection) -> Unreachable:
    # a query that has arrived may have ended the server, and would end the next one
    is_cause = attempt.sent and attempt.url.endswith(SQL)
    is_transient = (isinstance(cause, TRANSIENT_ERRORS) or attempt.sent) and not is_cause
    certificate_hint = _CLIENT if attempt.url.startswith("https:") and not connection.client_cert else ""
    reason, hint = (CLOSED, certificate_hint) if attempt.sent else (_text(cause), _ADDRESS)
    return Unreachable(attempt.method, attempt.url, reason, hint, sent=attempt.sent, is_transient=is_transient)


def _innermost(error: BaseException) -> BaseException:
    """Return the root cause: requests wraps the exceptions of urllib3, which wraps those of the socket."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        error = _inner(error) or error
    return error


def _inner(error: BaseException) -> BaseException | None:
    candidates = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    return next((each for each in candidates if isinstance(each, BaseException)), None)


def _text(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
