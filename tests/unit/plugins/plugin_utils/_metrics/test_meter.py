# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The counters of requests to Kubernetes, and the duration of phases."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter, PhaseTimer

OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}


class Response(NamedTuple):
    status: int
    data: bytes = b"{}"
    headers: Any = MappingProxyType({})


class FixedTransport:
    """A transport with the same response to all requests; without a status the connection fails."""

    def __init__(self, status: int | None) -> None:
        self.status = status
        self.arguments: list[dict[str, Any]] = []

    def request(self, method: str, url: str, **arguments: Any) -> Response:
        self.arguments.append(arguments)
        if self.status is None:
            raise urllib3.exceptions.ProtocolError("connection lost")
        return Response(self.status)


def api(status: int | None = 200) -> KubernetesApi:
    return KubernetesApi("http://server", FixedTransport(status), sleep=lambda _seconds: None)


REQUESTS = [
    ("get", lambda api: api.get("ConfigMap", "ns", "n"), "kubernetes_reads"),
    ("list", lambda api: api.list_objects("ConfigMap", "ns"), "kubernetes_reads"),
    ("apply", lambda api: api.apply(OBJECT), "kubernetes_writes"),
    ("apply as a dry run", lambda api: api.apply(OBJECT, dry_run=True), "kubernetes_dry_runs"),
    ("create", lambda api: api.create(OBJECT), "kubernetes_writes"),
    ("status", lambda api: api.patch_status("Druid", "ns", "n", []), "kubernetes_writes"),
    ("delete", lambda api: api.delete("ConfigMap", "ns", "n", "u"), "kubernetes_writes"),
    ("delete as a dry run", lambda api: api.delete("ConfigMap", "ns", "n", "u", dry_run=True), "kubernetes_dry_runs"),
]


@pytest.mark.parametrize(("call", "name"), [row[1:] for row in REQUESTS], ids=[row[0] for row in REQUESTS])
def test_requests_are_counted(call: Any, name: str) -> None:
    meter = Meter()
    call(meter.of_server(api()))
    assert meter.requests == {name: 1}
    assert meter.has_written is (name == "kubernetes_writes")


def test_cache_requests_are_counted() -> None:
    meter = Meter()
    meter.of_cache(api()).get("ConfigMap", "ns", "n")
    assert meter.requests == {"cache_requests": 1}


@pytest.mark.parametrize(("status", "requests", "errors"), [(None, 1, 1), (500, 1, 1), (403, 1, 0), (429, 4, 4)])
def test_request_errors_are_counted(status: int | None, requests: int, errors: int) -> None:
    meter = Meter()
    with pytest.raises(KubernetesError):
        meter.of_server(api(status)).get("ConfigMap", "ns", "n")
    assert meter.requests["kubernetes_reads"] == requests
    assert meter.requests["kubernetes_request_errors"] == errors


def test_census_is_not_counted_and_has_a_short_timeout() -> None:
    meter, connection = Meter(), api()
    meter.of_cache(connection)
    assert meter.cache is not None
    assert meter.cache.list_objects("Druid", None) == []
    assert meter.requests == {}
    [sent] = connection.transport.arguments  # type: ignore[attr-defined]
    assert sent["timeout"].total < 1
    assert sent["retries"].total == 0


def test_duration_of_repeated_phases_and_the_last_phase() -> None:
    ticks = iter([1.0, 3.0, 10.0, 10.5, 20.0, 24.0])
    phases = PhaseTimer(lambda: next(ticks))
    with phases("observe"):
        pass
    with phases("act"):
        pass
    with phases("observe"):
        pass
    assert phases.seconds == {"observe": 6.0, "act": 0.5}
    assert phases.last == "observe"


def test_duration_of_a_failed_phase() -> None:
    ticks = iter([1.0, 3.0])
    phases = PhaseTimer(lambda: next(ticks))
    with pytest.raises(ValueError, match="x"), phases("decide"):
        raise ValueError("x")
    assert (phases.seconds, phases.last) == ({"decide": 2.0}, "decide")
