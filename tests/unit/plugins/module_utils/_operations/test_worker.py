# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Workers that are disabled, by an Overlord whose answers show what can go wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.worker import ensure_worker
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

V1 = "/druid/indexer/v1"
W, V = "w.example.com:8091", "[fd00::1]:8091"
PARAMS: dict[str, Any] = {
    "server": W,
    "state": "disabled",
    "hand_off": True,
    "workers": None,
    "wait": True,
    "wait_timeout": 100.0,
}


class Overlord:
    """The running tasks of workers by name; a task ``pages_1`` reads task group 1 of the supervisor pages."""

    def __init__(self) -> None:
        self.tasks: dict[str, list[str]] = {W: [], V: []}
        self.disabled: set[str] = set()
        self.publishing: set[str] = set()
        self.version = "33.0.0"
        self.instead: dict[str, Answer] = {}
        self.writes: list[tuple[str, Any]] = []

    def get(self, path: str, _default: Any) -> list[Answer]:
        return [self.instead.get(path) or (lambda handler: self._respond(path, handler))]

    def _respond(self, path: str, handler: Handler) -> None:
        if handler.command == "POST":
            body = handler.server.asked[-1].body
            self.writes.append((path.removeprefix(V1), json.loads(body) if body else None))
        say(200, self._document(path.removeprefix(V1)))(handler)

    def _document(self, path: str) -> Any:
        if match := re.fullmatch(r"/worker/(.*)/(enable|disable)", path):
            name = match[1].replace("%5B", "[").replace("%5D", "]").replace("%3A", ":")
            (self.disabled.add if match[2] == "disable" else self.disabled.discard)(name)
            return {name: match[2]}
        if match := re.fullmatch(r"/task/(\w+)_(\d)", path):
            return {"payload": {"dataSource": match[1], "ioConfig": {"taskGroupId": int(match[2])}}}
        if path.endswith("/handoff"):
            return None
        running = [task for tasks in self.tasks.values() for task in tasks]
        return {
            "/workers": [
                {"worker": {"host": name, "capacity": 2, "version": "" if name in self.disabled else "0"}}
                | {"runningTasks": tasks}
                for name, tasks in self.tasks.items()
            ],
            "/runningTasks": [{"id": task, "type": "index_kafka" if "_" in task else "noop"} for task in running],
            "/supervisor": [{"id": "pages", "state": "RUNNING"}],
            "/supervisor/pages/status": {
                "id": "pages",
                "payload": {"activeTasks": [{"id": task} for task in running if task not in self.publishing]},
            },
            "/status": {"version": self.version},
        }[path]

    @property
    def paths(self) -> list[str]:
        return [path for path, _body in self.writes]


DISABLE_W, ENABLE_W = (f"/worker/w.example.com%3A8091/{verb}" for verb in ("disable", "enable"))
HANDOFF = "/supervisor/pages/taskGroups/handoff"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def overlord(server: Server) -> Overlord:
    overlord = Overlord()
    server.routes = overlord  # type: ignore[assignment]
    return overlord


@pytest.fixture
def run(fake_time: FakeTime, server: Server, overlord: Overlord, clock: FakeClock) -> Callable[..., dict[str, Any]]:
    client: DruidClient = fake_time.client(server.url, retry_timeout=0)
    return lambda check_mode=False, **params: ensure_worker(client, {**PARAMS, **params}, check_mode=check_mode)


Run = Callable[..., dict[str, Any]]


def test_disabled_once_and_enabled_again(overlord: Overlord, run: Run, clock: FakeClock) -> None:
    assert run(check_mode=True)["changed"]
    assert overlord.writes == []
    result = run()
    assert (result["changed"], result["server"], result["status"]["enabled"]) == (True, W, False)
    # a task that was just assigned may not be shown yet
    assert clock.seconds >= 10
    assert not run()["changed"]
    assert run(state="enabled")["changed"]
    assert not run(state="enabled")["changed"]
    assert overlord.paths == [DISABLE_W, ENABLE_W]


def test_waits_for_tasks_and_requests_their_handoff(overlord: Overlord, run: Run, clock: FakeClock) -> None:
    overlord.tasks[W] = ["noop", "pages_1", "pages_0"]

    def proceed(seconds: float) -> None:
        # the first request had no effect
        if seconds >= 65:
            overlord.publishing |= {"pages_0", "pages_1"}
        overlord.tasks[W] = [] if seconds >= 75 else overlord.tasks[W]

    clock.at_each_second = proceed
    result = run()
    assert overlord.writes == [(DISABLE_W, None), *[(HANDOFF, {"taskGroupIds": [0, 1]})] * 2]
    assert (result["tasks"], result["status"]["task_groups"], clock.seconds >= 85) == ([], {}, True)


def test_what_another_worker_reads_already_is_not_handed_off(overlord: Overlord, run: Run, clock: FakeClock) -> None:
    overlord.tasks[W], overlord.publishing = ["pages_0"], {"pages_0"}
    clock.at_each_second = lambda seconds: overlord.tasks[W].clear() if seconds >= 30 else None
    run()
    assert overlord.paths == [DISABLE_W]


@pytest.mark.parametrize("hand_off", [True, False])
def test_without_handoff(overlord: Overlord, run: Run, hand_off: bool) -> None:
    """A Druid before 31, or one that is not asked to."""
    overlord.tasks[W], overlord.version = ["pages_0"], "27.0.0" if hand_off else "33.0.0"
    result = run(wait=False, hand_off=hand_off)
    assert overlord.paths == [DISABLE_W]
    assert ["cannot hand its task groups off" in each for each in result["warnings"]] == [True] * hand_off


def test_permission_that_is_missing_is_a_warning(overlord: Overlord, run: Run) -> None:
    overlord.tasks[W] = ["pages_0"]
    overlord.instead[f"{V1}/supervisor/pages/status"] = say(403, {"Access-Check-Result": "Unauthorized"})
    [warning] = run(wait=False)["warnings"]
    assert "not handed off" in warning
    assert "needs the permission READ on DATASOURCE, that of supervisor pages" in warning


def test_worker_that_is_never_idle_stays_disabled(overlord: Overlord, run: Run) -> None:
    overlord.tasks[W] = ["noop"]
    with pytest.raises(
        PartialFailure, match=r"Timed out after 100 s .* be idle\. It still runs noop\. It stays"
    ) as error:
        run()
    assert (error.value.result["changed"], overlord.disabled) == (True, {W})
    # the next run waits on
    overlord.tasks[W] = []
    assert not run()["changed"]


def test_worker_that_is_enabled_meanwhile(overlord: Overlord, run: Run, clock: FakeClock) -> None:
    """Its process has restarted, or another play is done with it."""
    overlord.tasks[W] = ["noop"]
    clock.at_each_second = lambda seconds: overlord.disabled.clear() if seconds >= 30 else None
    with pytest.raises(PartialFailure, match="was enabled during the wait"):
        run()
    assert overlord.paths == [DISABLE_W]


@pytest.mark.parametrize("what", ["unknown", "leaderless"])
def test_overlord_that_changes(overlord: Overlord, run: Run, clock: FakeClock, what: str) -> None:
    """A new leader does not know the worker yet, or there is none: neither shows that it is idle."""

    def change(seconds: float) -> None:
        is_over = seconds >= 40
        if what == "unknown":
            overlord.tasks = {V: []} if not is_over else {W: [], V: []}
        elif not is_over:
            overlord.instead[f"{V1}/workers"] = say(503)
        else:
            overlord.instead.clear()
            overlord.tasks[W] = []

    overlord.tasks[W] = ["noop"]
    clock.at_each_second = change
    assert run(wait_timeout=100.0)["changed"]
    assert clock.seconds >= 50


def test_overlord_that_does_not_show_it(overlord: Overlord, run: Run) -> None:
    overlord.instead[f"{V1}/worker/w.example.com%3A8091/disable"] = say(200, {W: "disabled"})
    with pytest.raises(PartialFailure, match="the Overlord does not show it after 30 s"):
        run()


def test_all_are_disabled_before_the_first_is_waited_for(overlord: Overlord, run: Run, clock: FakeClock) -> None:
    overlord.tasks = {W: ["noop"], V: ["noop"]}
    clock.at_each_second = lambda seconds: overlord.tasks.update({W: []}) if seconds >= 20 else None
    workers = [{"server": each, "hand_off": True, "state": None} for each in (W, "FD00::0:1", "x")]
    with pytest.raises(PartialFailure) as error:
        run(server=None, workers=workers)
    first, second, third = error.value.result["workers"]
    assert (first.get("failed"), second["server"], second["failed"], third["failed"]) == (None, V, True, True)
    assert len(overlord.paths) == 2
    assert clock.seconds < 110


# (server, the error)
NAMES: list[tuple[str | None, str]] = [
    ("x:8091", rf"server \('x:8091'\): Druid knows no such worker, but these: {re.escape(V)}, {re.escape(W)}\."),
    ("w.example.com:8090", "knows no such worker"),
    ("u", r"there are 2 workers on this host\. Set one: u:8091, u:8291"),
    (None, "server: set host and port of the worker"),
    ("", "server: set host and port of the worker"),
]


@pytest.mark.parametrize(("name", "error"), NAMES)
def test_name_that_is_not_valid(overlord: Overlord, run: Run, name: str | None, error: str) -> None:
    if name == "u":
        overlord.tasks |= {"u:8091": [], "u:8291": []}
    with pytest.raises(PartialFailure, match=error):
        run(server=name)
    assert overlord.writes == []


@pytest.mark.parametrize("name", ["W.Example.com", "w.example.com:8091", " w.example.com "])
def test_name_of_the_host(run: Run, name: str) -> None:
    assert run(server=name)["server"] == W


def test_the_same_worker_twice(run: Run) -> None:
    items = [{"server": each, "hand_off": True, "state": None} for each in (W, "w.example.com")]
    with pytest.raises(PartialFailure, match=r"workers\[1\]: server .*duplicate server"):
        run(server=None, workers=items)
