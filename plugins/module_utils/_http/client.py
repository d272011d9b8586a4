# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidClient, the only code that sends HTTP requests to Druid: selects the server, finds Routers, and retries."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http import address, shapes
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.error_message import parse_error_text
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    TRANSIENT_STATUSES,
    ApiError,
    Forbidden,
    InvalidResponse,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.redirect import Redirects
from ansible_collections.druidops.druid.plugins.module_utils._http.request import (
    JSON,
    SQL,
    HttpRequest,
    encode_body,
    is_read,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.response import ResponseParser
from ansible_collections.druidops.druid.plugins.module_utils._http.retry import RetryBudget
from ansible_collections.druidops.druid.plugins.module_utils._http.transport import MISSING, Response, Transport
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import sentences

__all__ = ["MISSING", "Connection", "DruidClient", "path"]


class DruidClient:
    """Druid's HTTP API at a Router, a Coordinator or an Overlord. The first server that responds is used from then on.

    Paths are those of the Coordinator and the Overlord (``/druid/indexer/v1/...``). The client adds the prefix that a
    Router needs. Credentials and bodies are sent only to configured servers and to their leaders.

    Every method raises Unreachable if there is no response, and ApiError if the response is an error. Idempotent
    requests are retried for ``connection.retry_timeout`` seconds if the server is unreachable or returns 502, 503 or
    504. ``retries_enabled``: whether requests are retried. ``on_retry``: called with a message, once per request,
    before a retry that comes later than 3 seconds after the first attempt.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        on_retry: Callable[[str], None] | None = None,
    ) -> None:
        self._retry_budget = lambda: RetryBudget(connection.retry_timeout, now, sleep)
        self._on_retry = on_retry or _say_nothing
        self.retries_enabled = connection.retry_timeout > 0
        self._connect(connection)
        self._servers = list(connection.urls)
        self._version_text: str | None = None
        self._is_served: dict[str, bool] = {}
        self._queries = 0

    def __enter__(self) -> DruidClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _connect(self, connection: Connection) -> None:
        self._connection = connection
        self._transport = Transport(connection)
        self._redirects = Redirects(self._transport, connection)
        self._parser = ResponseParser(connection, self._redirects)
        self._routers = Routers(self._redirects, self._parser)

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of the configured servers, which have no user information."""
        return self._connection.urls

    @property
    def username(self) -> str | None:
        """The user of HTTP basic authentication, None if the client has a token or no login."""
        return self._connection.username

    @property
    def password(self) -> str | None:
        """The password of this user."""
        return self._connection.password

    def with_login(self, username: str, password: str) -> DruidClient:
        """Return another client for the same servers, with another login."""
        return DruidClient(replace(self._connection, username=username, password=password, token=None))

    def probing(self) -> DruidClient:
        """Return another client with the same login, whose requests end soon and are not repeated."""
        read_timeout = min(self._connection.read_timeout, PROBE_SECONDS)
        return DruidClient(replace(self._connection, retry_timeout=0, read_timeout=read_timeout))

    def use_password(self, password: str) -> None:
        """Send this password from now on: that of the user has changed."""
        self.close()
        self._connect(replace(self._connection, password=password))

    @property
    def traffic(self) -> dict[str, int]:
        """The number of reads and writes sent, and the number of requests without a response."""
        sent = self._transport.sent
        reads = sent["GET"] + self._queries
        return {"reads": reads, "writes": sent.total() - reads, "unanswered": self._transport.unanswered}

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON document, None if the response is empty. NotFound if Druid has no such resource."""
        return self._call(HttpRequest("GET", path, address.query(params)))

    def post(
        self,
        path: str,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        *,
        idempotent: bool = False,
        content_type: str = JSON,
        audit: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the JSON document of the response, None if it is empty. ``body``: a JSON value, or raw bytes.

        Only an ``idempotent`` request is retried: sending it twice must have the same effect as sending it once.
        ``audit``: headers for Druid's audit history (see ``_resources.document``).
        """
        document = None if isinstance(body, bytes) else body
        query = address.query(params)
        request = HttpRequest("POST", path, query, encode_body(body), content_type, idempotent, document, audit or {})
        return self._call(request)

    def delete(
        self, path: str, params: Mapping[str, Any] | None = None, *, audit: Mapping[str, str] | None = None
    ) -> Any:
        """Return the response, as ``post`` does. A retry raises NotFound if an earlier attempt has succeeded."""
        return self._call(HttpRequest("DELETE", path, address.query(params), audit=audit or {}))

    def serves(self, path: str) -> bool:
        """Return whether this Druid has an API, by a GET that requires no permission. Read once.

        Druid responds with 404 to a path that it does not have, with 403 to one that the user may not read, and with
        405 to one that has no GET.
        """
        if path not in self._is_served:
            try:
                self.get(path)
                self._is_served[path] = True
            except Forbidden:
                self._is_served[path] = True
            except NotFound:
                self._is_served[path] = False
            except ApiError as error:
                if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
                    raise
                self._is_served[path] = True
        return self._is_served[path]

    @property
    def version_text(self) -> str:
        """The version that the server reports (GET /status), such as ``33.0.0``. Read once."""
        if self._version_text is None:
            status = self.get("/status")
            self._version_text = str(status.get("version"))
        return self._version_text

    @property
    def product(self) -> str:
        """Druid and its version, for messages: ``Druid 33.0.0``. Without the version if the user may not read it."""
        try:
            return f"Druid {self.version_text}"
        except ApiError:
            return "Druid"

    @property
    def version(self) -> tuple[int, ...]:
        """The version as numbers: ``(33, 0, 0)``. ApiError if the server reports none."""
        numbers = re.match(r"\d+(?:\.\d+)*", self.version_text)
        if not numbers:
            message, url = f"invalid version {self.version_text!r}", self._servers[0] + "/status"
            raise InvalidResponse(200, message, "GET", url, "Check that the option url points to Druid")
        return tuple(int(number) for number in numbers.group().split("."))

    def supports(self, *version: int) -> bool:
        """Return whether the server has this version or a newer one: ``supports(33)``."""
        return self.version >= version

    # Retries of the same request.

    def _call(self, request: HttpRequest) -> Any:
        retry_budget = self._retry_budget()
        is_reported = False
        while True:
            try:
                return self._try_servers(request)
            except (Unreachable, ServerError) as error:
                delay = error.retry_after if isinstance(error, ServerError) else None
                status = error.status if isinstance(error, ServerError) else None
                may_succeed = error.is_transient if status is None else _may_be_repeated(request, status)
                if not (request.idempotent and may_succeed and retry_budget.allows(delay)):
                    raise
                if not is_reported and retry_budget.elapsed_after(delay) >= SILENT_SECONDS:
                    is_reported = True
                    self._on_retry(f"{error} It is tried again for {retry_budget.remaining:.0f} s.")
                retry_budget.pause(delay)

    # One attempt: the servers in order.

    def _try_servers(self, request: HttpRequest) -> Any:
        failures: list[Unreachable | ServerError] = []
        for server in self._candidates(request):
            try:
                response = self._send(server, request)
                if not _may_be_repeated(request, response.status):
                    self._prefer(server)
                    return self._parser.result(server, request, response)
                failures.append(self._parser.server_error(request, response))
            except Unreachable as error:
                self._redirects.forget(server)
                if error.sent and not (request.idempotent and error.is_transient):
                    raise
                failures.append(error)
        raise _combined(failures)

    def _candidates(self, request: HttpRequest) -> Iterator[str]:
        leader = self._redirects.leader_of(request.service)
        return iter(dict.fromkeys(([leader] if leader else []) + self._servers))

    def _prefer(self, server: str) -> None:
        if server in self._servers:
            self._servers.remove(server)
            self._servers.insert(0, server)

    def _send(self, server: str, request: HttpRequest) -> Response:
        prefix = self._routers.prefix(server, request.path)
        self._queries += request.method != "GET" and is_read(request.method, request.path)
        return self._redirects.follow(request, server + prefix + request.path + request.query)


# A request that takes longer is reported.
SILENT_SECONDS = 3.0
# For the response to a probe, which the caller repeats.
PROBE_SECONDS = 10.0


def _say_nothing(message: str) -> None:
    del message


def _may_be_repeated(request: HttpRequest, status: int) -> bool:
    """Return whether to repeat a request with this response. A query that took too long would take as long again."""
    took_too_long = request.path == SQL and status == HTTPStatus.GATEWAY_TIMEOUT
    return request.idempotent and status in TRANSIENT_STATUSES and not took_too_long


def _combined(failures: list[Unreachable | ServerError]) -> Unreachable | ServerError:
    """Return the most specific failure. If no server responded, return one error that lists all failures."""
    answered = [failure for failure in failures if isinstance(failure, ServerError)]
    unanswered = [failure for failure in failures if isinstance(failure, Unreachable)]
    if answered or len(unanswered) == 1:
        return (answered or unanswered)[0]
    first, others = unanswered[0], unanswered[1:]
    reason = "; ".join([first.reason, *(f"{other.url}: {other.reason}" for other in others)])
    hints = " ".join(sentences(hint) for hint in dict.fromkeys(each.hint for each in unanswered) if hint)
    return Unreachable(
        first.method,
        first.url,
        reason,
        hints,
        sent=any(each.sent for each in unanswered),
        is_transient=any(each.is_transient for each in unanswered),
        is_timeout=any(each.is_timeout for each in unanswered),
    )


class Routers:
    """Detects which servers are Routers with the management proxy enabled. Each is probed at most once."""

    def __init__(self, redirects: Redirects, parser: ResponseParser) -> None:
        self._redirects = redirects
        self._parser = parser
        self._are_routers: dict[str, bool] = {}

    def prefix(self, server: str, path: str) -> str:
        """Return ``/proxy/coordinator`` for a path of the Coordinator on a Router, otherwise an empty string."""
        return "/proxy/coordinator" if path.startswith("/druid-ext/") and self._is_router(server) else ""

    def _is_router(self, server: str) -> bool:
        """A Router answers ``/proxy/enabled`` with 200 and ``{"enabled": true}`` since Druid 29, before with 400."""
        if server not in self._are_routers:
            probe = HttpRequest("GET", "/proxy/enabled")
            response = self._redirects.follow(probe, f"{server}/proxy/enabled")
            enabled = response.status == 200 and _is_enabled(response.body)
            refused = response.status == 400 and "Unsupported proxy destination" in parse_error_text(response.body).text
            if response.status in TRANSIENT_STATUSES or response.status in (401, 403):
                raise self._parser.error(server, probe, response)
            self._are_routers[server] = enabled or refused
        return self._are_routers[server]


def _is_enabled(body: bytes) -> bool:
    try:
        document = shapes.parse(body)
    except ValueError:
        return False
    return isinstance(document, Mapping) and document.get("enabled") is True
