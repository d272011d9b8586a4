# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Posting, to a real server on a real socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_post import NotPosted, post

BODIES = [{"name": f"m{number}", "counter": {"add": number}} for number in range(3)]


class Endpoint(ThreadingHTTPServer):
    """Notes what is posted, and by how many connections; answers 400 to what is in `refused`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.posted: list[tuple[str, Any]] = []
        self.connections: set[Any] = set()
        self.refused: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/metrics"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posted.append((self.path, body))
        self.server.connections.add(self.client_address)
        is_refused = body["name"] in self.server.refused
        content = b"cannot change metric type\n" if is_refused else b""
        self.send_response(400 if is_refused else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield server
        server.shutdown()


@contextmanager
def silent() -> Iterator[str]:
    """Takes connections, and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"


def test_posts_all_on_one_connection(endpoint: Endpoint) -> None:
    post(endpoint.url, BODIES, patience=60)
    assert endpoint.posted == [("/metrics", body) for body in BODIES]
    assert len(endpoint.connections) == 1


def test_what_is_refused_is_named_and_the_rest_is_posted(endpoint: Endpoint) -> None:
    endpoint.refused = {"m1"}
    with pytest.raises(NotPosted, match=r"refused by .*: m1: 400 cannot change metric type"):
        post(endpoint.url, BODIES, patience=60)
    assert len(endpoint.posted) == 3


def test_waits_for_no_answer() -> None:
    with silent() as url, pytest.raises(NotPosted, match="could not be posted to http"):
        post(url, BODIES, patience=0.05)


def test_stops_when_the_time_is_over(endpoint: Endpoint) -> None:
    with pytest.raises(NotPosted, match="could not be posted"):
        post(endpoint.url, BODIES, patience=0)
    assert endpoint.posted == []


@pytest.mark.parametrize("url", ["http://localhost:port/metrics", "http://127.0.0.1:1/metrics", "nothing", ""])
def test_an_address_that_leads_nowhere(url: str) -> None:
    with pytest.raises(NotPosted, match="posted to"):
        post(url, BODIES)
