# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads from ansible-operator's cache: the connection, what is read where, and whether the cache is up to date."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import (
    CachedApi,
    PlainHttp,
    Query,
    RecordingApi,
    SomethingToDo,
    connect_cache,
    stale_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, Unreachable
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server, serving

OBJECT: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}
WRITES: list[tuple[str, Callable[[KubernetesApi], Any]]] = [
    ("apply", lambda api: api.apply(OBJECT)),
    ("apply as a dry run", lambda api: api.apply(OBJECT, dry_run=True)),
    ("create", lambda api: api.create(OBJECT)),
    ("replace", lambda api: api.replace(OBJECT)),
    ("json_patch", lambda api: api.json_patch("ConfigMap", "ns", "n", [])),
    ("patch_status", lambda api: api.patch_status("Druid", "ns", "n", [])),
    ("delete", lambda api: api.delete("ConfigMap", "ns", "n", "u")),
    ("list for a deletion", lambda api: api.list_objects("ReplicaSet", "ns")),
    ("list for a creation", lambda api: api.list_objects("ResourceQuota", "ns")),
]


@pytest.fixture
def cache() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def direct() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def cached(cache: Server, direct: Server) -> Iterator[CachedApi]:
    with urllib3.PoolManager() as pool:
        api = KubernetesApi(cache.url, pool, sleep=lambda _seconds: None)
        yield CachedApi.of(api, connect=lambda: KubernetesApi(direct.url, pool), owner="Druid")


def test_reads_from_the_cache(cached: CachedApi, cache: Server, direct: Server) -> None:
    cache.responses = [Response(body=OBJECT)]

    assert cached.get("ConfigMap", "ns", "n") == OBJECT

    assert direct.requests == []


def test_reads_secrets_from_the_api_server(cached: CachedApi, cache: Server, direct: Server) -> None:
    direct.responses = [Response(body={**OBJECT, "kind": "Secret"})]

    assert cached.get("Secret", "ns", "n") == {**OBJECT, "kind": "Secret"}

    assert cache.requests == []


def test_list_starts_a_watch_of_each_kind_with_objects_that_the_kind_owns(cached: CachedApi, cache: Server) -> None:
    owners: tuple[dict[str, str], ...] = (
        {"apiVersion": "apps/v1", "kind": "StatefulSet"},
        {"apiVersion": "druid.apache.org/v1alpha1", "kind": "DruidIngestion"},
        {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid"},
    )
    metadata = [{"name": "unowned"}, *({"name": each["kind"], "ownerReferences": [each]} for each in owners)]
    listed = Response(body={"items": [{"metadata": each} for each in metadata]})
    of_others = Response(body={"items": [{"metadata": each} for each in metadata[:3]]})
    cache.responses = [listed, Response(body=OBJECT), of_others]

    cached.list_objects("ConfigMap", "ns", "druid_cr=c")
    cached.list_objects("Pod", "ns", "druid_cr=c")

    assert [request.path.partition("?")[0] for request in cache.requests] == [
        "/api/v1/namespaces/ns/configmaps",
        "/api/v1/namespaces/ns/configmaps/Druid",
        "/api/v1/namespaces/ns/pods",
    ]


@pytest.mark.parametrize("write", [pytest.param(write, id=name) for name, write in WRITES])
def test_writes_are_something_to_do(
    cached: CachedApi, cache: Server, direct: Server, write: Callable[[KubernetesApi], Any]
) -> None:
    with pytest.raises(SomethingToDo):
        write(cached)

    assert (cache.requests, direct.requests) == ([], [])


def listed(**versions: str) -> Response:
    """Return the response with a list of objects of these versions, by name."""
    metadata = ({"name": name, "resourceVersion": version} for name, version in versions.items())
    return Response(body={"items": [{"metadata": each} for each in metadata]})


def read(cached: CachedApi, cache: Server, direct: Server, before: dict[str, str], on_server: dict[str, str]) -> Any:
    """Read the Services of the cache and of the server; return the recorded connection to the server."""
    server = RecordingApi.of(cached.direct)
    cache.responses = [listed(**before)]
    direct.responses = [listed(**on_server)]
    for api in (cached, server):
        api.list_objects("Service", "ns", "druid_cr=c")
    return server


ONE = Query("Service", "ns", label_selector="druid_cr=c")


def test_cache_that_has_what_the_server_has_is_not_read_again(cached: CachedApi, cache: Server, direct: Server) -> None:
    server = read(cached, cache, direct, {"a": "1"}, {"a": "1"})
    assert stale_objects(cached, server) == []
    assert (len(cache.requests), len(direct.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("before", "on_server", "later"),
    [
        ({"a": "1"}, {"a": "2"}, {"a": "2"}),
        ({"a": "1"}, {"a": "2"}, {"a": "3"}),
        ({"a": "1"}, {}, {}),
        ({}, {"a": "1"}, {"a": "1"}),
        ({"a": "1", "b": "1"}, {"a": "2", "b": "1"}, {"a": "2", "b": "1"}),
    ],
)
def test_cache_that_is_late_is_not_stale(
    cached: CachedApi,
    cache: Server,
    direct: Server,
    before: dict[str, str],
    on_server: dict[str, str],
    later: dict[str, str],
) -> None:
    server = read(cached, cache, direct, before, on_server)
    # the second time, it is up to date
    cache.responses = [listed(**before), listed(**later)]
    assert stale_objects(cached, server) == []


@pytest.mark.parametrize(
    ("before", "on_server", "stale"),
    [
        ({"a": "1"}, {"a": "2"}, ["a"]),
        ({"a": "1"}, {}, ["a"]),
        ({}, {"a": "1"}, ["a"]),
        ({"a": "1", "b": "1"}, {"a": "1", "b": "2"}, ["b"]),
    ],
)
def test_cache_that_stays_behind_is_stale(
    cached: CachedApi,
    cache: Server,
    direct: Server,
    before: dict[str, str],
    on_server: dict[str, str],
    stale: list[str],
) -> None:
    server = read(cached, cache, direct, before, on_server)
    cache.responses = [listed(**before)] * 5
    # a reconcile may have written the object in the meantime
    direct.responses = [listed(**dict.fromkeys(on_server, "9"))]
    assert stale_objects(cached, server) == [(ONE, name) for name in stale]


def test_object_that_the_reconcile_has_deleted_is_not_stale(cached: CachedApi, cache: Server, direct: Server) -> None:
    server = read(cached, cache, direct, {}, {"a": "1"})
    cache.responses, direct.responses = [listed()] * 5, [listed()]
    assert stale_objects(cached, server) == []


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
