# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client of the Kubernetes API, with a server on a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, to_json
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    ApiError,
    TooDeep,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import (
    Response,
    Server,
)
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]
Call = Callable[[KubernetesApi], Any]

CONFIG_MAP: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}
DRUID: Manifest = {
    "apiVersion": "druid.apache.org/v1alpha1",
    "kind": "Druid",
    "metadata": {"name": "c", "namespace": "ns"},
}


def missing(name: str | None = "n") -> Response:
    details = {"name": name, "kind": "configmaps"} if name else {}
    return Response(404, {"kind": "Status", "message": "not found", "reason": "NotFound", "details": details})


OPERATIONS = [{"op": "add", "path": "/a", "value": 1}]
PREFIX = "/apis/druid.apache.org/v1alpha1/namespaces/ns/druids/c"
# (id, call, method, path with query, content type)
CALLS: list[tuple[str, Call, str, str, str | None]] = [
    ("get", lambda api: api.get("ConfigMap", "ns", "n"), "GET", "/api/v1/namespaces/ns/configmaps/n", None),
    ("get of a group", lambda api: api.get("Druid", "ns", "c"), "GET", PREFIX, None),
    ("get without namespace", lambda api: api.get("Namespace", None, "ns"), "GET", "/api/v1/namespaces/ns", None),
    (
        "list",
        lambda api: api.list_objects("StatefulSet", "ns", "druid_cr=c"),
        "GET",
        "/apis/apps/v1/namespaces/ns/statefulsets?labelSelector=druid_cr%3Dc",
        None,
    ),
    (
        "apply",
        lambda api: api.apply(CONFIG_MAP),
        "PATCH",
        "/api/v1/namespaces/ns/configmaps/n?fieldManager=druidops&force=true",
        "application/apply-patch+yaml",
    ),
    (
        "dry run of apply with another manager",
        lambda api: api.apply(CONFIG_MAP, dry_run=True, manager="other"),
        "PATCH",
        "/api/v1/namespaces/ns/configmaps/n?fieldManager=other&force=true&dryRun=All",
        "application/apply-patch+yaml",
    ),
    (
        "create",
        lambda api: api.create(CONFIG_MAP),
        "POST",
        "/api/v1/namespaces/ns/configmaps?fieldManager=druidops",
        "application/json",
    ),
    (
        "dry run of create",
        lambda api: api.create(DRUID, dry_run=True),
        "POST",
        "/apis/druid.apache.org/v1alpha1/namespaces/ns/druids?fieldManager=druidops&dryRun=All",
        "application/json",
    ),
    (
        "replace",
        lambda api: api.replace(CONFIG_MAP, dry_run=True),
        "PUT",
        "/api/v1/namespaces/ns/configmaps/n?fieldManager=druidops&dryRun=All",
        "application/json",
    ),
    (
        "patch",
        lambda api: api.json_patch("Druid", "ns", "c", OPERATIONS),
        "PATCH",
        f"{PREFIX}?fieldManager=druidops",
        "application/json-patch+json",
    ),
    (
        "patch of the status",
        lambda api: api.patch_status("Druid", "ns", "c", OPERATIONS),
        "PATCH",
        f"{PREFIX}/status?fieldManager=druidops",
        "application/json-patch+json",
    ),
    (
        "delete",
        lambda api: api.delete("ConfigMap", "ns", "n", "u-1"),
        "DELETE",
        "/api/v1/namespaces/ns/configmaps/n",
        "application/json",
    ),
    (
        "a name with a slash",
        lambda api: api.delete("ConfigMap", "ns", "a/../b", "u-1"),
        "DELETE",
        "/api/v1/namespaces/ns/configmaps/a%2F..%2Fb",
        "application/json",
    ),
]


@pytest.mark.parametrize(("call", "method", "path", "content"), [row[1:] for row in CALLS], ids=[c[0] for c in CALLS])
def test_request(server: Server, api: KubernetesApi, call: Call, method: str, path: str, content: str | None) -> None:
    call(api)
    [request] = server.requests
    assert (request.method, request.path) == (method, path)
    assert request.headers.get("content-type") == ([content] if content else None)
    assert request.headers["accept"] == ["application/json"]
    assert request.headers["user-agent"] == ["druidops"]


@pytest.mark.parametrize("kind", KINDS)
def test_path_of_every_kind(server: Server, api: KubernetesApi, kind: str) -> None:
    api.get(kind, "ns" if KINDS[kind].namespaced else None, "n")
    version, plural, _namespaced = KINDS[kind]
    assert server.requests[0].path.startswith(f"/apis/{version}/" if "/" in version else f"/api/{version}/")
    assert server.requests[0].path.endswith(f"/{plural}/n")


INVALID_NAMES = ["", ".", "..", "../secrets/n", "../../other/configmaps/n", "a/b", "a%2Fb", "/"]


@pytest.mark.parametrize("name", INVALID_NAMES)
def test_invalid_name_is_not_requested(server: Server, api: KubernetesApi, name: str) -> None:
    assert api.get("ConfigMap", "ns", name) is None
    assert api.get("ConfigMap", name, "n") is None
    assert server.requests == []


def test_headers_are_computed_for_each_request(server: Server) -> None:
    tokens = iter(["first", "second"])
    with urllib3.PoolManager() as pool:
        api = KubernetesApi(server.url, pool, lambda: urllib3.HTTPHeaderDict({"Authorization": next(tokens)}))
        api.get("ConfigMap", "ns", "n")
        api.get("ConfigMap", "ns", "n")
    assert [request.headers["authorization"] for request in server.requests] == [["first"], ["second"]]


def test_listed_objects_have_their_kind(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(body={"kind": "StatefulSetList", "items": [{"metadata": {"name": "a"}}]})]
    assert api.list_objects("StatefulSet", "ns") == [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}}
    ]


@pytest.mark.parametrize("items", [[], None])
def test_empty_list(server: Server, api: KubernetesApi, items: Any) -> None:
    server.responses = [Response(body={"items": items})]
    assert api.list_objects("StatefulSet", "ns") == []


# Python 3.12 and later parse more levels than recursive functions can process.
DEEPLY_NESTED = '{"items":' + "[" * 200_000 + '"hunter2"' + "]" * 200_000 + "}"
TOO_DEEP: list[tuple[Call, str]] = [
    (lambda api: api.get("Druid", "ns", "c"), "get Druid c in namespace ns"),
    (lambda api: api.list_objects("Druid", "ns"), "list objects of kind Druid in namespace ns"),
    (lambda api: api.list_objects("Druid", None), "list objects of kind Druid"),
    (lambda api: api.patch_status("Druid", "ns", "c", OPERATIONS), "patch Druid c in namespace ns"),
]


@pytest.mark.parametrize(("call", "operation"), TOO_DEEP)
def test_too_deeply_nested_response_is_an_error(server: Server, api: KubernetesApi, call: Call, operation: str) -> None:
    server.responses = [Response(body=DEEPLY_NESTED)]
    with pytest.raises(TooDeep, match=f"response to {operation}: it is nested too deeply") as caught:
        call(api)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_list_names(server: Server, api: KubernetesApi) -> None:
    columns = [{"name": "Type", "format": ""}, {"name": "Name", "format": "name"}]
    server.responses = [
        Response(body={"columnDefinitions": columns, "rows": [{"cells": ["kafka", "a"], "object": None}]})
    ]
    assert api.list_names("DruidIngestion", "ns") == ["a"]
    assert server.requests[0].headers["accept"] == ["application/json;as=Table;v=v1;g=meta.k8s.io"]
    assert server.requests[0].path.endswith("/namespaces/ns/druidingestions?includeObject=None")


TEXTS = [
    "control \x00\x01\x1f\x7f\x9f",
    "separators \u2028\u2029 next line \u0085 mark \ufeff",
    "emoji \U0001f600 and umlauts äöü",
    "{{ jinja }} %s {% raw %} !unsafe 'quotes' \"double\" \\ backslash",
    "0123",
    "tab\t, newline\n, return\r",
]


@pytest.mark.parametrize("text", TEXTS)
def test_strings_are_transferred_unchanged(server: Server, api: KubernetesApi, text: str) -> None:
    server.responses = [Response(body={"data": {"a": text}})]
    response = api.apply({**CONFIG_MAP, "data": {"a": text, text: "b"}})
    assert server.requests[0].document["data"] == {"a": text, text: "b"}
    assert response["data"] == {"a": text}


BYTES = [
    ("ä", '"ä"'.encode()),
    ("\U0001f600", '"\U0001f600"'.encode()),
    ("\u0085", b'"\\u0085"'),
    ("\u2028\u2029", b'"\\u2028\\u2029"'),
    ("\x7f", b'"\\u007f"'),
    ("\ufeff", b'"\\ufeff"'),
    ("\x01\n", b'"\\u0001\\n"'),
    ("\ud800", b'"\\ud800"'),
    ({"b": 1, "a": [True, None, 1.5]}, b'{"b":1,"a":[true,null,1.5]}'),
]


@pytest.mark.parametrize(("value", "expected"), BYTES)
def test_encoding_of_a_body(value: Any, expected: bytes) -> None:
    assert to_json(value) == expected


@given(st.lists(st.text() | st.integers() | st.booleans() | st.none()) | st.dictionaries(st.text(), st.text()))
def test_body_round_trip(value: Any) -> None:
    assert json.loads(to_json(value)) == value


def test_missing_object_is_none(server: Server, api: KubernetesApi) -> None:
    server.responses = [missing()]
    assert api.get("ConfigMap", "ns", "n") is None


@pytest.mark.parametrize(
    "response", [Response(404, "404 page not found\n"), missing(None), Response(404, "<html>"), Response(404, [])]
)
def test_unknown_kind_is_an_error(server: Server, api: KubernetesApi, response: Response) -> None:
    server.responses = [response]
    with pytest.raises(ApiError, match=r"run the playbook druidops\.druid\.install_crds") as caught:
        api.get("Druid", "ns", "c")
    assert caught.value.is_missing_kind


class TestEvict:
    def test_uid_is_a_precondition(self, server: Server, api: KubernetesApi) -> None:
        api.evict("ns", "n-1", "u-1")
        [request] = server.requests
        assert (request.method, request.path) == ("POST", "/api/v1/namespaces/ns/pods/n-1/eviction")
        assert request.document == {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "n-1", "namespace": "ns"},
            "deleteOptions": {"preconditions": {"uid": "u-1"}},
        }

    def test_deleted_pod_is_not_an_error(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [missing()]
        api.evict("ns", "n", "u-1")
        assert len(server.requests) == 1

    def test_message(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [Response(403, {"message": "no"})]
        with pytest.raises(ApiError, match=r"Cannot create Eviction n in namespace ns: 403 no") as caught:
            api.evict("ns", "n", "u-1")
        assert "the verb create on pods/eviction" in str(caught.value)

    def test_refusal_by_a_budget_names_it_and_is_not_retried(self, server: Server, api: KubernetesApi) -> None:
        cause = {"reason": "DisruptionBudget", "message": "The disruption budget b needs 2 healthy pods"}
        refusal = {"message": "Cannot evict pod.", "details": {"causes": [cause]}}
        server.responses = [Response(429, refusal)]
        with pytest.raises(ApiError, match=r"429 Cannot evict pod\. The disruption budget b needs 2 healthy pods"):
            api.evict("ns", "n", "u-1")
        assert len(server.requests) == 1


class TestPodLog:
    def test_end_of_a_log(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [Response(200, "{not JSON\n")]
        assert api.pod_log("ns", "p", "m", previous=True, lines=5, limit=99) == "{not JSON\n"
        [request] = server.requests
        path = "/api/v1/namespaces/ns/pods/p/log?container=m&tailLines=5&limitBytes=99&previous=true"
        assert (request.method, request.path) == ("GET", path)

    def test_no_log(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [Response(403, {"message": "no"})]
        with pytest.raises(ApiError, match=r"Cannot get Pod p in namespace ns: 403 no") as caught:
            api.pod_log("ns", "p", "m", previous=False, lines=5, limit=99)
        assert "the verb get on pods/log" in str(caught.value)


class TestDelete:
    def test_uid_is_a_precondition(self, server: Server, api: KubernetesApi) -> None:
        api.delete("ConfigMap", "ns", "n", "u-1", "Orphan")
        assert server.requests[0].document == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": "u-1"},
            "propagationPolicy": "Orphan",
        }

    def test_dry_run(self, server: Server, api: KubernetesApi) -> None:
        api.delete("ConfigMap", "ns", "n", "u-1", dry_run=True)
        assert server.requests[0].document["dryRun"] == ["All"]
        assert server.requests[0].document["propagationPolicy"] == "Background"

    def test_deleted_object_is_not_an_error(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [missing()]
        api.delete("ConfigMap", "ns", "n", "u-1")
        assert len(server.requests) == 1

    def test_recreated_object_is_an_error(self, server: Server, api: KubernetesApi) -> None:
        server.responses = [Response(409, {"message": "the UID in the precondition (u-1) does not match"})]
        with pytest.raises(ApiError, match=r"Cannot delete ConfigMap n in namespace ns: 409 the UID"):
            api.delete("ConfigMap", "ns", "n", "u-1")
