# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outages: the Overlord, killed before, during and after a request, and Kafka."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.druid_info import druid_info
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import MAX_ERRORS
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.overlord_kill import (
    WRITE,
    Moment,
    after,
    before,
    while_the_overlord_dies,
)
from ansible_collections.druidops.druid.tests.system.support.stream import READING, Stream
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid_apart, share_druid
from testbed.proxy import Answer, Forward, Go, Loss, Request, Upstream

__all__ = ["druid_apart", "share_druid"]

# all on the same Druid, which takes its time to start
pytestmark = pytest.mark.xdist_group("outages")

Call = dict[str, Any]


@campaign("the Overlord is killed after it has made a change; Kafka stops and restarts")
def test_waits_for_a_killed_overlord(druid_apart: Druid) -> None:
    with direct_on(druid_apart, retry_timeout=120) as direct:
        stream = Stream(direct)
        stream.produce(10)
        # what Druid has dropped is remembered: its history and its GET have one form, also of another leader
        spec = stream.spec(maxRowInMemory=1000)
        direct.supervisor(spec=spec, wait=True)
        eventually(stream.has_all)
        druid_apart.kill("coordinator")
        answers: list[dict[str, Any]] = []
        asking = threading.Thread(target=lambda: answers.append(direct.supervisor(spec=spec)))

        asking.start()
        druid_apart.revive("coordinator")
        asking.join()

        assert [answer["changed"] for answer in answers] == [False]
        stream.produce(10)
        eventually(stream.has_all)


@campaign("readiness is shown by responses of a Druid that lacks a part")
def test_readiness_without_a_coordinator(druid_apart: Druid) -> None:
    params = {"services": ["broker", "historical"], "wait": False, "wait_for": None, "wait_timeout": 180.0}
    with direct_on(druid_apart, retry_timeout=0) as direct:
        druid_apart.kill("coordinator")
        info = druid_info(direct.client, params)
        druid_apart.revive("coordinator")

        assert not info["ready"]
        assert (info["version"], info["servers"], info["slots"]) == (druid_apart.version, None, None)
        assert druid_info(direct.client, {**params, "wait": True})["problems"] == []


class Calls:
    """A supervisor is created, one is changed and one is removed, each by its own call, all at once."""

    def __init__(self, druid: Druid, directs: list[Direct]) -> None:
        self.druid = druid
        self.created, self.changed, self.removed = self.streams = [Stream(direct) for direct in directs]
        self.desired: list[Call] = [
            {"spec": self.created.spec()},
            {"spec": self.changed.spec(maxRowsInMemory=1000)},
            {"id": self.removed.name, "state": "absent"},
        ]
        for stream in self.streams:
            stream.produce(10)
        for stream in (self.changed, self.removed):
            stream.direct.supervisor(spec=stream.spec(), wait=True, wait_for=READING)
            eventually(stream.has_all)

    def make(self) -> list[dict[str, Any]]:
        """Make the calls at the same time, and return the result of each, with the problem that ended it."""
        with ThreadPoolExecutor(len(self.desired)) as pool:
            return list(pool.map(_outcome, self.streams, self.desired))

    def make_while_the_overlord_dies(self, moment: Moment) -> list[dict[str, Any]]:
        """Kill the Overlord when all three requests have come to that moment, and revive it while the calls wait."""
        proxies = [stream.direct.proxy for stream in self.streams]
        return while_the_overlord_dies(self.druid, proxies, moment, self.make)

    def stored(self) -> list[int | None]:
        """Return for each supervisor what it has for maxRowsInMemory, by which its specification is known."""
        found = self.druid.request("GET", "/druid/indexer/v1/supervisor?full=true")
        specs = {each["id"]: each["spec"]["spec"] for each in found}
        assert len(specs) == len(found)
        return [
            specs[stream.name]["tuningConfig"]["maxRowsInMemory"] if stream.name in specs else None
            for stream in self.streams
        ]


def _outcome(stream: Stream, desired: Call) -> dict[str, Any]:
    try:
        return {**stream.direct.supervisor(**desired), "problem": ""}
    except PartialFailure as failed:
        return {**failed.result, "problem": str(failed)}


@pytest.fixture
def calls(druid_apart: Druid) -> Iterator[Calls]:
    with ExitStack() as stack:
        directs = [stack.enter_context(direct_on(druid_apart, retry_timeout=120)) for _call in range(3)]
        found = Calls(druid_apart, directs)
        yield found
        for stream in found.streams:
            stream.direct.supervisor(id=stream.name, state="absent")


@campaign("the Overlord is killed after it has made a change; Kafka stops and restarts")
def test_overlord_is_killed_before_the_change(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has changed, and this is reported, without waiting for the time that a live Overlord may need."""
    monkeypatch.setattr(Supervisor, "settle_timeout", 5.0)
    outcomes = calls.make_while_the_overlord_dies(before)

    for stream, outcome in zip(calls.streams, outcomes, strict=True):
        assert outcome["problem"].endswith(f" Current state of supervisor '{stream.name}': unchanged.")
        assert not outcome["changed"]
    assert calls.stored() == [None, 150000, 150000]
    assert_converges(calls)


def test_overlord_is_killed_after_the_change(calls: Calls) -> None:
    for outcome in calls.make_while_the_overlord_dies(after):
        assert (outcome["changed"], outcome["problem"]) == (True, "")
        assert "The change took effect despite this error" in outcome["warnings"][0]
    assert calls.stored() == [150000, 1000, None]
    assert_converges(calls, is_done=True)


def assert_converges(calls: Calls, *, is_done: bool = False) -> None:
    """The same calls again create what is missing, once; then nothing, and each row exists once."""
    for is_missing in (not is_done, False):
        outcomes = calls.make()
        assert [(each["changed"], each["problem"]) for each in outcomes] == [(is_missing, "")] * 3
        assert [stream.direct.writes == [] for stream in calls.streams] == [not is_missing] * 3
        assert calls.stored() == [150000, 1000, None]
    for stream in (calls.created, calls.changed):
        stream.produce(10)
        eventually(stream.has_all)
    eventually(calls.removed.has_all)


@pytest.fixture
def busy(druid_apart: Druid) -> Iterator[Stream]:
    """One whose calls go to the Overlord, past the Router."""
    overlord = Upstream(druid_apart.overlord_url)
    with direct_on(druid_apart, retry_timeout=120, upstream=overlord) as direct:
        found = Stream(direct)
        found.produce(10)
        direct.supervisor(spec=found.spec(shutdownTimeout="PT60S"), wait=True, wait_for=READING)
        eventually(found.has_all)
        yield found
        direct.supervisor(id=found.name, state="absent")


def dies_at_it(druid: Druid, supervisor: str, dead: threading.Event) -> Go:
    """The Overlord is killed while it stops the supervisor, whose task has no time to respond."""

    def go(request: Request, forward: Forward) -> Answer | Loss:
        with druid.frozen("data"), ThreadPoolExecutor(1) as pool:
            answer = pool.submit(forward, request)
            eventually(lambda: answer.done() or is_stopping(druid, supervisor))
            assert not answer.done()
            druid.kill("coordinator")
            dead.set()
            return answer.result()

    return go


def is_stopping(druid: Druid, supervisor: str) -> bool:
    path = f"/druid/indexer/v1/supervisor/{supervisor}/status"
    status = druid.request("GET", path, server="coordinator")
    return bool(status["payload"]["detailedState"] == "STOPPING")


@campaign("the Overlord is killed after it has made a change; Kafka stops and restarts")
def test_overlord_is_killed_during_an_update(druid_apart: Druid, busy: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new specification was not stored yet: the old one runs again."""
    monkeypatch.setattr(Supervisor, "settle_timeout", 5.0)
    outcome = outcome_of_dying_at_it(druid_apart, busy, {"spec": busy.spec(maxRowsInMemory=1000)})

    assert outcome["problem"].endswith(f" Current state of supervisor '{busy.name}': unchanged.")
    assert not outcome["changed"]
    assert busy.direct.supervisor(spec=busy.spec(maxRowsInMemory=1000))["changed"]
    assert not busy.direct.supervisor(spec=busy.spec(maxRowsInMemory=1000))["changed"]
    busy.produce(10)
    eventually(busy.has_all)


@campaign("the Overlord is killed after it has made a change; Kafka stops and restarts")
def test_overlord_is_killed_during_a_termination(druid_apart: Druid, busy: Stream) -> None:
    """Druid first records that it is terminated: it is."""
    outcome = outcome_of_dying_at_it(druid_apart, busy, {"id": busy.name, "state": "absent"})

    assert (outcome["changed"], outcome["problem"]) == (True, "")
    assert "The change took effect despite this error" in outcome["warnings"][0]
    assert not busy.direct.supervisor(id=busy.name, state="absent")["changed"]


def outcome_of_dying_at_it(druid: Druid, busy: Stream, desired: Call) -> dict[str, Any]:
    dead = threading.Event()
    busy.direct.proxy.fail_next(dies_at_it(druid, busy.name, dead), **WRITE)
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(_outcome, busy, desired)
        eventually(lambda: dead.is_set() or outcome.done())
        assert dead.is_set(), outcome.result()
        druid.revive("coordinator")
        return outcome.result()


@pytest.fixture
def streams(druid_apart: Druid) -> Iterator[list[Stream]]:
    """Three that have read all there is; a call that Kafka keeps waiting for half a minute has failed."""
    with direct_on(druid_apart, read_timeout=30) as direct:
        found = [Stream(direct) for _stream in range(3)]
        for stream in found:
            stream.produce(10)
            direct.supervisor(spec=stream.spec(), wait=True)
        for stream in found:
            eventually(stream.has_all)
        yield found
        for stream in found:
            direct.supervisor(id=stream.name, state="absent")


def _is_of_task_of(stream: Stream, warning: str) -> bool:
    return f"still runs after its supervisor {stream.name} was terminated" in warning


def test_changes_while_kafka_is_down_lose_no_row(druid_apart: Druid, streams: list[Stream]) -> None:
    changed, suspended, removed = streams
    calls: list[tuple[Stream, Call]] = [
        (changed, {"spec": changed.spec(maxRowsInMemory=1000)}),
        (suspended, {"id": suspended.name, "suspended": True}),
        (removed, {"id": removed.name, "state": "absent"}),
    ]
    druid_apart.kill("kafka")

    for is_new in (True, False):
        results = [stream.direct.supervisor(**call) for stream, call in calls]
        assert [each["changed"] for each in results] == [is_new] * 3
        # Whether the supervisor that is removed knows its task depends on what it did when Kafka stopped.
        warnings = [each for result in results for each in result["warnings"] if not _is_of_task_of(removed, each)]
        assert warnings == []
    lost = changed.direct.supervisor(id=changed.name, wait=True, wait_for="payload.healthy == `false`")
    payload = lost["supervisors"][0]["status"]["payload"]
    assert payload["detailedState"] == "UNABLE_TO_CONNECT_TO_STREAM"
    assert 0 < len(payload["recentErrors"]) <= MAX_ERRORS
    suspended.direct.supervisor(id=suspended.name, wait=True)

    druid_apart.revive("kafka")
    for stream in streams:
        stream.produce(10)
    assert suspended.direct.supervisor(id=suspended.name, suspended=False)["changed"]
    assert removed.direct.supervisor(spec=removed.spec())["changed"]
    for stream in streams:
        eventually(stream.has_all)


@campaign("the Overlord is killed after it has made a change; Kafka stops and restarts")
def test_unavailable_kafka_is_reported_and_ingestion_resumes(druid_apart: Druid) -> None:
    with direct_on(druid_apart) as direct:
        stream = Stream(direct)
        stream.produce(10)
        direct.supervisor(spec=stream.spec(), wait=True)
        eventually(stream.has_all)
        druid_apart.kill("kafka")

        assert not direct.supervisor(spec=stream.spec())["changed"]
        druid_apart.revive("kafka")

        stream.produce(10)
        eventually(stream.has_all)
        assert direct.supervisor(id=stream.name, state="absent")["changed"]
