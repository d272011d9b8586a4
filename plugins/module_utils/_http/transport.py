# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request and its response, with ``requests``: limited in time and size, and recording whether it was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http import address
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.deadline import Deadline, session
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import InvalidResponse
from ansible_collections.druidops.druid.plugins.module_utils._http.transport_errors import CLOSED, Attempt, unreachable

try:
    import requests
    import urllib3
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None

CHUNK = 64 * 1024
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
        self._session = session(self._deadline)
        if not connection.verify:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        """Send once, without following redirects. Unreachable if there is no response, InvalidResponse if too large."""
        self.sent[method] += 1
        _option, seconds = self._connection.timeout_for(method)
        try:
            with self._deadline.within(seconds):
                response = self._exchange(method, url, body, headers, seconds)
            if self._deadline.is_expired:
                # A truncated response looks complete if its end is the end of the connection.
                raise TimeoutError
            return response
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, EOFError) as error:
            self.unanswered += 1
            attempt = Attempt(method, address.redacted(url), self._deadline.sent, self._deadline.is_expired)
            raise unreachable(attempt, error, self._connection) from None

    def _exchange(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], seconds: float
    ) -> Response:
        connection = self._connection
        with self._session.request(
            method,
            url,
            data=body,
            headers=dict(headers),
            # Only the configured credentials: otherwise requests would use those of a .netrc.
            auth=self._authorize,
            timeout=(connection.connect_timeout, seconds),
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
        body = bytearray()
        for chunk in response.iter_content(CHUNK):
            body += chunk
            if len(body) > limit:
                break
        if len(body) > limit and not is_error:
            method, url = response.request.method or "", address.redacted(response.url)
            raise InvalidResponse(response.status_code, f"a response of more than {limit} bytes", method, url)
        if _is_cut(response) and len(body) <= limit:
            raise EOFError(CLOSED)
        return bytes(body[:limit])


def _is_cut(response: requests.Response) -> bool:
    """Return whether the response is shorter than its Content-Length: urllib3 before 2.0 does not check."""
    announced = response.headers.get("Content-Length", "")
    is_counted = announced.isdigit() and "Transfer-Encoding" not in response.headers
    # Responses with status 204 or 304 have no body, whatever their Content-Length.
    return is_counted and response.status_code not in (204, 304) and response.raw.tell() < int(announced)


def _certificate(connection: Connection) -> Any:
    if not connection.client_cert:
        return None
    return (connection.client_cert, connection.client_key) if connection.client_key else connection.client_cert
