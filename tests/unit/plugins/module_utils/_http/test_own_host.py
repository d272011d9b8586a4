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
from ansible_collections.druidops.druid.plugins.module_utils._http.own_host import OwnHost, is_refused, peer_check

MEANING_LINK_LOCAL = (
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "::ffff:0:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
)


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
        # metadata services of clouds
        ("100.100.100.200", "10.1.2.3"),
        ("168.63.129.16", "10.1.2.3"),
        ("192.0.0.192", "10.1.2.3"),
        ("fd00:ec2::254", "fd00::1"),
        ("fd00:ec2::23", "fd00::1"),
        ("fd20:ce::254", "fd00::1"),
        # an IPv4 address in an IPv6 address: mapped, compatible, translated, NAT64, 6to4
        *((text, "2001:db8::1") for text in MEANING_LINK_LOCAL),
        ("64:ff9b::10.1.2.3", "10.1.2.3"),
        ("64:ff9b::168.63.129.16", "2001:db8::1"),
    ],
)
def test_refuses_this_host_and_addresses_of_services_for_it(peer: str, own: str) -> None:
    assert is_refused(peer, own)


@pytest.mark.parametrize(
    ("peer", "own"),
    [
        ("10.1.2.4", "10.1.2.3"),
        ("100.100.100.201", "10.1.2.3"),
        ("2001:db8::1", "2001:db8::2"),
        ("fd00:ec3::1", "fd00::2"),
        ("64:ff9b::10.1.2.4", "2001:db8::2"),
    ],
)
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
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"],
)
def test_sends_nothing_whatever_the_name(scheme: str, host: str, port: int) -> None:
    connection = Connection((f"{scheme}://{host}:{port}",), retry_timeout=0, refuse_own_host=True)
    with (
        DruidClient(connection) as client,
        pytest.raises(Unreachable, match=r"is refused .* of the host where this task runs") as raised,
    ):
        client.get("/status")
    assert not raised.value.is_transient
    assert _Server.asked == []


def test_without_the_option_this_host_is_a_server_like_any_other(port: int) -> None:
    with DruidClient(Connection((f"http://127.0.0.1:{port}",))) as client:
        assert client.get("/x") == {}
    assert _Server.asked == ["/x"]


class _Socket:
    """An open connection between two addresses."""

    def __init__(self, peer: tuple[str, int], own: str = "10.1.2.3") -> None:
        self.peer, self.own, self.is_closed = peer, own, False

    def getpeername(self) -> tuple[str, int]:
        return self.peer

    def getsockname(self) -> tuple[str, int]:
        return (self.own, 40000)

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("api_server", "environment", "peer"),
    [
        ("https://10.0.0.5:6443", {}, ("10.0.0.5", 6443)),
        ("https://10.0.0.5", {}, ("::ffff:10.0.0.5", 443)),
        ("", {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}, ("10.96.0.1", 443)),
        ("https://x.invalid", {"KUBERNETES_SERVICE_HOST": "fd00::1"}, ("fd00::1", 443)),
    ],
)
def test_refuses_the_api_server(api_server: str, environment: dict[str, str], peer: tuple[str, int]) -> None:
    connection = _Socket(peer)
    with pytest.raises(OwnHost, match="is the address of the Kubernetes API server"):
        peer_check(["", api_server], environment)(connection)  # type: ignore[arg-type]
    assert connection.is_closed
    # a Druid on the node of an API server
    peer_check(["", api_server], environment)(_Socket((peer[0], 8888)))  # type: ignore[arg-type]
