# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Historicals that are decommissioned, by a Coordinator whose answers show what can go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.historical import ensure_historical
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_clock import FakeClock, clock
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Handler,
    Server,
    say,
    serving,
)

__all__ = ["clock", "fake_time"]

V1 = "/druid/coordinator/v1"
A, B, C = "a:8083", "b:8083", "c:8083"
PARAMS: dict[str, Any] = {
    "server": A,
    "state": "decommissioned",
    "historicals": None,
    "wait": True,
    "wait_timeout": 130.0,
    "author": None,
    "comment": None,
}


class Coordinator:
    """Historicals of 100 bytes each by name: size and tier; the list is written by people and by modules."""

    def __init__(self) -> None:
        self.sizes = {A: 60, B: 10}
        self.tiers = {A: "hot", B: "hot", "x:8083": "hot"}
        self.history: list[tuple[str, str, dict[str, Any]]] = [("person", "", {"decommissioningNodes": ["z:8083"]})]
        self.queued = 0
        self.unavailable = 0
        self.rule = 1
        # what a Broker answers to a query
        self.rows: list[dict[str, Any]] = []
        self.instead: dict[str, Answer] = {}
        self.writes = 0

    def get(self, path: str, _default: Any) -> list[Answer]:
        return [self.instead.get(path) or (lambda handler: self._respond(path, handler))]

    def _respond(self, path: str, handler: Handler) -> None:
        if (handler.command, path) == ("POST", f"{V1}/config"):
            self.writes += 1
            asked = handler.server.asked[-1]
            audit = (asked.headers["x-druid-author"], asked.headers["x-druid-comment"])
            self.history.append((*audit, {**self.config, **json.loads(asked.body)}))
            say(200)(handler)
            return
        say(200, self._document(path.removeprefix(V1)))(handler)

    def write(self, *names: str, **more: Any) -> None:
        self.history.append(("person", "its disk fails", {"decommissioningNodes": [*names], **more}))

    @property
    def config(self) -> dict[str, Any]:
        return self.history[-1][2]

    @property
    def listed(self) -> list[str]:
        return list(self.config["decommissioningNodes"])

    def _document(self, path: str) -> Any:
        return {
            "/config": self.config,
            "/config/history": [
                {"auditInfo": {"author": author, "comment": comment}, "payload": json.dumps(config)}
                for author, comment, config in reversed(self.history)
            ],
            "/servers": [
                {"host": name, "type": "historical", "tier": self.tiers[name], "currSize": size, "maxSize": 100}
                for name, size in self.sizes.items()
            ],
            "/loadqueue": {name: {"segmentsToLoad": self.queued, "segmentsToDrop": 0} for name in self.sizes},
            "/loadstatus": {"pages": self.unavailable},
            "/rules": {"_default": [{"type": "loadForever", "tieredReplicants": {"hot": self.rule}}]},
            "/druid/v2/sql": self.rows,
        }[path]


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def druid(server: Server) -> Coordinator:
    druid = Coordinator()
    server.routes = druid  # type: ignore[assignment]
    return druid


@pytest.fixture
def run(fake_time: FakeTime, server: Server, druid: Coordinator, clock: FakeClock) -> Run:
    client = fake_time.client(server.url, retry_timeout=0)
    return lambda check_mode=False, **params: ensure_historical(client, {**PARAMS, **params}, check_mode=check_mode)


def test_decommissioned_once_and_returned(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    clock.at_each_second = lambda seconds: druid.sizes.update({A: 0, B: 70}) if seconds >= 50 else None
    assert run(check_mode=True)["changed"]
    assert druid.writes == 0
    result = run(comment="its disk is replaced")
    assert (result["changed"], result["size"], result["tier"]) == (True, 0, "hot")
    # two readings
    assert clock.seconds >= 60
    # the entry of another client stays
    assert druid.listed == [A, "z:8083"]
    again = run()
    assert (again["changed"], again["decommissioned_by"]) == (
        False,
        {"author": "druidops", "comment": "its disk is replaced"},
    )
    assert run(state="active")["changed"]
    assert not run(state="active")["changed"]
    # one that was removed has nothing to return from
    assert not run(server="u:8083", state="active")["changed"]
    assert (druid.listed, druid.writes) == (["z:8083"], 2)


def test_entry_of_another_client_is_known_as_such(druid: Coordinator, run: Run) -> None:
    druid.write(A)
    druid.write(A, "y:8083")
    result = run(state="active", check_mode=True)
    assert result["decommissioned_by"] == {"author": "person", "comment": "its disk fails"}
    assert run(server="y", state="active")["changed"]
    assert druid.listed == [A]


# (what differs, the error)
REFUSED: list[tuple[Callable[[Coordinator], Any], str]] = [
    (lambda druid: druid.sizes.pop(B), r"is the only one of tier hot that is active\. Its segments have no place"),
    (lambda druid: druid.tiers.update({B: "cold"}), "is the only one of tier hot"),
    # another play
    (lambda druid: druid.write(B), f"that is active: {B} are decommissioned, too"),
    (lambda druid: druid.sizes.update({B: 50}), "tier hot has 110 bytes of segments, and the Historicals that stay"),
    (lambda druid: druid.sizes.pop(A), r"Druid knows no such historical, but these: b:8083, z:8083\."),
]


@pytest.mark.parametrize(("differ", "error"), REFUSED)
def test_segments_without_a_place(
    druid: Coordinator, run: Run, differ: Callable[[Coordinator], Any], error: str
) -> None:
    differ(druid)
    for check_mode in (True, False):
        with pytest.raises(PartialFailure, match=error):
            run(check_mode=check_mode)
    assert druid.writes == 0


def test_empty_one_without_another(druid: Coordinator, run: Run) -> None:
    druid.sizes = {A: 0}
    assert run()["changed"]


def test_segments_that_all_others_have_cannot_be_moved(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    """Two replicas, and one Historical that stays: it has as many bytes as room, and no segment is moved."""
    druid.rule, druid.sizes, druid.rows = 2, {A: 60, B: 60}, [{"known": 60, "replicated": 60}]
    result = run()
    assert (result["size"], clock.seconds < 60) == (0, True)


def test_one_that_is_never_empty_stays_decommissioned(druid: Coordinator, run: Run) -> None:
    druid.write("z:8083", pauseCoordination=True)
    with pytest.raises(PartialFailure, match=r"to be empty\. It still has 60 bytes") as error:
        run(wait_timeout=3.0)
    assert "its dynamic configuration has pauseCoordination: true: change that" in str(error.value)
    assert "It stays in decommissioningNodes, and serves its segments. Run the module again" in str(error.value)
    assert druid.listed == [A, "z:8083"]


@pytest.mark.parametrize(("unavailable", "seconds"), [(0, 10), (3, 120)])
def test_how_often_it_has_to_be_empty(
    druid: Coordinator, run: Run, clock: FakeClock, unavailable: int, seconds: int
) -> None:
    """A Coordinator that has not read a server yet reports it as empty."""
    druid.sizes[A], druid.unavailable = 0, unavailable
    run()
    assert seconds <= clock.seconds < seconds + 5


def test_coordinator_that_has_lost_a_server(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    sizes = dict(druid.sizes)

    def change(seconds: float) -> None:
        druid.sizes = {B: 10} if seconds < 40 else sizes if seconds < 60 else {**sizes, A: 0}

    clock.at_each_second = change
    run()
    assert clock.seconds >= 70


def test_another_client_that_decommissions_the_last_one(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    """Two plays at once: each has seen the other Historical."""
    clock.at_each_second = lambda seconds: druid.write(A, B)
    with pytest.raises(PartialFailure, match="No other one of tier hot is active"):
        run(wait_timeout=3.0)


def test_another_client_that_removes_it_meanwhile(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    clock.at_each_second = lambda seconds: druid.write("z:8083") if seconds >= 30 else None
    with pytest.raises(PartialFailure, match="is not in decommissioningNodes any more"):
        run()
    assert druid.listed == ["z:8083"]


# (what a Broker answers, the error or an empty text)
ALONE: list[tuple[list[dict[str, Any]], str]] = [
    ([{"datasource": "pages", "known": 60, "number": 0}], ""),
    ([{"datasource": "pages", "known": 60, "number": 2}], r"no other server has .* \(2 of datasource pages\)"),
    # a datasource that the user may not read, or a Broker that has just restarted
    ([{"datasource": "pages", "known": 59, "number": 0}], "a Broker reports 59 bytes of its segments, of 60"),
    ([], "a Broker reports 0 bytes"),
]


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize(("rows", "error"), ALONE)
def test_redundant(druid: Coordinator, run: Run, rows: list[dict[str, Any]], error: str, wait: bool) -> None:
    druid.rows = rows
    for check_mode in (True, False):
        if not error:
            assert not run(state="redundant", wait=wait, check_mode=check_mode)["changed"]
            continue
        with pytest.raises(PartialFailure, match=f"(?i){error}") as caught:
            run(state="redundant", wait_timeout=3.0, wait=wait, check_mode=check_mode)
        assert "move its segments by state: decommissioned" in str(caught.value)
    assert druid.writes == 0


def test_redundant_after_a_while(druid: Coordinator, run: Run, clock: FakeClock) -> None:
    druid.rows = [{"datasource": "pages", "known": 60, "number": 2}]
    clock.at_each_second = lambda seconds: druid.rows[0].update(number=0) if seconds >= 20 else None
    run(state="redundant")
    assert clock.seconds >= 20


def test_several(druid: Coordinator, run: Run) -> None:
    """The second one would be the last of its tier."""
    druid.sizes |= {C: 0}
    druid.tiers[C] = "hot"
    druid.sizes[A] = 0
    items = [{"server": name, "state": state} for name, state in ((A, None), (B, None), (C, "active"), ("u", None))]
    with pytest.raises(PartialFailure) as error:
        run(server=None, historicals=items)
    entries = error.value.result["historicals"]
    assert [each.get("failed", False) for each in entries] == [False, True, False, True]
    assert druid.listed == [A, B, "z:8083"]
