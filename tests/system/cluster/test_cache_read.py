# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's reads: a cache, whatever it has missed, only decides that there is nothing to do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import CachedApi, StaleCache
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import run as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import cache_first, is_full_due
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    good,
    until_reached,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient

NAME = "c"
USER, CACHE = "druidops", "operator"
PERIOD = 60


def as_it_is(transport: Transport) -> Transport:
    """Return a cache that has missed nothing."""
    return transport


@dataclass
class Missing:
    """Requests to a cache that has missed all objects of some kinds."""

    kinds: tuple[str, ...]
    inner: Transport | None = None

    def __call__(self, inner: Transport) -> Missing:
        return Missing(self.kinds, inner)

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Answer a LIST of a missed kind with no objects."""
        if "labelSelector=" in url and any(f"/{kind}?" in url for kind in self.kinds):
            return SimpleNamespace(status=200, headers={}, data=b'{"items": []}')
        assert self.inner is not None
        return self.inner.request(method, url, **arguments)


@dataclass
class Stopped:
    """Requests to a cache that answers each read as it did the first time."""

    answers: dict[str, Any] = field(default_factory=dict)
    inner: Transport | None = None

    def __call__(self, inner: Transport) -> Stopped:
        self.inner = inner
        return self

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Answer as the first time."""
        assert self.inner is not None
        if url not in self.answers:
            self.answers[url] = self.inner.request(method, url, **arguments)
        return self.answers[url]


ALL = ("configmaps", "services", "statefulsets", "persistentvolumeclaims", "poddisruptionbudgets", "pods")


@dataclass
class Operator:
    """Reconciles the cluster as the operator does; `cache` changes the connection to its cache."""

    live: NamespaceClient
    cache: Callable[[Transport], Transport] = as_it_is
    errors: list[KubernetesError] = field(default_factory=list)

    def reconcile(self, *, is_due: bool = False) -> Outcome[Plan]:
        """Return the outcome; at a time when a full reconcile is due, or not."""
        direct, cached = connection(self.live, USER), connection(self.live, CACHE)
        cached.transport = self.cache(cached.transport)
        request = cluster_request(NAME, self.live.namespace)

        def on_server(api: KubernetesApi) -> Outcome[Plan]:
            return kernel.run(DRUID, api, request, lambda _text: None, Clock())

        uid = (self.live.find("Druid", NAME) or {"metadata": {"uid": ""}})["metadata"]["uid"]
        times = (Clock().now() + timedelta(seconds=PERIOD * number) for number in range(10))
        now = next(each for each in times if is_full_due(uid, PERIOD, each) == is_due)
        cached = CachedApi.of(cached, connect=lambda: direct, owner="Druid")
        return cache_first(DRUID, request, cached, PERIOD, now, on_server, self.errors.append)


def reconcile(live: NamespaceClient, *missed: str) -> Outcome[Plan]:
    """Reconcile as the operator does, with a cache that has missed some kinds."""
    operator = Operator(live, Missing(missed))
    outcome = operator.reconcile()
    assert operator.errors == []
    return outcome


def create(live: NamespaceClient, **spec: Any) -> None:
    """Create the resource."""
    live.create(small_cluster.resource(NAME, small_cluster.spec(**spec)))


def versions(live: NamespaceClient) -> dict[tuple[str, str], str]:
    """Return uid and version of each object."""
    found = (each for kind in small_cluster.CREATED_KINDS for each in live.list(kind))
    return {
        (each["kind"], each["metadata"]["name"]): f"{each['metadata']['uid']} {each['metadata']['resourceVersion']}"
        for each in found
        if each["metadata"]["name"] != "kube-root-ca.crt"
    }


def test_nothing_to_do_is_no_request_to_the_api_server(live: NamespaceClient) -> None:
    create(live)
    until_reached(live, NAME)
    mark = live.mark()
    assert not good(reconcile(live)).changed
    assert live.requests(mark, USER) == []


def test_creation_reads_the_api_server_and_writes_each_object_once(live: NamespaceClient) -> None:
    create(live)
    mark = live.mark()

    good(reconcile(live))

    # of the cache only the resource: a new generation is always reported
    assert [(each.verb, each.resource) for each in live.requests(mark, CACHE)] == [("get", "druids")]
    requests = live.requests(mark, USER)
    created = Counter(f"{each.resource}/{each.name}" for each in requests if each.code == 201 and not each.dry_run)
    assert {key for key in created if not key.startswith("events/")} >= {
        f"{kind.lower()}s/{name}" for kind, name in live.created_objects() if kind != "PersistentVolumeClaim"
    }
    assert {*created.values()} == {1}
    assert until_reached(live, NAME).changed is False


def test_drift_is_decided_by_the_api_server(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)
    name = sorted(live.names("Service"))[0]
    live.delete("Service", name)
    mark = live.mark()
    assert good(reconcile(live)).changed
    requests = [(each.verb, each.resource) for each in live.requests(mark, USER)]
    assert requests[0] == ("get", "druids")
    assert ("list", "services") in requests
    assert name in live.names("Service")


def test_nothing_that_exists_is_written_whatever_the_cache_has_missed(live: NamespaceClient) -> None:
    create(live, replicas=1)
    until_ready(live, NAME)
    before = versions(live)
    for missed in (ALL, *((kind,) for kind in ALL)):
        outcome = good(reconcile(live, *missed))
        assert (outcome.changed, versions(live)) == (False, before), missed


def test_deleted_resource_creates_nothing(live: NamespaceClient) -> None:
    create(live)
    operator = Operator(live, Stopped())
    operator.reconcile()
    live.merge("Druid", NAME, {"metadata": {"finalizers": None}})
    live.delete("Druid", NAME)
    with pytest.raises(ResourceNotFound):
        operator.reconcile(is_due=True)


def test_status_of_a_stale_resource_is_decided_by_the_api_server(live: NamespaceClient) -> None:
    create(live)
    until_reached(live, NAME)
    older = live.get("Druid", NAME)
    older["status"]["conditions"] = []
    before = live.get("Druid", NAME)["status"]

    class Older(Missing):
        def request(self, method: str, url: str, **arguments: Any) -> Any:
            if url.endswith(f"/druids/{NAME}"):
                return SimpleNamespace(status=200, headers={}, data=json.dumps(older).encode())
            return super().request(method, url, **arguments)

    mark = live.mark()
    assert not good(Operator(live, lambda inner: Older((), inner)).reconcile()).changed
    assert live.get("Druid", NAME)["status"] == before
    assert [each.verb for each in live.requests(mark, USER) if each.verb not in ("get", "list")] == []


def test_problem_is_only_reported_after_a_read_of_the_api_server(live: NamespaceClient) -> None:
    spec = small_cluster.spec()
    spec["extraCommonConfig"] = [{"kind": "ConfigMap", "name": "missing", "namespace": live.namespace}]
    live.create(small_cluster.resource(NAME, spec))
    mark = live.mark()
    assert reconcile(live).problems
    assert "list" in {each.verb for each in live.requests(mark, USER)}


def test_full_reconcile_reads_the_api_server(live: NamespaceClient) -> None:
    create(live)
    until_reached(live, NAME)
    operator, mark = Operator(live), live.mark()
    assert not good(operator.reconcile(is_due=True)).changed
    assert {each.verb for each in live.requests(mark, USER)} == {"get", "list"}
    assert operator.errors == []


def test_full_reconcile_corrects_and_reports_what_a_stopped_cache_hides(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)
    operator = Operator(live, Stopped())
    assert not good(operator.reconcile()).changed
    name = sorted(live.names("Service"))[0]
    live.delete("Service", name)
    assert not operator.reconcile().changed
    assert (name in live.names("Service"), operator.errors) == (False, [])

    assert good(operator.reconcile(is_due=True)).changed

    assert name in live.names("Service")
    [error] = operator.errors
    assert isinstance(error, StaleCache)
    assert f"Service {live.namespace}/{name}" in str(error)
    # it is not a difference of this reconcile, but of the cache
    assert not operator.reconcile(is_due=True).changed
    assert len(operator.errors) == 2


def test_full_reconcile_that_writes_is_no_sign_of_a_stopped_cache(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)
    live.delete("Service", sorted(live.names("Service"))[0])
    operator = Operator(live)
    assert good(operator.reconcile(is_due=True)).changed
    assert operator.errors == []
