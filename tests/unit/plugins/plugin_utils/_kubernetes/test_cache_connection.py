# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to ansible-operator's proxy, tried with a server on a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_connection import (
    PlainHttp,
    connect_cache,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, Unreachable
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server, serving

# As ansible-operator writes it.
KUBECONFIG = """---
apiVersion: v1
kind: Config
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: http://owner@localhost:PORT
  name: proxy-server
contexts:
- context:
    cluster: proxy-server
    user: admin/proxy-server
  name: ns/proxy-server
current-context: ns/proxy-server
preferences: {}
users:
- name: admin/proxy-server
  user:
    username: admin
    password: unused
"""
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def connected(port: int, directory: Path) -> KubernetesApi:
    """Return the connection of a kubeconfig with this port."""
    file = directory / "kubeconfig"
    file.write_text(KUBECONFIG.replace("PORT", str(port)), encoding="utf-8")
    return connect_cache(str(file))


def test_requests_name_the_owner_and_share_a_connection(server: Server, tmp_path: Path) -> None:
    server.responses = [Response(body=OBJECT), Response(body={"items": [OBJECT]})]
    api = connected(int(server.url.rpartition(":")[2]), tmp_path)
    assert api.get("ConfigMap", "ns", "n") == OBJECT
    assert api.list_objects("ConfigMap", "ns", "a=b") == [OBJECT]
    assert isinstance(api.transport, PlainHttp)
    api.transport.close()
    assert [each.path for each in server.requests] == [
        "/api/v1/namespaces/ns/configmaps/n",
        "/api/v1/namespaces/ns/configmaps?labelSelector=a%3Db",
    ]
    # user "owner" without a password: ansible-operator's proxy reads the owner of the run there
    assert {each.headers["authorization"][0] for each in server.requests} == {"Basic b3duZXI6"}


@pytest.mark.parametrize("announced", [b"", b"Connection: close\r\n"], ids=["without a word", "announced"])
def test_connection_that_the_server_has_closed_is_replaced(announced: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\n" + announced + b"Content-Length: 2\r\n\r\n{}"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for _connection in range(2):
                accepted = listener.accept()[0]
                with accepted:
                    accepted.recv(1 << 16)
                    accepted.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        http = PlainHttp(url)
        for _request in range(2):
            assert http.request("GET", f"{url}/a", headers={}, timeout=urllib3.Timeout(5)).data == b"{}"
        http.close()
        thread.join()


def test_server_that_does_not_listen_is_unreachable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="ConnectionRefusedError"):
        connected(port, tmp_path).get("ConfigMap", "ns", "n")


@pytest.mark.parametrize("content", [None, "", "{", "clusters: []", "clusters: [{cluster: {server: 'ftp://a'}}]"])
def test_unreadable_kubeconfig_is_named(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(KubernetesError, match=r"kubeconfig|address"):
        connect_cache(str(file))
