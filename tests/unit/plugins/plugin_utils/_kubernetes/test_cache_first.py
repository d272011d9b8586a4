# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator reads from its cache first; the cache and the API server are servers on two real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import (
    CachedApi,
    CacheMiss,
    try_cache_first,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
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
        yield CachedApi(KubernetesApi(cache.url, pool), lambda: KubernetesApi(direct.url, pool))


def test_reads_from_the_cache(cached: CachedApi, cache: Server, direct: Server) -> None:
    cache.responses = [Response(body=OBJECT)]

    assert cached.get("ConfigMap", "ns", "n") == OBJECT

    assert direct.requests == []


def test_reads_secrets_from_the_api_server(cached: CachedApi, cache: Server, direct: Server) -> None:
    direct.responses = [Response(body={**OBJECT, "kind": "Secret"})]

    assert cached.get("Secret", "ns", "n") == {**OBJECT, "kind": "Secret"}

    assert cache.requests == []


def test_list_starts_a_watch_of_each_kind_with_objects(cached: CachedApi, cache: Server) -> None:
    others = [{**OBJECT, "metadata": {"name": f"n{number}", "namespace": "ns"}} for number in range(3)]
    cache.responses = [Response(body={"items": others}), Response(body=others[0]), Response(body={"items": []})]

    cached.list_objects("ConfigMap", "ns", "druid_cr=c")
    cached.list_objects("Service", "ns", "druid_cr=c")

    assert [request.path.partition("?")[0] for request in cache.requests] == [
        "/api/v1/namespaces/ns/configmaps",
        "/api/v1/namespaces/ns/configmaps/n0",
        "/api/v1/namespaces/ns/services",
    ]


@pytest.mark.parametrize("write", [pytest.param(write, id=name) for name, write in WRITES])
def test_writes_are_cache_misses(
    cached: CachedApi, cache: Server, direct: Server, write: Callable[[KubernetesApi], Any]
) -> None:
    with pytest.raises(CacheMiss):
        write(cached)

    assert (cache.requests, direct.requests) == ([], [])


RESOURCE: dict[str, Any] = {"apiVersion": "v1", "kind": "Druid", "metadata": {"name": "n", "namespace": "ns"}}


def versioned(version: str) -> dict[str, Any]:
    return {**RESOURCE, "metadata": {**RESOURCE["metadata"], "resourceVersion": version}}


@pytest.mark.parametrize("write", [pytest.param(write, id=name) for name, write in WRITES])
def test_confirmed_resource_permits_writes(
    cached: CachedApi, cache: Server, direct: Server, write: Callable[[KubernetesApi], Any]
) -> None:
    direct.responses = [Response(body=versioned("7")), Response(body={**OBJECT, "items": []})]
    cached.confirm(versioned("7"))
    write(cached)
    assert (len(cache.requests), len(direct.requests)) == (0, 2)


DELETED = Response(404, {"reason": "NotFound", "details": {"name": "n"}})


@pytest.mark.parametrize("response", [Response(body=versioned("8")), DELETED], ids=["changed", "deleted"])
def test_resource_that_has_changed_or_is_deleted_is_a_cache_miss(
    cached: CachedApi, direct: Server, response: Response
) -> None:
    direct.responses = [response]
    with pytest.raises(CacheMiss):
        cached.confirm(versioned("7"))
    with pytest.raises(CacheMiss):
        cached.apply(OBJECT)


def test_status_is_written_to_the_version_that_was_read(cached: CachedApi, cache: Server, direct: Server) -> None:
    cache.responses, direct.responses = [Response(body=versioned("7"))], [Response(body=versioned("8"))] * 2
    cached.get("Druid", "ns", "n")
    cached.patch_status("Druid", "ns", "n", [{"op": "add", "path": "/status", "value": {}}])
    assert direct.requests[0].document == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/status", "value": {}},
    ]
    # the events about it
    cached.create(OBJECT)
    assert [request.method for request in direct.requests] == ["PATCH", "POST"]


def test_status_of_another_version_is_a_cache_miss(cached: CachedApi, cache: Server, direct: Server) -> None:
    cache.responses = [Response(body=versioned("7"))]
    direct.responses = [Response(422, {"reason": "Invalid", "message": "testing value"})]
    cached.get("Druid", "ns", "n")
    with pytest.raises(CacheMiss):
        cached.patch_status("Druid", "ns", "n", [])
    with pytest.raises(CacheMiss):
        cached.create(OBJECT)


def _get(api: KubernetesApi) -> Any:
    return api.get("ConfigMap", "ns", "n")


def _get_and_apply(api: KubernetesApi) -> Any:
    return api.apply(_get(api))


def _unexpected(error: KubernetesError) -> None:
    raise AssertionError(error)


def test_cache_that_cannot_be_reached_is_reported(cached: CachedApi, cache: Server, direct: Server) -> None:
    """ansible-operator then watches none of the objects: a deleted one is created again a period later."""
    direct.responses = [Response(body=OBJECT)]
    unreachable = CachedApi(KubernetesApi("http://127.0.0.1:1", cached.transport), lambda: cached.direct)
    errors: list[KubernetesError] = []

    assert try_cache_first(unreachable, lambda: cached.direct, _get, errors.append) == OBJECT

    assert "http://127.0.0.1:1" in str(errors[0])
    assert cache.requests == []


def test_unchanged_object_causes_no_request_to_the_api_server(cached: CachedApi, cache: Server, direct: Server) -> None:
    cache.responses = [Response(body=OBJECT)]

    assert try_cache_first(cached, lambda: cached.direct, _get, _unexpected) == OBJECT

    assert direct.requests == []


@pytest.mark.parametrize(
    "response", [Response(body=OBJECT), Response(503, "the cache is not filled yet")], ids=["outdated", "unavailable"]
)
def test_cache_miss_is_repeated_with_the_api_server(
    cached: CachedApi, cache: Server, direct: Server, response: Response
) -> None:
    newer = {**OBJECT, "data": {"a": "b"}}
    cache.responses, direct.responses = [response], [Response(body=newer), Response(body=newer)]

    errors: list[KubernetesError] = []
    assert try_cache_first(cached, lambda: cached.direct, _get_and_apply, errors.append) == newer

    assert [type(error) for error in errors] == ([ApiError] if response.status == 503 else [])
    assert [request.method for request in direct.requests] == ["GET", "PATCH"]
    assert direct.requests[1].document == newer


def test_cache_miss_is_not_the_context_of_a_later_error(cached: CachedApi) -> None:
    def attempt(api: KubernetesApi) -> None:
        if api is not cached.direct:
            raise CacheMiss
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError) as raised:
        try_cache_first(cached, lambda: cached.direct, attempt, _unexpected)
    assert raised.value.__context__ is None
