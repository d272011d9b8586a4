# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cluster's own Druid is asked: with its credentials, or why it is not asked at all."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    SERVERS,
    WORKERS,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_connection import ask_druid, connected
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import Post
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import connected_once
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult, execute
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

CANARY = "hunter2-the-canary"
# A port on which nothing listens.
NOWHERE = "http://127.0.0.1:1"
LOGIN = {"type": "basic-auth", "secretRef": {"name": "login"}}
ROUTER = {"nodeType": "router", "replicas": 1, "druid.port": 8888, "services": [{"spec": {"ports": [{"port": 8888}]}}]}
DISABLE = Post(
    what=ObjectKey("worker", "m:8091"),
    action="disable worker m:8091",
    path="/druid/indexer/v1/worker/m:8091/disable",
    states=({}, {}),
)


class Secrets(KubernetesApi):
    """An API server that has one Secret."""

    def __init__(self, **keys: str) -> None:
        super().__init__("https://192.0.2.1", None)  # type: ignore[arg-type]
        self.keys = keys

    def get(self, kind: str, namespace: str | None, name: str) -> Any:
        if kind == "EndpointSlice":
            return None
        assert (kind, namespace, name) == ("Secret", "ns", "login")
        data = {key: base64.b64encode(value.encode()).decode() for key, value in self.keys.items()}
        return {"kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data} if data else None


def of(node: dict[str, Any] | None = None, ready: int = 1, **spec: Any) -> Inputs:
    """The inputs of a cluster with one group, which has ready pods, and whose Services the resource owns."""
    cluster = druid.cluster(node, **spec)
    owner = {"apiVersion": "v1", "kind": "Druid", "name": cluster.name, "uid": cluster.uid, "controller": True}
    found = inputs(cluster)
    live = [stored(each) for each in found.desired.objects]
    owned = [{**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}} for each in live]
    ready_ones = [{**each, "status": {"readyReplicas": ready}} for each in owned]
    return inputs(cluster, Observed().with_objects(ready_ones))


# (inputs, url of the task, whether the own host is refused, the Secret, cause, a part of the message)
CAUSES: list[tuple[str, Inputs, str | None, bool, dict[str, str], str, str]] = [
    ("no group of routers", of(), None, False, {}, questions.NO_ROUTER, "no group with nodeType router"),
    ("no ready router", of(ROUTER, 0), None, False, {}, questions.NOT_READY, "No pod of the router is ready"),
    ("a router", of(ROUTER), None, False, {}, questions.NOT_CONNECTABLE, "cannot be resolved"),
    ("an address", of(endpoint={"url": NOWHERE}), None, False, {}, questions.UNREACHABLE, "got no response"),
    ("an address of the task", of(ROUTER, 0), NOWHERE, True, {}, questions.UNREACHABLE, "got no response"),
    ("no Secret", of(auth=LOGIN), NOWHERE, False, {}, questions.NOT_CONNECTABLE, "there is no Secret login"),
    ("a Secret without a key", of(auth=LOGIN), NOWHERE, False, {"a": CANARY}, questions.NOT_CONNECTABLE, "has no key"),
]


@pytest.mark.parametrize(
    ("found", "url", "refuses", "secret", "cause", "text"), [row[1:] for row in CAUSES], ids=[row[0] for row in CAUSES]
)
def test_why_there_is_no_answer(
    found: Inputs, url: str | None, refuses: bool, secret: dict[str, str], cause: str, text: str
) -> None:
    answers = asked(Secrets(**secret), found, (SERVERS, WORKERS), options(url, refuses))
    for question in (SERVERS, WORKERS):
        answer = answers[question]
        assert isinstance(answer, Unavailable)
        assert (answer.cause, text in answer.message, CANARY in answer.message) == (cause, True, False)


def asked(
    api: Secrets, found: Inputs, questions: tuple[Question[Any], ...], options: Options
) -> dict[Question[Any], Any]:
    return ask_druid(replace(found, reads=ClusterReads(api, "ns", options)), questions, options)


def options(url: str | None = None, refuse_own_host: bool = False) -> Options:
    return Options(url=url, refuse_own_host=refuse_own_host, timeouts=Timeouts(2, 0))


class WithoutEndpoints(Secrets):
    """An API server that does not return its own endpoints."""

    def get(self, kind: str, namespace: str | None, name: str) -> Any:
        if kind == "EndpointSlice":
            raise ApiError("get", "endpointslices", kind, namespace, name, 500, {"message": "broken"})
        return super().get(kind, namespace, name)


def test_what_cannot_be_read_to_connect_is_no_error(server: Server) -> None:
    found = of(endpoint={"url": server.url})
    answers = asked(WithoutEndpoints(), found, (SERVERS,), options(refuse_own_host=True))
    assert isinstance(answers[SERVERS], Unavailable)
    assert ("broken" in answers[SERVERS].message, server.requests) == (True, [])


def test_the_own_host_gets_no_request(server: Server) -> None:
    found = of(endpoint={"url": server.url})
    answers = asked(Secrets(), found, (SERVERS,), options(refuse_own_host=True))
    refused = answers[SERVERS]
    assert isinstance(refused, Unavailable)
    assert (refused.cause, server.requests) == (questions.NOT_CONNECTABLE, [])


def test_the_credentials_of_the_secret_are_sent(server: Server) -> None:
    historical = {"host": "h:8083", "type": "historical", "tier": "hot", "currSize": 5, "maxSize": 9}
    server.responses = [Response(body=[historical])]
    secret = {"OperatorUserName": "me", "OperatorPassword": CANARY}
    answers = asked(Secrets(**secret), of(auth=LOGIN), (SERVERS,), options(server.url))
    assert answers[SERVERS] == (("h:8083", "historical", "hot", 5, 9),)
    login = base64.b64encode(f"me:{CANARY}".encode()).decode()
    assert [each.headers["authorization"] for each in server.requests] == [[f"Basic {login}"]]


def test_the_secret_is_known_to_the_masker() -> None:
    secret = {"OperatorUserName": "me", "OperatorPassword": CANARY}
    reads = ClusterReads(Secrets(**secret), "ns", options(NOWHERE))
    found = replace(of(auth=LOGIN), reads=reads)
    found.ask(SERVERS)
    assert [*reads.read_secrets()] == [ReferenceKey("Secret", "ns", "login")]


def test_a_write_that_fails_has_a_reason() -> None:
    for found in (of(), of(auth=LOGIN)):
        assert written(found).reason == reasons.ROUTER_NOT_FOUND
    assert written(of(endpoint={"url": NOWHERE})).reason == reasons.DRUID_UNREACHABLE


def test_requests_share_a_connection(server: Server) -> None:
    secret = {"OperatorUserName": "me", "OperatorPassword": CANARY}
    api = Secrets(**secret)
    reads = ClusterReads(api, "ns", options())
    server.responses = [Response(body={}), Response(body={})]
    with connected_once(partial(connected, reads, of(auth=LOGIN), options(server.url))) as druid:
        assert ([*reads.read_objects()], server.requests) == ([], [])
        first, second = execute((DISABLE, replace(DISABLE, what=ObjectKey("worker", "n:8091"))), Context(api, druid))
        assert druid("a") is druid("b")
    assert (first.is_done, second.is_done, len(server.requests)) == (True, True, 2)
    assert [*reads.read_secrets()] == [ReferenceKey("Secret", "ns", "login")]


def written(found: Inputs) -> StepResult[Any]:
    api = Secrets(OperatorUserName="me", OperatorPassword=CANARY)
    with connected_once(partial(connected, ClusterReads(api, "ns", options()), found, options())) as druid:
        [result] = execute((DISABLE,), Context(api, druid))
    assert result.error is not None
    return result
