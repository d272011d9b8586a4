# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Overlord is killed during each operation on an ingestion, or Kafka is down: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_start
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import Rows
from ansible_collections.druidops.druid.tests.system.support.overlord_kill import (
    Moment,
    after,
    before,
    while_the_overlord_dies,
)
from testbed.druid.druid import Druid

# all on the same Druid, which takes its time to start
pytestmark = [
    pytest.mark.xdist_group("ingestion outages"),
    campaign("the same outages during calls of the modules, and runs that are killed after requests of each operation"),
]

ROWS = 10


@dataclass(frozen=True)
class Operation:
    """
    A change of the spec of an ingestion (None: it is deleted) that does nothing, reads, or is suspended before.

    `submitted`: how often Druid has stored the supervisor at the end. `read`: how often each row exists.
    """

    starts: str
    change: Mapping[str, Any] | None
    submitted: int
    read: int = 1


TUNED = {"ingestion": {"nativeSpec": {"spec": {"tuningConfig": {"maxRowsInMemory": 1000}}}}}
OPERATIONS = {
    "creation": Operation("paused", {"paused": False}, 1),
    "change": Operation("reading", TUNED, 2),
    "suspension": Operation("reading", {"suspend": True}, 2),
    "resumption": Operation("suspended", {"suspend": False}, 3),
    "reset": Operation("suspended", {"suspend": False, "resumePolicy": "Reset"}, 3, read=2),
    # the last stored version is a tombstone
    "termination": Operation("reading", None, 2),
}


class Case:
    """An ingestion that an operation is carried out on."""

    def __init__(self, operation: Operation, ingestion: Ingesting) -> None:
        self.operation, self.ingestion = operation, ingestion
        self.rows = Rows(ingestion.druid, ingestion.name)
        self.rows.produce(ROWS)
        self.request = {"absent": True} if operation.change is None else {}

    def begin(self) -> None:
        """Set the initial state of the operation, with no operation in progress."""
        starts, ingestion = self.operation.starts, self.ingestion
        ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), paused=starts == "paused"))
        if starts == "paused":
            return
        ingestion.settled()
        eventually(self.rows.has_all)
        eventually(ingestion.is_reading)
        if starts == "suspended":
            ingestion.change(suspend=True)
            eventually(ingestion.is_idle)

    def operate(self) -> None:
        """Start the operation, and make the reconcile during which the Overlord is killed."""
        if self.operation.change is not None:
            self.ingestion.live.merge(KIND, self.ingestion.name, {"spec": dict(self.operation.change)})
        self.ingestion.one_pass(**self.request)

    def go_on(self) -> None:
        """Reconcile as the operator would, until there is nothing left to do."""
        if self.operation.change is None:
            self.ingestion.one_pass(**self.request)
        else:
            self.ingestion.settled()

    def check(self) -> None:
        """The state is the same as without the outage."""
        is_listed = self.ingestion.name in self.ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
        assert is_listed == (self.operation.change is not None)
        assert self.ingestion.times_submitted("kafka") == self.operation.submitted
        eventually(lambda: self.rows.has_all(self.operation.read))


@pytest.fixture
def cases(live: NamespaceClient, druid_apart: Druid) -> Iterator[dict[str, Case]]:
    with ExitStack() as stack:
        found = {
            name: Case(operation, stack.enter_context(ingesting(live, druid_apart)))
            for name, operation in OPERATIONS.items()
        }
        together([case.begin for case in found.values()])
        yield found


@pytest.fixture
def batch(live: NamespaceClient, druid_apart: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid_apart) as started:
        live.create(started.resource("native-batch", batch_spec(started)))
        yield started


def together(calls: list[Any]) -> None:
    """Make the calls at the same time; what one of them raises is raised."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


@pytest.mark.parametrize("moment", [before, after])
def test_overlord_is_killed_during_each_operation(
    moment: Moment, cases: dict[str, Case], batch: Ingesting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The following reconciles lead to the same end: nothing is sent to Druid twice, and no row is lost."""
    # a dead Overlord does not complete the change
    monkeypatch.setattr(Supervisor, "settle_timeout", 5.0)
    druid, proxies = batch.druid, [each.ingestion.proxy for each in cases.values()]

    operations = [*(each.operate for each in cases.values()), batch.one_pass]
    while_the_overlord_dies(druid, [*proxies, batch.proxy], moment, lambda: together(operations))
    if moment is before:
        # a termination is retried by the same reconcile
        reported = {name: case.ingestion.condition("Ready") for name, case in cases.items() if name != "termination"}
        assert reported == dict.fromkeys(reported, ("False", "DruidUnreachable"))

    together([*(each.go_on for each in cases.values()), batch.settled])
    for case in cases.values():
        case.check()
    assert cases["termination"].ingestion.live.find(KIND, cases["termination"].ingestion.name) is None
    assert batch.condition("Ready") == ("True", "Succeeded")
    assert batch.times_submitted("native-batch") == 1


def test_unavailable_kafka_is_reported_and_recovery_is_automatic(
    live: NamespaceClient, druid_apart: Druid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a suspended supervisor reset and resumed: the reset would be lost."""
    # that one starts nonetheless need not be waited for
    monkeypatch.setattr(supervisor_start, "_START", 5.0)
    with ingesting(live, druid_apart) as ingestion, ingesting(live, druid_apart) as suspended:
        case = Case(replace(OPERATIONS["reset"], submitted=4), suspended)
        case.begin()
        rows = Rows(druid_apart, ingestion.name)
        rows.produce(ROWS)
        live.create(ingestion.resource("kafka", kafka_spec(ingestion)))
        ingestion.settled()
        eventually(rows.has_all)

        druid_apart.kill("kafka")
        # a supervisor that has read stays RUNNING while it does not use Kafka: a successor has to connect
        ingestion.live.merge(KIND, ingestion.name, {"spec": TUNED})
        eventually(lambda: ingestion.one_pass() and ingestion.condition("Ready") == ("False", "SupervisorUnhealthy"))
        status = ingestion.stored["status"]
        assert status["detailedState"] == "UNABLE_TO_CONNECT_TO_STREAM"
        assert "UNABLE_TO_CONNECT_TO_STREAM" in status["message"]
        assert status["recentErrors"]
        assert ingestion.condition("Degraded") == ("True", "SupervisorUnhealthy")
        assert ingestion.writes == []
        # a supervisor that has been connected does not need Kafka while it is suspended: a successor does
        suspended.live.merge(KIND, suspended.name, {"spec": TUNED})
        suspended.one_pass()
        case.operate()
        assert suspended.condition("Ready") == ("False", "SupervisorUnhealthy")
        assert suspended.writes == []

        druid_apart.revive("kafka")
        rows.produce(ROWS)
        eventually(lambda: ingestion.one_pass() and ingestion.condition("Ready") == ("True", "Running"))
        assert ingestion.writes == []
        assert ingestion.condition("Degraded") == ("False", "AsExpected")
        eventually(rows.has_all)
        case.go_on()
        case.check()
