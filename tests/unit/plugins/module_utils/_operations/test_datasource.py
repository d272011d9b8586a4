# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Segments that others add meanwhile, tasks that fail or wait, and releases that lack a part of the API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.request import is_read
from ansible_collections.druidops.druid.plugins.module_utils._operations.datasource import ensure_datasource
from ansible_collections.druidops.druid.plugins.module_utils._operations.segment_info import segment_info
from ansible_collections.druidops.druid.plugins.module_utils._resources import datasource as _resource
from ansible_collections.druidops.druid.plugins.module_utils._resources import segments as _segments
from ansible_collections.druidops.druid.plugins.module_utils._resources import wait
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Server,
    be_silent,
    say,
    serving,
)

__all__ = ["fake_time"]

COORDINATOR, OVERLORD = "/druid/coordinator/v1", "/druid/indexer/v1"
PARAMS: dict[str, Any] = {
    **dict.fromkeys(("datasource", "interval", "state", "datasources", "author", "comment")),
    "used_segments": "fail",
    "wait": False,
    "wait_timeout": 5.0,
}
DAYS = [f"2020-01-0{day}T00:00:00.000Z" for day in range(1, 5)]
KILL = {"type": "kill", "statusCode": "SUCCESS"}


def days(*numbers: int, version: int = 1) -> set[str]:
    """Return the ids of daily segments of the datasource a."""
    return {f"a_{DAYS[number - 1]}_{DAYS[number]}_v{version}" for number in numbers}


class Druid:
    """Its segments of the datasource a, and its supervisors and tasks.

    ``lists_unused``, ``wraps_segments``, ``marks_at_overlord``: as from Druid 29, 30 and 32 on. ``is_loaded``: up to
    31, whether a server has loaded a segment. ``outcome``: the status of a task of type kill, which deletes metadata
    even if it then fails. ``meanwhile``: what happens when such a task has ended. ``is_slow``: the Overlord does not
    respond to marks.
    """

    def __init__(self, server: Server, fake_time: FakeTime) -> None:
        self.used: set[str] = set()
        self.unused: set[str] = set()
        self.supervisors: list[dict[str, Any]] | None = []
        self.tasks: dict[str, dict[str, Any]] = {}
        self.kills: list[dict[str, Any]] = []
        self.lists_unused = self.marks_at_overlord = self.wraps_segments = self.is_loaded = True
        self.is_slow = False
        self.outcome: dict[str, Any] = {"statusCode": "SUCCESS"}
        self.meanwhile: Callable[[], Any] = dict
        self.status_of_submission = 200
        self._server, self.client, self.url = server, fake_time.client(server.url, retry_timeout=0), server.url
        self.fake_time = fake_time
        leads = [say(200, {"leader": True})]
        server.routes = {f"{each}/isLeader": leads for each in (COORDINATOR, OVERLORD)}
        server.answers = [self._answer]

    def ensure(self, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result of the module, and verify that it reports a change exactly if it sends one."""
        self._server.asked.clear()
        params = params if "datasources" in params else {"datasource": "a", **params}
        result = ensure_datasource(self.client, {**PARAMS, **params}, check_mode=check_mode)
        assert bool(self.writes) == (result["changed"] and not check_mode)
        return result

    @property
    def writes(self) -> list[str]:
        return [each for each in self._server.paths if not is_read(*each.split(" ", 1))]

    def _answer(self, handler: Any) -> None:
        asked = self._server.asked[-1]
        url = urlsplit(asked.path)
        path, body = unquote(url.path), json.loads(asked.body or b"null")
        if self.is_slow and path.startswith(f"{OVERLORD}/datasources/a"):
            be_silent(handler)
            return
        say(*self._response(asked.method, path, parse_qs(url.query), body))(handler)

    def _response(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        if path == f"{COORDINATOR}/metadata/datasources":
            return 200, ["a"] if self.used | self.unused else []
        if path.endswith("/segments"):
            return 200, self._within(self.used, body[0], entirely=False)
        if path.endswith("/unusedSegments"):
            return (200, self._page(query)) if self.lists_unused else (404, b"")
        if path.startswith(f"{OVERLORD}/datasources") and not self.marks_at_overlord:
            return 404, b""
        if path == f"{OVERLORD}/datasources":
            return 405, b""
        if "/datasources/a" in path:
            if path.startswith(COORDINATOR) and "/mark" in path and not self.is_loaded:
                return 204, b""
            return 200, {"numChangedSegments": self._mark(method, path, body)}
        return self._of_the_overlord(method, path, body)

    def _of_the_overlord(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path == f"{OVERLORD}/supervisor":
            return (503, b"") if self.supervisors is None else (200, self.supervisors)
        if path == f"{OVERLORD}/tasks":
            return 200, [{"id": name, **task} for name, task in self.tasks.items()]
        if method == "POST" and path == f"{OVERLORD}/task":
            if self.status_of_submission != 200:
                return self.status_of_submission, {"error": "Task queue is full"}
            self.kills.append(body)
            self.tasks[body["id"]] = {**KILL, **self.outcome}
            return 200, {"task": body["id"]}
        name = path.split("/")[-2]
        if name not in self.tasks:
            return 404, f"Cannot find any task with id: [{name}]"
        if self.tasks[name]["statusCode"] != "RUNNING":
            self.unused.difference_update(self._within(self.unused, self.kills[-1]["interval"]))
            self.meanwhile()
        return 200, {"status": {"id": name, **self.tasks[name]}}

    def _page(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        after = query.get("lastSegmentId", [""])[0]
        found = [each for each in self._within(self.unused, query.get("interval", [""])[0]) if each > after]
        return [self._described(each) for each in found[: int(query["limit"][0])]]

    def _described(self, identifier: str) -> dict[str, Any]:
        _name, start, end, version = identifier.split("_")
        segment = {"identifier": identifier, "interval": f"{start}/{end}", "version": version, "size": 10}
        return {"dataSegment": segment} if self.wraps_segments else segment

    @staticmethod
    def _within(segments: set[str], interval: str, *, entirely: bool = True) -> list[str]:
        start, _underscore, end = interval.replace("/", "_").partition("_")
        parts = ((each, each.split("_")) for each in sorted(segments))
        if not interval or start.startswith("-"):
            return sorted(segments)
        if not entirely:
            return [each for each, part in parts if part[1] < end and start < part[2]]
        return [each for each, part in parts if start <= part[1] and part[2] <= end]

    def _mark(self, method: str, path: str, body: Any) -> int:
        is_use = path.endswith("markUsed") or (method == "POST" and path.endswith("/a"))
        source, target = (self.unused, self.used) if is_use else (self.used, self.unused)
        found = self._within(source, (body or {}).get("interval", ""))
        if is_use:
            newest = {each.rpartition("_")[0]: each for each in sorted(self.used | self.unused)}
            found = [each for each in found if each in newest.values()]
        source.difference_update(found)
        target.update(found)
        return len(found)


@pytest.fixture
def druid(fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Druid]:
    monkeypatch.setattr(wait, "INTERVAL", 0.001)
    with serving() as server:
        yield Druid(server, fake_time)


def failure_of(druid: Druid, **params: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(PartialFailure) as error:
        druid.ensure(**params)
    return str(error.value), error.value.result


@pytest.mark.parametrize("state", [None, "used"])
def test_state_is_required_and_used_needs_a_segment(druid: Druid, state: str | None) -> None:
    message, result = failure_of(druid, state=state)
    assert ("set used, unused or deleted" if state is None else "neither used nor unused") in message
    assert not result["changed"]


@pytest.mark.parametrize("state", ["unused", "deleted"])
def test_datasource_that_does_not_exist_is_unused_and_deleted(druid: Druid, state: str) -> None:
    assert not druid.ensure(state=state)["changed"]


@pytest.mark.parametrize("interval", [None, "2020-01-01/P2D"])
def test_check_mode_predicts_what_the_run_does(druid: Druid, interval: str | None) -> None:
    druid.used = days(1, 2, 3)
    for state in ("unused", "used"):
        predicted = druid.ensure(state=state, interval=interval, check_mode=True)
        done = druid.ensure(state=state, interval=interval)
        assert predicted == done
        assert done["changed"]
        assert not druid.ensure(state=state, interval=interval)["changed"]
    assert druid.used == days(1, 2, 3)


def test_only_segments_entirely_in_the_interval(druid: Druid) -> None:
    druid.used = days(1, 2)
    result = druid.ensure(state="unused", interval="2020-01-01/2020-01-02T12")
    assert "1 used segments lie only partly in the interval" in result["warnings"][0]
    assert druid.used == days(2)


def test_same_datasource_with_several_intervals(druid: Druid) -> None:
    druid.used = days(1, 2, 3)
    items = [{"datasource": "a", "used_segments": "fail", "interval": f"2020-01-0{day}/P1D"} for day in (1, 3)]
    result = druid.ensure(state="unused", datasources=items)
    assert [each["changed"] for each in result["datasources"]] == [True, True]
    assert "duplicate" in failure_of(druid, state="unused", datasources=[items[0]] * 2)[0]
    assert druid.used == days(2)


# Deletion.


def test_used_segments_are_not_deleted_by_default(druid: Druid) -> None:
    druid.used, druid.unused = days(1, 2), days(3)
    for check_mode in (True, False):
        message, _result = failure_of(druid, state="deleted", check_mode=check_mode)
        assert "has 2 used segments, so nothing is deleted" in message
    assert (druid.writes, druid.kills) == ([], [])


def test_only_unused_segments_are_deleted_and_only_their_time_is_locked(druid: Druid) -> None:
    druid.used, druid.unused = days(3), days(1, 2)
    result = druid.ensure(state="deleted", used_segments="keep", wait=True)
    assert result["segments"] == {"used": 1, "unused": 0}
    assert [kill["interval"] for kill in druid.kills] == [f"{DAYS[0]}/{DAYS[2]}"]
    assert not druid.ensure(state="deleted", used_segments="keep", wait=True)["changed"]


def test_all_segments_are_deleted_if_that_is_specified(druid: Druid) -> None:
    druid.used, druid.unused = days(1, 2), days(3)
    result = druid.ensure(state="deleted", used_segments="delete", wait=True)
    assert result["segments"] == {"used": 0, "unused": 0}
    assert druid.writes == [f"DELETE {OVERLORD}/datasources/a", f"POST {OVERLORD}/task"]


def test_task_of_an_earlier_run_is_waited_for(druid: Druid) -> None:
    druid.unused, druid.outcome = days(1), {"statusCode": "RUNNING", "runnerStatusCode": "RUNNING"}
    first = druid.ensure(state="deleted")
    assert first["changed"]
    message, result = failure_of(druid, state="deleted", wait=True, wait_timeout=0.0)
    assert "Timed out after 0 s" in message
    assert (result["changed"], result["task"]) == (False, first["task"])
    druid.tasks[first["task"]]["statusCode"] = "SUCCESS"
    druid.unused.clear()
    assert not druid.ensure(state="deleted", wait=True)["changed"]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ({"statusCode": "FAILED", "errorMsg": "no space"}, "failed: no space. Druid deletes segments"),
        ({"statusCode": "RUNNING", "runnerStatusCode": "WAITING"}, "another task has locked a part of the interval"),
    ],
)
def test_task_that_fails_or_waits(druid: Druid, outcome: dict[str, Any], expected: str) -> None:
    druid.unused, druid.outcome = days(1), outcome
    message, result = failure_of(druid, state="deleted", wait=True, wait_timeout=0.0)
    assert expected in message
    assert result["changed"]


def test_failed_task_of_an_earlier_run(druid: Druid) -> None:
    """The metadata is deleted before the files, so that nothing is left to delete when files are left."""
    druid.unused, druid.outcome = days(1), {"statusCode": "FAILED", "errorMsg": "Access Denied"}
    message, _result = failure_of(druid, state="deleted", wait=True)
    assert "files of segments that are not listed anymore may be left in deep storage" in message
    assert "Run the module again" not in message
    again = druid.ensure(state="deleted", wait=True)
    assert not again["changed"]
    assert "has failed: Access Denied. Druid deletes segments from the metadata before" in again["warnings"][0]


def test_segments_that_become_unused_while_used_ones_are_kept(druid: Druid) -> None:
    """As compaction does every night."""
    druid.used, druid.unused, druid.meanwhile = days(2), days(1), lambda: druid.unused.update(days(3))
    result = druid.ensure(state="deleted", used_segments="keep", wait=True)
    assert result["segments"] == {"used": 1, "unused": 1}


def test_segments_that_are_added_during_the_deletion(druid: Druid) -> None:
    druid.unused, druid.meanwhile = days(1), lambda: druid.used.update(days(2))
    message, result = failure_of(druid, state="deleted", wait=True)
    assert "1 segments are used and 0 are unused" in message
    assert result["segments"] == {"used": 1, "unused": 0}


def test_segments_that_are_only_marked(druid: Druid) -> None:
    """The task is not accepted after they were marked as unused, which is a change."""
    druid.used, druid.status_of_submission = days(1), 429
    message, result = failure_of(druid, state="deleted", used_segments="delete")
    assert "were marked as unused, but not deleted" in message
    assert result["changed"]


# What adds segments.

KAFKA = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "a"}}}


def supervisor(identifier: str, **spec: Any) -> dict[str, Any]:
    return {"id": identifier, "state": "RUNNING", "spec": {**KAFKA, "suspended": False, **spec}}


def test_supervisor_and_task_that_add_segments(druid: Druid) -> None:
    druid.used = days(1)
    druid.supervisors = [
        supervisor("kds"),
        supervisor("suspended", suspended=True),
        supervisor("other", spec={"dataSchema": {"dataSource": "b"}}),
        supervisor("autocompact__a", type="autocompact", spec={"dataSource": "a"}),
    ]
    druid.tasks = {"compact_a": {"type": "compact", "statusCode": "RUNNING"}, "old": {**KILL, "type": "index"}}
    message, _result = failure_of(druid, state="deleted", used_segments="delete")
    assert "not deleted: segments may be added by supervisor 'kds', task 'compact_a'." in message
    assert druid.writes == []
    assert "added by supervisor 'kds', task 'compact_a'." in druid.ensure(state="unused")["warnings"][0]
    # what is kept may grow
    druid.used, druid.unused = days(1), days(2)
    assert druid.ensure(state="deleted", used_segments="keep")["warnings"] == []


def test_what_may_add_segments_to_an_interval_that_has_ended(druid: Druid) -> None:
    """Druid does not list the intervals of tasks, such as a compaction, and events may be late."""
    druid.used, druid.supervisors = days(1), [supervisor("kds")]
    druid.tasks = {f"compact_{number}": {"type": "compact", "statusCode": "RUNNING"} for number in range(6)}
    result = druid.ensure(state="deleted", used_segments="delete", interval="2020/P1Y")
    assert "may be added by supervisor 'kds', task 'compact_0', " in result["warnings"][0]
    assert "task 'compact_3' and 2 others." in result["warnings"][0]


def test_without_an_overlord_it_is_not_known_what_adds_segments(druid: Druid) -> None:
    druid.used, druid.supervisors, druid.marks_at_overlord = days(1), None, False
    assert "503" in failure_of(druid, state="deleted", used_segments="delete")[0]
    assert "It is not known" in druid.ensure(state="unused")["warnings"][0]
    assert druid.ensure(state="unused")["warnings"] == []


# Other releases.


def test_before_29_unused_segments_are_only_known_without_used_ones(druid: Druid) -> None:
    druid.lists_unused = druid.marks_at_overlord = False
    druid.used = days(1, 2)
    assert druid.ensure(state="unused")["changed"]
    assert druid.writes == [f"DELETE {COORDINATOR}/datasources/a"]
    assert druid.ensure(state="used", check_mode=True)["segments"] == {"used": 1, "unused": 0}
    assert druid.ensure(state="used")["segments"] == {"used": 2, "unused": 0}
    assert "not known" in druid.ensure(state="used")["warnings"][0]
    assert "Omit the interval" in failure_of(druid, state="used", interval="2020/P1Y")[0]
    assert "module task" in failure_of(druid, state="deleted", used_segments="keep")[0]
    message, _result = failure_of(druid, state="deleted", interval="2020/P1Y")
    assert "Upgrade Druid, or use the module task, with type: kill and an interval" in message
    assert "Omit" not in message
    assert druid.ensure(state="deleted", used_segments="delete", wait=True)["segments"] == {"used": 0, "unused": 0}


@pytest.mark.parametrize(("state", "remedy"), [("used", "Omit the interval"), ("unused", "Wait until they")])
def test_up_to_31_an_interval_is_only_marked_while_segments_are_loaded(druid: Druid, state: str, remedy: str) -> None:
    """Only more data in use is recommended, never less."""
    druid.marks_at_overlord = druid.is_loaded = False
    druid.used, druid.unused = days(1), days(2)
    message, result = failure_of(druid, state=state, interval="2020/P1Y")
    assert remedy in message
    assert ("Omit" in message) is (state == "used")
    assert not result["changed"]


# Limits.


def test_segments_that_newer_unused_ones_overshadow(druid: Druid) -> None:
    """Druid does not use a segment that a newer one overshadows, even if that one is unused as well."""
    druid.unused = days(1) | days(1, 2, version=2)
    predicted = druid.ensure(state="used", check_mode=True)
    assert predicted == druid.ensure(state="used")
    assert predicted["segments"] == {"used": 2, "unused": 0}
    assert druid.unused == days(1)
    assert not druid.ensure(state="used")["changed"]


def test_more_unused_segments_than_are_read(druid: Druid, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that deletes them locks an interval that is specified, and never all of time while others are in use."""
    monkeypatch.setattr(_resource, "MAX_COUNT", 2)
    druid.unused = days(1, 2, 3)
    for params in ({"state": "used"}, {"state": "deleted", "used_segments": "keep"}):
        message, _result = failure_of(druid, **params)
        assert "has more than 2 unused segments. Set an interval that has fewer." in message
    result = druid.ensure(state="deleted", used_segments="keep", interval="2020/P1Y", check_mode=True)
    assert [each["before"]["unused"] for each in result["diff"]] == [2]
    result = druid.ensure(state="deleted", used_segments="keep", interval="2020/P1Y", wait=True)
    assert (result["segments"]["unused"], druid.unused) == (0, set())
    assert druid.kills[0]["interval"] == "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z"


def test_more_used_segments_than_a_response_has(druid: Druid) -> None:
    druid.used = days(1, 2, 3)
    druid.client = druid.fake_time.client(druid.url, retry_timeout=0, max_response_bytes=100)
    assert "Set an interval that has fewer segments" in failure_of(druid, state="unused")[0]


def test_mark_that_takes_longer_than_the_timeout(druid: Druid, monkeypatch: pytest.MonkeyPatch) -> None:
    """Druid may still apply it, so it is never reported as unchanged."""
    monkeypatch.setattr(_resource.Datasource, "settle_timeout", 0.01)
    druid.used, druid.is_slow = days(1), True
    druid.client = druid.fake_time.client(druid.url, retry_timeout=0, read_timeout=0.5)
    message, result = failure_of(druid, state="unused")
    assert "not changed yet" in message
    assert result["changed"]


def test_items_that_contradict_each_other(druid: Druid) -> None:
    """Nothing is sent for either of them, as each run would change both."""
    druid.used = days(1, 2, 3)
    month, day = {"interval": "2020-01/P1M", "state": "unused"}, {"interval": "2020-01-02/P1D", "state": "used"}
    items = [{"datasource": "a", "used_segments": "fail", **each} for each in (month, day)]
    message, _result = failure_of(druid, datasources=items)
    assert "datasources[0]: state ('unused'): the interval overlaps with that of datasources[1]" in message
    assert "datasources[1]: state ('used'): the interval overlaps with that of datasources[0]" in message
    assert druid.writes == []


# Information.

INFO: dict[str, Any] = {"datasource": "a", "interval": None, "used": False, "by": "datasource", "limit": 2}


@pytest.mark.parametrize("wraps_segments", [True, False])
def test_unused_segments_are_read_by_pages_up_to_a_limit(
    druid: Druid, monkeypatch: pytest.MonkeyPatch, wraps_segments: bool
) -> None:
    monkeypatch.setattr(_segments, "PAGE", 1)
    druid.unused, druid.wraps_segments = days(1, 2, 3), wraps_segments
    total = segment_info(druid.client, INFO)
    assert [(each["count"], each["size"], each["rows"]) for each in total["segments"]] == [(3, 30, None)]
    limited = segment_info(druid.client, {**INFO, "by": "interval"})
    assert [each["interval"] for each in limited["segments"]] == [f"{DAYS[0]}/{DAYS[1]}", f"{DAYS[1]}/{DAYS[2]}"]
    assert "There are more entries than 2" in limited["warnings"][0]
    assert druid.ensure(state="used", check_mode=True)["segments"] == {"used": 3, "unused": 0}


@pytest.mark.parametrize(
    ("params", "expected"),
    [({"datasource": None}, "datasource: "), ({"limit": 0}, "limit "), ({"interval": "2020"}, "interval ")],
)
def test_options_that_select_nothing(druid: Druid, params: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput, match=expected):
        segment_info(druid.client, {**INFO, **params})
