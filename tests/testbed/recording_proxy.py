# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy in front of Druid that records every request, and injects failures."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .proxy import Answer, Go, Loss, Request, Upstream, proxy

UNAVAILABLE = Answer(503, (("Content-Type", "text/plain"),), b"made to be unavailable")
SERVER_ERROR_PAGE = Answer(
    500,
    (("Content-Type", "text/html;charset=iso-8859-1"),),
    b"<html><head><title>Error 500 made to fail</title></head><body><h2>HTTP ERROR 500 made to fail</h2></body></html>",
)


@dataclass(frozen=True)
class Exchange:
    """A request, with its query, and the status that the client got; None if it got no response."""

    method: str
    path: str
    status: int | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status or 'no answer'}"


@dataclass(frozen=True)
class _Failure:
    method: str
    path: re.Pattern[str]
    reaction: Answer | Loss | Go

    def concerns(self, request: Request) -> bool:
        return self.method in ("", request.method) and bool(self.path.search(request.path))


@dataclass
class RecordingProxy:
    """Plain HTTP on loopback, Druid behind."""

    url: str = ""
    _exchanges: list[Exchange] = field(default_factory=list)
    _failures: list[_Failure] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges since the last clear, in the order of the responses."""
        with self._lock:
            return list(self._exchanges)

    @property
    def writes(self) -> list[Exchange]:
        """The write requests."""
        return [each for each in self.exchanges if each.method != "GET"]

    @property
    def unmet(self) -> int:
        """How many failures still wait for their request."""
        return len(self._failures)

    def forget(self) -> None:
        """Forget the exchanges, not the failures to come."""
        with self._lock:
            self._exchanges.clear()

    def clear(self) -> None:
        """Delete the exchanges, and the unused failures."""
        with self._lock:
            self._exchanges.clear()
            self._failures.clear()

    def fail_next(self, reaction: Answer | Loss | Go, *, method: str = "", path: str = "") -> None:
        """Let this become of the next request with the method, by default any, in whose path the pattern is found."""
        with self._lock:
            self._failures.append(_Failure(method, re.compile(path), reaction))

    def _react(self, request: Request) -> Answer | Loss | Go | None:
        with self._lock:
            for failure in self._failures:
                if failure.concerns(request):
                    self._failures.remove(failure)
                    return failure.reaction
            return None

    def _on_response(self, request: Request, answer: Answer | Loss) -> None:
        status = answer.status if isinstance(answer, Answer) else None
        with self._lock:
            self._exchanges.append(Exchange(request.method, request.path, status))


@contextmanager
def recording_proxy(upstream: Upstream) -> Iterator[RecordingProxy]:
    """A proxy in front of that server."""
    recording = RecordingProxy()
    with proxy(upstream, recording._react, recording._on_response) as recording.url:
        yield recording
