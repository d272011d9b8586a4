# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that is killed after any of its requests is completed by the next one, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import api
from ansible_collections.druidops.druid.tests.system.support.campaign import MANY, SEED, STEPS, campaign
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid

# Nothing cheaper shows the crashes of a supervisor. The campaign takes other requests.
OFTEN = [
    pytest.param(range(1, MANY, 3), id="after each third request"),
    pytest.param(range(2 + SEED % 2, MANY, 3), id="others", marks=campaign("the same after each third request")),
]


class Killed(BaseException):
    """Not an error that anything would catch: a killed process cleans up nothing."""


@contextmanager
def killed_after(requests: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Kill the run after this number of requests; yield what was sent."""
    sent: list[str] = []

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def send(self: Any, *args: Any, **kwargs: Any) -> Any:
            answer = original(self, *args, **kwargs)
            sent.append(original.__qualname__)
            if len(sent) == requests:
                raise Killed
            return answer

        return send

    with monkeypatch.context() as patch:
        patch.setattr(api.KubernetesApi, "_request", counted(api.KubernetesApi._request))
        patch.setattr(transport.Transport, "exchange", counted(transport.Transport.exchange))
        yield sent


def die_after(ingestion: Ingesting, requests: int, monkeypatch: pytest.MonkeyPatch, **request: Any) -> bool:
    """Make a reconcile that is killed; False if it ended before."""
    with killed_after(requests, monkeypatch):
        try:
            ingestion.one_pass(**request)
        except Killed:
            return True
    return False


@pytest.mark.parametrize("kind", ["kafka", "native-batch"])
@pytest.mark.parametrize("steps", OFTEN)
def test_a_creation(
    kind: str, steps: range, live: NamespaceClient, druid: Druid, monkeypatch: pytest.MonkeyPatch
) -> None:
    for requests in steps:
        with ingesting(live, druid) as ingestion:
            ingestion.kafka.make_topic(ingestion.name)
            spec = kafka_spec(ingestion) if kind == "kafka" else batch_spec(ingestion)
            # a supervisor that reads has tasks, which take their time
            live.create(ingestion.resource(kind, spec, **({"suspend": True} if kind == "kafka" else {})))
            has_died = die_after(ingestion, requests, monkeypatch)
            ingestion.settled()
            assert ingestion.times_submitted(kind) == 1, requests
            if not has_died:
                return
    pytest.fail("a pass never ended")


@pytest.mark.parametrize("steps", OFTEN)
def test_a_change(steps: range, live: NamespaceClient, druid: Druid, monkeypatch: pytest.MonkeyPatch) -> None:
    with ingesting(live, druid) as ingestion:
        ingestion.kafka.make_topic(ingestion.name)
        live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
        ingestion.settled()
        for requests in steps:
            before = ingestion.times_submitted("kafka")
            changed = kafka_spec(ingestion, taskCount=requests)
            live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": changed}}})
            has_died = die_after(ingestion, requests, monkeypatch)
            ingestion.settled()
            assert ingestion.times_submitted("kafka") - before == (1 if requests > 1 else 0), requests
            if not has_died:
                return
        pytest.fail("a pass never ended")


@pytest.mark.parametrize("steps", STEPS)
def test_a_reverted_batch(steps: range, live: NamespaceClient, druid: Druid, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change runs once, although the spec alternates between two documents."""
    with ingesting(live, druid) as ingestion:
        live.create(ingestion.resource("native-batch", batch_spec(ingestion)))
        ingestion.settled()
        for number, requests in enumerate(steps, 1):
            changed = batch_spec(ingestion, f"2026-01-01T00:00:00Z,{'ab'[number % 2]}")
            live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": changed}}})
            has_died = die_after(ingestion, requests, monkeypatch)
            ingestion.settled()
            assert ingestion.times_submitted("native-batch") == number + 1, requests
            if not has_died:
                return
        pytest.fail("a pass never ended")


@pytest.mark.parametrize("steps", OFTEN)
def test_new_supervisor_id_and_deletion(
    steps: range, live: NamespaceClient, druid: Druid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are recorded before the new one is created, and neither outlives the resource."""
    for requests in steps:
        with ingesting(live, druid) as ingestion:
            new = replace(ingestion, name=f"{ingestion.name}-new")
            for each in (ingestion, new):
                each.kafka.make_topic(each.name)
            live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
            ingestion.settled()
            live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": kafka_spec(new)}}})
            has_died = die_after(ingestion, requests, monkeypatch)
            ingestion.one_pass(absent=True)
            assert live.find(KIND, ingestion.name) is None
            assert not {ingestion.name, new.name} & set(druid.request("GET", "/druid/indexer/v1/supervisor")), requests
            if not has_died:
                return
    pytest.fail("a pass never ended")


@pytest.mark.parametrize("steps", OFTEN)
def test_a_deletion(steps: range, live: NamespaceClient, druid: Druid, monkeypatch: pytest.MonkeyPatch) -> None:
    for requests in steps:
        with ingesting(live, druid) as ingestion:
            ingestion.kafka.make_topic(ingestion.name)
            live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
            ingestion.settled()
            has_died = die_after(ingestion, requests, monkeypatch, absent=True)
            ingestion.one_pass(absent=True)
            assert live.find(KIND, ingestion.name) is None
            assert ingestion.name not in druid.request("GET", "/druid/indexer/v1/supervisor"), requests
            if not has_died:
                return
    pytest.fail("a pass never ended")
