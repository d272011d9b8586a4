# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request and its answer, over ``requests``: bounded in time and size, and exact about whether it left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils import _address
from ansible_collections.druidops.druid.plugins.module_utils._connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadAnswer
from ansible_collections.druidops.druid.plugins.module_utils._no_answer import CLOSED, Attempt, unreachable
from ansible_collections.druidops.druid.plugins.module_utils._watch import Watch, session

try:
    import requests
    import urllib3
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None

CHUNK = 64 * 1024
# Of a refusal the first words are enough.
LARGEST_REFUSAL = 256 * 1024


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
        # how many requests were sent, by their method, and how many got no answer
        self.sent: Counter[str] = Counter()
        self.unanswered = 0
        self._watch = Watch()
        self._session = session(self._watch)
        if not connection.verify:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """Send once, follow nothing; any status is an answer. Unreachable, or BadAnswer when it is too large."""
        self.sent[method] += 1
        _option, seconds = self._connection.patience_with(method)
        try:
            with self._watch.within(seconds):
                answer = self._exchange(method, url, body, headers, seconds)
            if self._watch.is_over:
                # Where an answer ends with its connection, what was cut off looks complete.
                raise TimeoutError
            return answer
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, EOFError) as error:
            self.unanswered += 1
            attempt = Attempt(method, _address.shown(url), self._watch.sent, self._watch.is_over)
            raise unreachable(attempt, error, self._connection) from None

    def _exchange(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], seconds: float
    ) -> Answer:
        connection = self._connection
        with self._session.request(
            method,
            url,
            data=body,
            headers=dict(headers),
            # Only credentials that were stated: without this, requests would take those of a .netrc.
            auth=self._authorize,
            timeout=(connection.connect_timeout, seconds),
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
