# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts the exceptions of HTTP libraries to Unreachable, with cause and remedy. Pure."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Unreachable

try:
    import requests
except ImportError:
    requests = None  # type: ignore[assignment]

# The server is down or restarting: a retry may succeed.
TRANSIENT_ERRORS = (ConnectionRefusedError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, EOFError)
CLOSED = "the server closed the connection before the response was complete"
_ADDRESS = (
    "Check the option url (host, port), whether Druid is running, the network, and the proxy (https_proxy, no_proxy)"
)
_PROXY = "Check the proxy (http_proxy, https_proxy, no_proxy)"
_TRUST = "Set ca_path to the CA that signed it, and use a host name in url that the certificate is valid for"
_CLIENT = "This may also mean that the server requires a client certificate (client_cert)"
_TLS = "Check whether url has Druid's TLS port, and whether Druid requires a client certificate (client_cert)"


@dataclass(frozen=True)
class Attempt:
    """A request without a response. ``sent``: part of it was sent. ``is_timed_out``: its deadline expired."""

    method: str
    url: str
    sent: bool
    is_timed_out: bool


def unreachable(attempt: Attempt, error: Exception, connection: Connection) -> Unreachable:
    """Return the exception for a request that failed with ``error``."""
    method, url, sent = attempt.method, attempt.url, attempt.sent
    cause = _innermost(error)
    if attempt.is_timed_out or isinstance(cause, TimeoutError):
        return Unreachable(method, url, *_timed_out(attempt, connection), sent=sent)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Unreachable(method, url, f"the server's certificate is not trusted ({cause.verify_message})", _TRUST)
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
        return Unreachable(method, url, f"the TLS connection failed ({cause.reason or cause})", _TLS, sent=sent)
    if isinstance(cause, socket.gaierror):
        return Unreachable(method, url, f"the host name cannot be resolved ({cause.strerror})", _ADDRESS)
    if isinstance(error, requests.exceptions.ContentDecodingError):
        return Unreachable(method, url, "the response cannot be decompressed (Content-Encoding)", _PROXY, sent=sent)
    if isinstance(error, requests.exceptions.ProxyError):
        return Unreachable(method, url, f"the proxy could not connect to it ({_text(cause)})", _PROXY)
    return _connection_failed(attempt, cause, connection)


def _timed_out(attempt: Attempt, connection: Connection) -> tuple[str, str]:
    if not attempt.sent:
        return f"no connection within {connection.connect_timeout:g} seconds (connect_timeout)", _ADDRESS
    option, seconds = connection.timeout_for(attempt.method)
    return f"no complete response within {seconds:g} seconds ({option})", "Druid may be busy. Check its log"


def _connection_failed(attempt: Attempt, cause: BaseException, connection: Connection) -> Unreachable:
    is_transient = isinstance(cause, TRANSIENT_ERRORS) or attempt.sent
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
