# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why no answer came, and what a person can do about it: from a library's exception to Unreachable. Pure."""

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

# Nothing was listening, or it went away: somebody may be there again soon.
TRANSIENT_ERRORS = (ConnectionRefusedError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError, EOFError)
CLOSED = "the server closed the connection before its answer was complete"
_ADDRESS = (
    "Check the option url (host, port), whether Druid runs there, the network, and the proxy (https_proxy, no_proxy)"
)
_PROXY = "Check the proxy (http_proxy, https_proxy, no_proxy)"
_TRUST = "Set ca_path to the CA that signed it, and use the name in url that the certificate is made for"
_CLIENT = "A server that wants to see a client certificate may do so, too (client_cert)"
_TLS = "Check whether url is that of Druid's TLS port, and whether Druid asks for a client certificate (client_cert)"


@dataclass(frozen=True)
class Attempt:
    """A request that got no answer. ``sent``: a part of it has left; ``is_timed_out``: its time was over."""

    method: str
    url: str
    sent: bool
    is_timed_out: bool


def unreachable(attempt: Attempt, error: Exception, connection: Connection) -> Unreachable:
    """Return what is to be raised."""
    method, url, sent = attempt.method, attempt.url, attempt.sent
    cause = _innermost(error)
    if attempt.is_timed_out or isinstance(cause, TimeoutError):
        return Unreachable(method, url, *_timed_out(attempt, connection), sent=sent)
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
    return _connection_failed(attempt, cause, connection)


def _timed_out(attempt: Attempt, connection: Connection) -> tuple[str, str]:
    if not attempt.sent:
        return f"no connection within {connection.connect_timeout:g} seconds (connect_timeout)", _ADDRESS
    option, seconds = connection.timeout_for(attempt.method)
    return f"no complete answer within {seconds:g} seconds ({option})", "Druid may be busy; see its log"


def _connection_failed(attempt: Attempt, cause: BaseException, connection: Connection) -> Unreachable:
    is_transient = isinstance(cause, TRANSIENT_ERRORS) or attempt.sent
    certificate_hint = _CLIENT if attempt.url.startswith("https:") and not connection.client_cert else ""
    reason, hint = (CLOSED, certificate_hint) if attempt.sent else (_text(cause), _ADDRESS)
    return Unreachable(attempt.method, attempt.url, reason, hint, sent=attempt.sent, is_transient=is_transient)


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
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
