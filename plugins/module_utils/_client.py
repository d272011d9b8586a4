# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidClient: the only code that speaks HTTP with Druid. What is sent where, how often, and what an answer means."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urljoin

from ansible_collections.druidops.druid.plugins.module_utils import _address, _errors, _hints
from ansible_collections.druidops.druid.plugins.module_utils._address import path
from ansible_collections.druidops.druid.plugins.module_utils._connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._errors import (
    PASSING,
    ApiError,
    BadAnswer,
    BadInput,
    Redirected,
    ServerError,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._patience import Patience, retry_after
from ansible_collections.druidops.druid.plugins.module_utils._transport import MISSING, Answer, Transport
from ansible_collections.druidops.druid.plugins.module_utils._words import Words, words_of

__all__ = ["MISSING", "Connection", "DruidClient", "path"]

JSON = "application/json"
# A redirect that keeps method and body: Druid's RedirectFilter, from one that does not lead to the leader.
SAME_AGAIN = frozenset({307, 308})
MOST_HOPS = 3


@dataclass(frozen=True)
class Request:
    """What is asked. The path is that of the Coordinator or the Overlord themselves."""

    method: str
    path: str
    query: str = ""
    body: bytes | None = None
    content_type: str | None = None
    idempotent: bool = True
    document: Any = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers, without credentials."""
        kind = {"Content-Type": self.content_type} if self.content_type else {}
        return {"Accept": JSON, "User-Agent": "druidops.druid", **kind}


class DruidClient:
    """Druid's HTTP API at a Router, a Coordinator or an Overlord: the first of the servers that answers stays chosen.

    Paths are those of the Coordinator and the Overlord (``/druid/indexer/v1/...``); what a Router serves elsewhere is
    found there. Credentials and bodies go to servers that were named, and to whom these call their leader.

    Every method raises Unreachable when no answer comes and ApiError when it is no success; what may be repeated is
    tried again for ``connection.retry_timeout`` seconds when nobody is there or the answer is 502, 503 or 504.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = connection
        self._transport = Transport(connection)
        self._now, self._sleep = now, sleep
        self._servers = list(connection.urls)
        # Servers that others of the cluster call their leader, by service.
        self._leaders: dict[str, str] = {}
        self._trusted = set(connection.urls)
        self._are_routers: dict[str, bool] = {}
        self._version_text: str | None = None

    def __enter__(self) -> DruidClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON document, None when the answer is empty; NotFound when Druid does not know the thing."""
        return self._call(Request("GET", path, _address.query(params)))

    def post(
        self,
        path: str,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        *,
        idempotent: bool = False,
        content_type: str = JSON,
    ) -> Any:
        """Return the JSON document that answers, None when it is empty. ``body``: JSON, or bytes as they are.

        Sent once, unless it is ``idempotent``: to be so marked when sending it twice does what sending it once does.
        """
        return self._call(
            Request(
                "POST",
                path,
                _address.query(params),
                _encoded(body),
                content_type,
                idempotent,
                None if isinstance(body, bytes) else body,
            )
        )

    def delete(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return what answers, as ``post``. Tried again, it may find that it has worked before: NotFound."""
        return self._call(Request("DELETE", path, _address.query(params)))

    @property
    def version_text(self) -> str:
        """The version as the server itself states it (GET /status), such as ``33.0.0``. Read once."""
        if self._version_text is None:
            status = self.get("/status")
            self._version_text = str(status.get("version")) if isinstance(status, Mapping) else ""
        return self._version_text

    @property
    def version(self) -> tuple[int, ...]:
        """The numbers of the version: ``(33, 0, 0)``. ApiError when the server states none."""
        numbers = re.match(r"\d+(?:\.\d+)*", self.version_text)
        if not numbers:
            words, url = f"a version that has no number ({self.version_text!r})", self._servers[0] + "/status"
            raise BadAnswer(200, words, "GET", url, "Check the option url: is this Druid?")
        return tuple(int(number) for number in numbers.group().split("."))

    def supports(self, *version: int) -> bool:
        """Return whether the server's version is this one or newer: ``supports(33)``."""
        return self.version >= version

    # Again and again: the same call, as long as that can help.

    def _call(self, request: Request) -> Any:
        patience = Patience(self._connection.retry_timeout, self._now, self._sleep)
        while True:
            try:
                return self._round(request)
            except (Unreachable, ServerError) as error:
                asked = error.retry_after if isinstance(error, ServerError) else None
                if not (request.idempotent and error.is_passing and patience.pause(asked)):
                    raise

    # One server after the other.

    def _round(self, request: Request) -> Any:
        failures: list[Unreachable | ServerError] = []
        for server in self._candidates(request):
            try:
                answer = self._ask(server, request)
                if not (answer.status in PASSING and request.idempotent):
                    self._choose(server)
                    return self._result(server, request, answer)
                failures.append(self._server_error(request, answer))
            except Unreachable as error:
                self._forget(server)
                if error.sent and not (request.idempotent and error.is_passing):
                    raise
                failures.append(error)
        raise _together(failures)

    def _candidates(self, request: Request) -> Iterator[str]:
        leader = self._leaders.get(_service(request.path))
        return iter(dict.fromkeys(([leader] if leader else []) + self._servers))

    def _choose(self, server: str) -> None:
        if server in self._servers:
            self._servers.remove(server)
            self._servers.insert(0, server)

    def _forget(self, server: str) -> None:
        self._leaders = {service: leader for service, leader in self._leaders.items() if leader != server}

    # One server, and where it sends us.

    def _ask(self, server: str, request: Request) -> Answer:
        return self._follow(request, server + self._prefix(server, request.path) + request.path + request.query)

    def _follow(self, request: Request, url: str) -> Answer:
        for _hop in range(MOST_HOPS + 1):
            answer = self._transport.exchange(request.method, url, request.body, request.headers)
            if not 300 <= answer.status < 400:
                return answer
            url = self._next(request, answer)
        words = f"one redirect after another, the last one to {_address.shown(url)}"
        raise self._redirected(answer, words, "The servers do not agree who leads: try again, or look at their logs")

    def _next(self, request: Request, answer: Answer) -> str:
        """Return where to send the request again; Redirected when that is no place for it."""
        try:
            url = urljoin(answer.url, answer.headers["Location"])
            target = _address.origin(url)
        except (KeyError, ValueError):
            raise self._redirected(answer, "a redirect to nowhere", "Check the option url and the proxy") from None
        words = f"a redirect to {_address.shown(url).partition('?')[0]}"
        if answer.status not in SAME_AGAIN:
            raise self._redirected(answer, words, _hints.of_redirect(target))
        if answer.url.startswith("https:") and not url.startswith("https:"):
            raise self._redirected(answer, words, "No request goes from https to http. Name the right server in url")
        if not any(_address.is_below(url, base) for base in self._trusted):
            self._trust(request, answer, url, words)
        return url

    def _trust(self, request: Request, answer: Answer, url: str, words: str) -> None:
        """Trust the target when the server that sends us there calls it the leader: nobody else can know that.

        ``/leader`` is answered by each server itself, never by a redirect (Druid's OverlordRedirectInfo and
        CoordinatorRedirectInfo); a login page or a balancer before Druid that redirects does so for it, too.
        """
        base = next(trusted for trusted in self._trusted if _address.is_below(answer.url, trusted))
        target = _address.origin(url)
        service = _service(request.path) or "coordinator"
        for each in (service, *({"coordinator", "indexer"} - {service})):
            leader_url = f"{base}{path('druid', each, 'v1', 'leader')}"
            leader = self._transport.exchange("GET", leader_url, None, Request("GET", "").headers)
            if leader.status == 200 and _is_origin(leader.body, target) and _address.is_below(url, target):
                self._trusted.add(target)
                self._leaders[service] = target
                return
        raise self._redirected(answer, words, _hints.of_redirect(target))

    def _redirected(self, answer: Answer, words: str, hint: str) -> Redirected:
        return Redirected(answer.status, words, answer.method, _address.shown(answer.url), hint)

    def _prefix(self, server: str, path: str) -> str:
        """Return what a Router wants before a path that it would otherwise answer itself."""
        return "/proxy/coordinator" if path.startswith("/druid-ext/") and self._is_router(server) else ""

    def _is_router(self, server: str) -> bool:
        """Return whether this is a Router with its management proxy on.

        ``/proxy/enabled``: 200 with ``{"enabled": true}`` from Druid 29 on, before that 400; 404 from all others.
        """
        if server not in self._are_routers:
            probe = Request("GET", "/proxy/enabled")
            answer = self._follow(probe, f"{server}/proxy/enabled")
            known = answer.status == 200 and _is_enabled(answer.body)
            refused = answer.status == 400 and "Unsupported proxy destination" in words_of(answer.body).text
            if answer.status in PASSING or answer.status in (401, 403):
                raise self._error(server, probe, answer)
            self._are_routers[server] = known or refused
        return self._are_routers[server]

    # What an answer means.

    def _result(self, server: str, request: Request, answer: Answer) -> Any:
        if answer.status >= 300 or answer.status < 200:
            raise self._error(server, request, answer)
        if not answer.body.strip():
            return None
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            words = self._words(request, answer).text
            hint = "That is no JSON, and so no answer of Druid. Check the option url, and what stands before Druid"
            raise BadAnswer(answer.status, words, answer.method, _address.shown(answer.url), hint) from None

    def _words(self, request: Request, answer: Answer) -> Words:
        return words_of(answer.body, Masker.of([self._connection.secrets, request.document]).text)

    def _error(self, server: str, request: Request, answer: Answer) -> ApiError:
        if answer.status >= 500:
            return self._server_error(request, answer)
        words = self._words(request, answer)
        said = (answer.status, words.text, answer.method, _address.shown(answer.url))
        service = _service(request.path)
        if answer.status == 404 and service and not words.is_druids and not self._serves(server, service):
            return UnknownPath(*said, _hints.of_unknown_path(_SERVICES[service]))
        return _errors.CLASSES.get(answer.status, ApiError)(*said, self._hint(request, answer.status))

    def _server_error(self, request: Request, answer: Answer) -> ServerError:
        words, asked = self._words(request, answer).text, retry_after(answer.headers.get("Retry-After"))
        return ServerError(answer.status, words, answer.method, _address.shown(answer.url), _FAILED, asked)

    def _hint(self, request: Request, status: int) -> str:
        if status == 401:
            return _hints.of_unauthorized(self._connection)
        if status == 403:
            return _hints.of_forbidden(self._connection, request.method, request.path)
        return ""

    def _serves(self, server: str, service: str) -> bool:
        """Return whether the server, or who it asks, is a Coordinator or Overlord: others do not know ``/isLeader``."""
        probe = Request("GET", path("druid", service, "v1", "isLeader"))
        body = self._follow(probe, server + probe.path).body
        try:
            document = json.loads(body)
        except ValueError:
            return False
        return isinstance(document, Mapping) and "leader" in document


_SERVICES = {"indexer": "Overlord", "coordinator": "Coordinator"}
_FAILED = "Look at Druid's log, and read again what is there now before you decide on more"


def _service(path: str) -> str:
    """Return who leads what is below the path: ``indexer``, ``coordinator`` or nobody."""
    if path.startswith("/druid-ext/"):
        return "coordinator"
    return next((service for service in _SERVICES if path.startswith(f"/druid/{service}/")), "")


def _encoded(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    try:
        return json.dumps(body, allow_nan=False).encode("ascii")
    except (ValueError, TypeError) as error:
        raise BadInput("body", _errors.HIDDEN, f"this cannot be said in JSON ({error}).") from None


def _is_enabled(body: bytes) -> bool:
    try:
        document = json.loads(body)
    except ValueError:
        return False
    return isinstance(document, Mapping) and document.get("enabled") is True


def _is_origin(body: bytes, origin: str) -> bool:
    """Return whether this is the address, alone, in quotes or not."""
    try:
        return _address.origin(body.decode("ascii").strip().strip('"')) == origin
    except ValueError:
        return False


def _together(failures: list[Unreachable | ServerError]) -> Unreachable | ServerError:
    """Return the one failure that says most; when nobody answered, all of them as one."""
    answered = [failure for failure in failures if isinstance(failure, ServerError)]
    silent = [failure for failure in failures if isinstance(failure, Unreachable)]
    if answered or len(silent) == 1:
        return (answered or silent)[0]
    first, others = silent[0], silent[1:]
    reason = "; ".join([first.reason, *(f"{other.url}: {other.reason}" for other in others)])
    hints = " ".join(_errors.sentences(hint) for hint in dict.fromkeys(each.hint for each in silent) if hint)
    return Unreachable(
        first.method,
        first.url,
        reason,
        hints,
        sent=any(each.sent for each in silent),
        is_passing=any(each.is_passing for each in silent),
    )
