# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The unix socket on which runs tell of themselves."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.events import Events

EVENT = {"uuid": "1", "event": "playbook_on_stats", "created": "2026-01-01T00:00:00.123456+00:00"}
JSON = "application/json"


class Connection(http.client.HTTPConnection):
    """HTTP to a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=10)
        self._path = path

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


@pytest.fixture
def events(tmp_path: Path) -> Iterator[Events]:
    """A receiver."""
    received = Events(tmp_path / "socket")
    yield received
    received.close()


@pytest.mark.parametrize(
    ("method", "path", "content_type", "body", "status"),
    [
        ("POST", "/events/", JSON, json.dumps(EVENT), 204),
        ("POST", "/events/", f"{JSON}; charset=utf-8", json.dumps(EVENT), 204),
        ("POST", "/events", JSON, json.dumps(EVENT), 404),
        ("GET", "/events/", JSON, "", 405),
        ("POST", "/events/", "text/plain", json.dumps(EVENT), 415),
        ("POST", "/events/", JSON, "{", 400),
        ("POST", "/events/", JSON, json.dumps({**EVENT, "created": "2026-01-01T00:00:00Z"}), 400),
        ("POST", "/events/", JSON, json.dumps({"status": "running"}), 204),
    ],
)
def test_answer(
    events: Events, tmp_path: Path, method: str, path: str, content_type: str, body: str, status: int
) -> None:
    """As the real program answers; what is accepted and has a uuid is an event."""
    connection = Connection(tmp_path / "socket")
    connection.request(method, path, body, {"Content-Type": content_type})
    assert connection.getresponse().status == status
    connection.close()
    events.close()
    assert list(events) == ([EVENT] if status == 204 and "uuid" in body else [])
