# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The author of an address must not reach servers of the host where the task runs."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._http.own_host import is_refused


@pytest.mark.parametrize(
    ("peer", "own"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.53", "127.0.0.1"),
        ("::1", "::1"),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("169.254.169.254", "10.1.2.3"),
        ("fe80::1%eth0", "fe80::2%eth0"),
    ],
)
def test_refuses_this_host_and_link_local_addresses(peer: str, own: str) -> None:
    assert is_refused(peer, own)


@pytest.mark.parametrize(("peer", "own"), [("10.1.2.4", "10.1.2.3"), ("2001:db8::1", "2001:db8::2")])
def test_accepts_other_hosts(peer: str, own: str) -> None:
    assert not is_refused(peer, own)


class _Server(http.server.BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Return the port of a server on this host, as ansible-operator's proxy is one."""
    _Server.asked = []
    with http.server.HTTPServer(("127.0.0.1", 0), _Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_sends_nothing_whatever_the_name(scheme: str, host: str, port: int) -> None:
    connection = Connection((f"{scheme}://{host}:{port}",), retry_timeout=0, refuse_own_host=True)
    with (
        DruidClient(connection) as client,
        pytest.raises(Unreachable, match=r"is refused .* of the host where") as raised,
    ):
        client.get("/status")
    assert not raised.value.is_transient
    assert _Server.asked == []


def test_without_the_option_this_host_is_a_server_like_any_other(port: int) -> None:
    with DruidClient(Connection((f"http://127.0.0.1:{port}",))) as client:
        assert client.get("/status") == {}
    assert _Server.asked == ["/status"]
