# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A proxy in front of the API server that records requests, fails a chosen one, or calls a function before it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from testbed.control_plane import ControlPlane
from testbed.proxy import Answer, Loss, Request, Upstream, proxy

# How long a client waits for a response that never comes.
SHORT_TIMEOUT_SECONDS = 0.5


class Fault(Enum):
    """What becomes of the chosen request."""

    RESET_BEFORE = Loss.REFUSED
    RESET_AFTER = Loss.CUT
    TIMEOUT = Loss.LOST
    CONFLICT = 409
    TOO_MANY_REQUESTS = 429
    SERVER_ERROR = 500
    UNAVAILABLE = 503


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    content_type: str
    body: Any

    @property
    def changes_something(self) -> bool:
        """True for what is sent to be stored."""
        dry = "dryRun" in self.query or (isinstance(self.body, dict) and bool(self.body.get("dryRun")))
        return self.method != "GET" and not dry

    @property
    def sort(self) -> str:
        """What kind of request it is, whatever it is about."""
        where = ("collection", "object", "subresource")[self.path.rpartition("/namespaces/")[2].count("/") - 1]
        how = self.content_type.removeprefix("application/").removesuffix("+json").removesuffix("+yaml")
        patch = f" {how}" if self.method == "PATCH" else ""
        return f"{self.method}{patch} {where}{' (dry run)' if 'dryRun' in self.query else ''}"

    def __str__(self) -> str:
        return f"{self.method} {self.path}{' (dry run)' if 'dryRun' in self.query else ''}"


Meanwhile = Callable[[], object]
Chooser = Callable[[Seen], Fault]


@dataclass
class FaultProxy:
    """Plain HTTP on loopback, the API server behind. Requests are counted from one."""

    plane: ControlPlane
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    position: int = 0
    sort: str = ""
    fault: Fault | Chooser | None = None
    meanwhile: Meanwhile | None = None
    reached: Seen | None = None
    failure: BaseException | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def wrote(self) -> bool:
        """True when an object was sent to be stored; status and events do not count."""
        objects = (each for each in self.seen if not each.path.endswith(("/status", "/events")))
        return any(each.changes_something for each in objects)

    @property
    def may_keep_silent(self) -> bool:
        """True if the client gets no response, or possibly none to the next request."""
        may_be_next = self.reached is None and (bool(self.sort) or len(self.seen) + 1 == self.position)
        return self.fault is Fault.TIMEOUT or (callable(self.fault) and may_be_next)

    def expect(
        self,
        position: int = 0,
        fault: Fault | Chooser | None = None,
        meanwhile: Meanwhile | None = None,
        sort: str = "",
    ) -> None:
        """
        Reset the counter; fail the request at that position, or call a function just before it.

        With a sort it is the first request of that sort, at any position.
        """
        self.seen.clear()
        self.position, self.sort, self.fault, self.meanwhile, self.reached = position, sort, fault, meanwhile, None
        if self.failure is not None:
            raise AssertionError("what was to happen meanwhile went wrong") from self.failure

    def api(self, user: str = "druidops") -> KubernetesApi:
        """Return a connection of the user through the proxy; pauses that the server requests cost no time."""
        api = connect({"host": self.url, "api_key": self.plane.token(user)})
        return replace(api, transport=_ShortTimeout(api.transport, self), sleep=lambda _seconds: None)

    def take(self, request: Request) -> Answer | Loss | None:
        """Count a request and return what becomes of it."""
        seen = _seen(request)
        with self.lock:
            self.seen.append(seen)
            if self.reached is not None or not self._is_chosen(seen):
                return None
            self.reached = seen
        if self.meanwhile is not None:
            self._step_in(self.meanwhile)
        fault = self.fault(seen) if callable(self.fault) else self.fault
        return fault and _becomes(fault)

    def _is_chosen(self, seen: Seen) -> bool:
        return seen.sort == self.sort if self.sort else len(self.seen) == self.position

    def _step_in(self, meanwhile: Meanwhile) -> None:
        """Call the function; its error is kept for the test, which runs in another thread."""
        try:
            meanwhile()
        except BaseException as error:
            self.failure = error
            raise


@contextmanager
def fault_proxy(plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy in front of that control plane."""
    faults = FaultProxy(plane)
    with proxy(Upstream(plane.url, plane.ca_file), faults.take) as faults.url:
        yield faults


def _seen(request: Request) -> Seen:
    url = urlsplit(request.path)
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    body = json.loads(request.body) if request.body else None
    return Seen(request.method, url.path, query, request.content_type, body)


def _becomes(fault: Fault) -> Answer | Loss:
    if isinstance(fault.value, Loss):
        return fault.value
    headers = (("Retry-After", "1"), ("Content-Type", "application/json"))
    return Answer(fault.value, headers, _status(fault.value))


def _status(code: int) -> bytes:
    document = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "made to fail"}
    return json.dumps(document).encode()


@dataclass(frozen=True)
class _ShortTimeout:
    """Has a short timeout if no response will come."""

    transport: Transport
    proxy: FaultProxy

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request."""
        timeout = {"timeout": SHORT_TIMEOUT_SECONDS} if self.proxy.may_keep_silent else {}
        return self.transport.request(method, url, **{**arguments, **timeout})
