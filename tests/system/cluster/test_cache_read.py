# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the operator writes after a read from a cache: missing objects and the status, whatever the cache has missed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import try_cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import run as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    good,
    until_reached,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition

NAME = "c"
USER, CACHE = "druidops", "operator"
# In small_cluster: by group, the first object written is its ConfigMap, and the budget is written by itself.
FIRST, LEAF = "configmaps", "poddisruptionbudgets"


@dataclass
class Stale:
    """Requests to a cache that has missed all objects of some kinds."""

    inner: Transport
    kinds: tuple[str, ...]

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Answer a LIST of a missed kind with no objects."""
        if "labelSelector=" in url and any(f"/{kind}?" in url for kind in self.kinds):
            return SimpleNamespace(status=200, headers={}, data=b'{"items": []}')
        return self.inner.request(method, url, **arguments)


ALL = ("configmaps", "services", "statefulsets", "persistentvolumeclaims", "poddisruptionbudgets", "pods")


def reconcile(live: NamespaceClient, *missed: str, before: Callable[[], object] = lambda: None) -> Outcome[Plan]:
    """Reconcile as the operator does; `before` is called between the read from the cache and the first write."""
    direct, cached = connection(live, USER), connection(live, CACHE)
    cached.transport = Stale(cached.transport, missed)
    request = cluster_request(NAME, live.namespace)
    confirm = direct.get

    def get(kind: str, namespace: str | None, name: str) -> Any:
        if kind == "Druid":
            before()
        return confirm(kind, namespace, name)

    direct.get = get  # type: ignore[method-assign]

    def attempt(api: KubernetesApi) -> Outcome[Plan]:
        return kernel.run(DRUID, api, request, lambda _text: None, Clock())

    return try_cache_first(cached, lambda: direct, attempt, _unexpected)


def _unexpected(error: KubernetesError) -> None:
    raise AssertionError(error)


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


def test_creation_reads_only_resource_and_quotas_and_writes_each_object_once(live: NamespaceClient) -> None:
    create(live)
    mark = live.mark()

    good(reconcile(live))

    requests = live.requests(mark, USER)
    reads = [(each.verb, each.resource) for each in requests if each.verb in ("get", "list")]
    assert reads == [("get", "druids"), ("list", "resourcequotas")]
    created = Counter(f"{each.resource}/{each.name}" for each in requests if each.code == 201 and not each.dry_run)
    objects = {key for key in created if not key.startswith("events/")}
    assert objects >= {f"{kind}s/{name}" for kind, name in _written(live)}
    assert {*created.values()} == {1}
    # the status, and one event for all
    assert [each.resource for each in requests if each.subresource == "status" or each.resource == "events"] == [
        "druids",
        "events",
    ]
    assert until_reached(live, NAME).changed is False


def _written(live: NamespaceClient) -> set[tuple[str, str]]:
    found = live.created_objects()
    return {(kind.lower(), name) for kind, name in found if kind != "PersistentVolumeClaim"}


def test_first_object_of_a_group_and_leaves_need_no_dry_run(live: NamespaceClient) -> None:
    create(live)
    mark = live.mark()
    reconcile(live)
    judged = {each.resource for each in live.requests(mark, USER) if each.dry_run}
    assert judged == {"services", "statefulsets"}


def test_missing_object_is_created_with_few_requests(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)
    name = sorted(live.names("Service"))[0]
    live.delete("Service", name)
    mark = live.mark()
    good(reconcile(live))
    requests = [(each.verb, each.resource, each.subresource) for each in live.requests(mark, USER)]
    assert requests == [("get", "druids", ""), ("patch", "services", ""), ("create", "events", "")]
    assert name in live.names("Service")


@pytest.mark.parametrize("missed", [ALL, *((kind,) for kind in ALL)], ids="+".join)
def test_nothing_that_exists_is_written_whatever_the_cache_has_missed(
    live: NamespaceClient, missed: tuple[str, ...]
) -> None:
    create(live, replicas=1)
    until_ready(live, NAME)
    before = versions(live)
    outcome = good(reconcile(live, *missed))
    assert (outcome.changed, versions(live)) == (False, before)


@pytest.mark.parametrize("kind", ["ConfigMap", "Service", "StatefulSet", "PodDisruptionBudget"])
def test_object_of_another_owner_is_not_changed_and_blocks_its_group(live: NamespaceClient, kind: str) -> None:
    create(live)
    until_reached(live, NAME)
    owned = sorted(name for name in live.names(kind) if "brokers" in name)[0]
    foreign = live.get(kind, owned)
    for each in small_cluster.CREATED_KINDS:
        for name in live.names(each):
            live.delete(each, name)
    meta = {"name": owned, "labels": {}}
    live.create(
        {"kind": kind, "metadata": meta, **{part: foreign[part] for part in ("spec", "data") if part in foreign}}
    )
    before = versions(live)

    outcome = reconcile(live)

    assert [finding.reason for finding in outcome.problems] == ["NameConflict"]
    after = versions(live)
    assert {key: after[key] for key in before} == before
    # a budget is written by itself, and blocks nothing else
    others = {name for each, name in after if each == "StatefulSet" and (each, name) != (kind, owned)}
    assert any("historicals" in name for name in others)
    assert any("brokers" in name for name in others) == (kind == "PodDisruptionBudget")
    assert outcome.changed
    assert condition(live.get("Druid", NAME), "Degraded")["reason"] == "NameConflict"


def test_rejected_object_leaves_its_group_as_it_was(live: NamespaceClient) -> None:
    spec = small_cluster.spec()
    spec["nodes"]["brokers"]["services"] = [{"spec": {"type": "ClusterIP", "sessionAffinity": "Sometimes"}}]
    live.create(small_cluster.resource(NAME, spec))
    outcome = reconcile(live)
    assert [finding.group for finding in outcome.problems] == ["brokers"]
    assert not [name for _kind, name in versions(live) if "brokers" in name]
    assert [name for _kind, name in versions(live) if "historicals" in name]


def test_resource_that_has_changed_since_is_read_again(live: NamespaceClient) -> None:
    create(live)
    changed = iter([{"spec": {"nodes": {"brokers": None}}}])
    reconcile(live, before=lambda: [live.merge("Druid", NAME, change) for change in changed])
    assert not [name for _kind, name in versions(live) if "brokers" in name]


def test_deleted_resource_creates_nothing(live: NamespaceClient) -> None:
    create(live)
    with pytest.raises(ResourceNotFound):
        reconcile(live, before=lambda: live.find("Druid", NAME) and live.delete("Druid", NAME))
    assert versions(live) == {}


def test_workload_of_pods_that_exist_is_created_after_a_read_of_the_api_server(live: NamespaceClient) -> None:
    create(live, replicas=1)
    until_ready(live, NAME)
    name = sorted(live.names("StatefulSet"))[0]
    live.delete("StatefulSet", name, propagation="Orphan")
    mark = live.mark()
    assert reconcile(live).changed
    assert ("list", "statefulsets") in {(each.verb, each.resource) for each in live.requests(mark, USER)}


def test_status_is_written_to_the_version_that_was_read(live: NamespaceClient) -> None:
    create(live)
    until_reached(live, NAME)
    stale = {"status": {"conditions": []}}
    live.plane.request(
        "PATCH", f"{live.path('Druid', NAME)}/status", stale, content_type="application/merge-patch+json"
    )
    mark = live.mark()
    good(reconcile(live))
    assert {(each.verb, each.resource, each.subresource) for each in live.requests(mark, USER)} == {
        ("patch", "druids", "status")
    }


def test_status_of_a_stale_resource_is_decided_again(live: NamespaceClient) -> None:
    create(live)
    until_reached(live, NAME)
    direct, cached = connection(live, USER), connection(live, CACHE)
    older = live.get("Druid", NAME)
    older["status"] = {}
    live.merge("Druid", NAME, {"metadata": {"labels": {"a": "b"}}})
    before = live.get("Druid", NAME)["status"]
    request = cluster_request(NAME, live.namespace)

    class Older(Stale):
        def request(self, method: str, url: str, **arguments: Any) -> Any:
            if url.endswith(f"/druids/{NAME}"):
                return SimpleNamespace(status=200, headers={}, data=json.dumps(older).encode())
            return super().request(method, url, **arguments)

    cached.transport = Older(cached.transport, ())
    mark = live.mark()
    outcome = try_cache_first(
        cached, lambda: direct, lambda api: kernel.run(DRUID, api, request, lambda _text: None, Clock()), _unexpected
    )
    assert not good(outcome).changed
    assert live.get("Druid", NAME)["status"] == before
    refused = [each.code for each in live.requests(mark, USER) if each.subresource == "status"]
    assert refused == [422]


def test_problem_is_only_reported_after_a_read_of_the_api_server(live: NamespaceClient) -> None:
    spec = small_cluster.spec()
    spec["extraCommonConfig"] = [{"kind": "ConfigMap", "name": "missing", "namespace": live.namespace}]
    live.create(small_cluster.resource(NAME, spec))
    mark = live.mark()
    assert reconcile(live).problems
    assert "list" in {each.verb for each in live.requests(mark, USER)}
