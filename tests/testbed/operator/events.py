# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The events of a run, which ansible-runner posts to a unix socket, and their verdict."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from .go_duration import seconds
from .http_servers import Request, Response, serve

_PATH = "/events/"
_REQUEUE = "requeue_after"


def socket_of(ident: str) -> Path:
    """Where the events of a run are received."""
    return Path(f"/tmp/ansibleoperator-{ident}")


class Events:
    """The events of one run; iterating ends when it is closed and all of them have been seen."""

    def __init__(self, ident: str) -> None:
        self._socket = socket_of(ident)
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue()
        self._closed = Event()
        self._server = serve(str(self._socket), self._receive)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            was_closed = self._closed.is_set()
            try:
                yield self._queue.get(timeout=0.02)
            except queue.Empty:
                if was_closed:
                    return

    def close(self) -> None:
        """Receive no more."""
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._socket.unlink(missing_ok=True)

    def _receive(self, request: Request) -> Response:
        if (request.method, request.url) != ("POST", _PATH):
            return Response(404)
        event = json.loads(request.body)
        # without a uuid it is one of the runner, not of the playbook
        if event.get("uuid"):
            self._queue.put(event)
        return Response(204)


@dataclass(frozen=True)
class Verdict:
    """Whether the playbook has ended; the messages of failures; after how many seconds it wants to be run again."""

    complete: bool = False
    failures: tuple[str, ...] = ()
    requeue_after: float | None = None


def verdict(events: Iterable[Mapping[str, Any]]) -> Verdict:
    """The verdict on a run; a requeue_after ends it at once. A ValueError for one without a period."""
    complete, failures = False, []
    for event in events:
        data = event.get("event_data") or {}
        result = data.get("res")
        failed = event.get("event") == "runner_on_failed"
        if data.get("task_action") == _REQUEUE and isinstance(result, dict) and not failed:
            return Verdict(requeue_after=seconds(result.get("period")))
        complete = complete or event.get("event") == "playbook_on_stats"
        # one that is rescued is one, too
        if failed and data.get("ignore_errors") is not True:
            failures.append(str(result.get("msg")) if isinstance(result, dict) else "unknown playbook failure")
    return Verdict(complete, tuple(failures))
