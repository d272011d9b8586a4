# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answers to the questions about Druid, and writes, also if others write at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Forbidden,
    NotFound,
    ServerError,
    Unauthorized,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import (
    ATTEMPTS,
    addition,
    change_list,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import ListChange, entries_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_CONFIG,
    LOAD_QUEUES,
    LOAD_STATUS,
    OVERLORD_LEADER,
    RUNNING_TASKS,
    SEGMENTS,
    SERVERS,
    SUPERVISORS,
    WORKERS,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import Marker, marked_comment
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import (
    ask,
    fetch_change,
    post,
    write_change,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import COMPACTION
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import error_finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from hypothesis import given
from hypothesis import strategies as st


class Druid:
    """A client whose responses are documents or errors by path; it records the requests."""

    def __init__(self, **responses: Any) -> None:
        self.responses = responses
        self.requests: list[tuple[str, Any]] = []

    def get(self, path: str, params: Any = None) -> Any:
        return self._response(path, params)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._response(path, (body, options))

    def _response(self, path: str, arguments: Any) -> Any:
        self.requests.append((path, arguments))
        response = self.responses[path.rsplit("/", 1)[-1]]
        if isinstance(response, Exception):
            raise response
        return response


# Shortened answers of Druid 33.
HISTORICAL = {"host": "h:8083", "tier": "hot", "type": "historical", "priority": 0, "currSize": 5, "maxSize": 9}
QUEUE = {"segmentsToLoad": 2, "segmentsToLoadSize": 80, "segmentsToDrop": 1, "segmentsToDropSize": 40}
WORKER = {"scheme": "http", "host": "m:8091", "ip": "m", "capacity": 2, "version": "0", "category": "_default"}
TASK = {"id": "t", "groupId": "g", "type": "index_kafka", "dataSource": "d", "statusCode": "RUNNING"}
LOCATION = {"host": "m", "port": 8100, "tlsPort": -1}
SUPERVISOR = {"id": "s", "state": "RUNNING", "detailedState": "CREATING_TASKS", "healthy": True, "suspended": False}
# (question, document, answer)
ANSWERS: list[tuple[Question[Any], Any, Any]] = [
    (SERVERS, [HISTORICAL], (questions.Server("h:8083", "historical", "hot", 5, 9),)),
    (SERVERS, [], ()),
    (LOAD_QUEUES, {"h:8083": QUEUE}, {"h:8083": questions.LoadQueue(2, 1)}),
    (LOAD_STATUS, {"d": 0, "e": 2}, {"d": 0, "e": 2}),
    (COORDINATOR_CONFIG, {"decommissioningNodes": ["h"]}, {"decommissioningNodes": ["h"]}),
    (OVERLORD_LEADER, {"leader": True}, True),
    (OVERLORD_LEADER, {"leader": False}, False),
    (OVERLORD_LEADER, NotFound(404, "", "GET", "u"), False),
    (WORKERS, [{"worker": WORKER, "runningTasks": ["b", "a"]}], (questions.Worker("m:8091", True, 2, ("a", "b")),)),
    (WORKERS, [{"worker": {**WORKER, "version": ""}}], (questions.Worker("m:8091", False, 2, ()),)),
    (RUNNING_TASKS, [{**TASK, "location": LOCATION}], (questions.Task("t", "index_kafka", "d", "m", 8100),)),
    (RUNNING_TASKS, [TASK], (questions.Task("t", "index_kafka", "d", None, None),)),
    (SUPERVISORS, [SUPERVISOR], (questions.Supervisor("s", "RUNNING", "CREATING_TASKS", True, False),)),
    (
        SEGMENTS,
        [
            {"datasource": "d", "replicas": 0, "required": 2, "number": 3, "unavailable": 3},
            {"datasource": "d", "replicas": 2, "required": 2, "number": 5, "unavailable": 0},
            {"datasource": "e", "replicas": 0, "required": -1, "number": 1, "unavailable": 1},
        ],
        {
            "d": questions.SegmentCounts(3, (questions.Incomplete(replicas=0, required=2, number=3),)),
            "e": questions.SegmentCounts(1),
        },
    ),
]


@pytest.mark.parametrize(("question", "document", "answer"), ANSWERS)
def test_an_answer_is_read(question: Question[Any], document: Any, answer: Any) -> None:
    druid = Druid(**{question.path.rsplit("/", 1)[-1]: document})
    found = DruidState(ask(druid, [question]))  # type: ignore[arg-type]
    assert found.answer(question) == answer


# (response, cause)
CAUSES: list[tuple[Any, str]] = [
    (Unreachable("GET", "http://r", "refused", is_transient=True), questions.UNREACHABLE),
    (Unreachable("GET", "http://r", "no response in time", is_timeout=True), questions.UNREACHABLE),
    (Unreachable("GET", "http://r", "the host name cannot be resolved"), questions.NOT_CONNECTABLE),
    (ServerError(503, "no leader", "GET", "http://r"), questions.UNREACHABLE),
    (Unauthorized(401, "", "GET", "http://r"), questions.UNAUTHORIZED),
    (Forbidden(403, "", "GET", "http://r"), questions.UNAUTHORIZED),
    (UnknownPath(404, "", "GET", "http://r"), questions.UNSUPPORTED),
    (NotFound(404, "", "GET", "http://r"), questions.UNSUPPORTED),
    (ApiError(400, "", "GET", "http://r"), questions.INVALID),
    ({"error": "x"}, questions.INVALID),
    (["x"], questions.INVALID),
    ([{"worker": {}}], questions.INVALID),
    (7, questions.INVALID),
]


@pytest.mark.parametrize(("response", "cause"), CAUSES)
def test_a_missing_answer_has_a_cause(response: Any, cause: str) -> None:
    found = DruidState(ask(Druid(workers=response), [WORKERS])).answer(WORKERS)  # type: ignore[arg-type]
    assert isinstance(found, Unavailable)
    assert found.cause == cause
    assert found.message


def test_a_column_that_an_older_druid_does_not_have_is_not_supported() -> None:
    message = "Column 'replication_factor' not found in any table"
    druid = Druid(sql=ApiError(400, message, "POST", "http://r"))
    found = ask(druid, [SEGMENTS])[SEGMENTS]  # type: ignore[arg-type]
    assert found.cause == questions.UNSUPPORTED
    [(_path, (body, options))] = druid.requests
    assert (body["resultFormat"], options) == ("object", {"idempotent": True})


def test_a_druid_that_does_not_respond_is_asked_once() -> None:
    druid = Druid(servers=Unreachable("GET", "http://r", "refused"), workers=[])
    found = ask(druid, [SERVERS, WORKERS])  # type: ignore[arg-type]
    assert (found[WORKERS], len(druid.requests)) == (found[SERVERS], 1)


def test_an_error_of_one_server_does_not_prevent_other_answers() -> None:
    druid = Druid(servers=ServerError(503, "no leader", "GET", "http://r"), workers=[])
    assert ask(druid, [SERVERS, WORKERS])[WORKERS] == ()  # type: ignore[arg-type]


def test_what_was_not_asked_has_no_answer() -> None:
    known = DruidState({SERVERS: ()})
    assert known.missing_answers((SERVERS, WORKERS)) == (WORKERS,)
    assert known.with_answers({WORKERS: ()}).missing_answers((SERVERS, WORKERS)) == ()
    with pytest.raises(KeyError):
        known.answer(WORKERS)


PATH = "/config"
NAMES = st.frozensets(st.sampled_from("abcdef"))


class Coordinator:
    """A list that a POST replaces, with its history; `after_read` and `after_write` are what others do then."""

    def __init__(
        self,
        names: list[str],
        after_read: Callable[[Coordinator], None] | None = None,
        after_write: Callable[[Coordinator], None] | None = None,
    ) -> None:
        self.history: list[tuple[str, list[str], str]] = [("person", names, "")]
        self.after_read, self.after_write = after_read, after_write
        self.bodies: list[Any] = []
        self.comments: list[str] = []
        self.has_history = True

    @property
    def names(self) -> list[str]:
        return self.history[-1][1]

    def write(self, names: list[str], author: str = "person", comment: str = "") -> None:
        self.history.append((author, names, comment))

    def get(self, path: str, params: Any = None) -> Any:
        if path == PATH:
            found = {"decommissioningNodes": self.names, "maxSegmentsToMove": 5}
            if self.after_read:
                self.after_read(self)
            return found
        assert path == f"{PATH}/history"
        if not self.has_history:
            raise ServerError(500, "no history", "GET", path)
        return [
            {
                "auditInfo": {"author": author, "comment": comment},
                "payload": json.dumps({"decommissioningNodes": names}),
            }
            for author, names, comment in reversed(self.history[-params["count"] :])
        ]

    def post(self, path: str, body: Any, *, idempotent: bool, audit: Any) -> None:
        assert (path, idempotent) == (PATH, True)
        self.bodies.append(body)
        self.comments.append(audit["X-Druid-Comment"])
        self.write(body["decommissioningNodes"], audit["X-Druid-Author"], audit["X-Druid-Comment"])
        if self.after_write:
            self.after_write(self)


def change(added: str = "", removed: str = "") -> ListChange:
    return ListChange("decommissioningNodes", frozenset(added), frozenset(removed))


def written(druid: Coordinator, what: ListChange) -> None:
    change_list(cast(DruidClient, druid), PATH, what, "add a")


def test_only_the_list_is_sent_with_the_entries_of_others() -> None:
    druid = Coordinator(["z", "b"])
    written(druid, change("a", "b"))
    assert druid.bodies == [{"decommissioningNodes": ["a", "z"]}]


def test_nothing_is_sent_if_nothing_changes() -> None:
    druid = Coordinator(["a"])
    written(druid, change("a", "b"))
    assert druid.bodies == []


def once(act: Callable[[Coordinator], None]) -> Callable[[Coordinator], None]:
    result: list[bool] = []

    def interfere(druid: Coordinator) -> None:
        if not result:
            result.append(True)
            act(druid)

    return interfere


def test_an_entry_that_another_client_adds_meanwhile_is_restored() -> None:
    druid = Coordinator(["z"], once(lambda found: found.write([*found.names, "y"])))
    written(druid, change("a"))
    assert sorted(druid.names) == ["a", "y", "z"]


def test_an_entry_that_another_client_removes_meanwhile_is_not_restored() -> None:
    druid = Coordinator(["y", "z"], once(lambda found: found.write(["z"])))
    written(druid, change("a"))
    assert sorted(druid.names) == ["a", "z"]


def test_a_list_that_is_not_in_the_history_keeps_the_entries_of_others() -> None:
    """The metadata store was restored, or its audit entries are deleted."""

    class Restored(Coordinator):
        @property
        def names(self) -> list[str]:
            return super().names if self.bodies else ["z"]

    druid = Restored([])
    written(druid, change("a"))
    assert druid.names == ["a", "z"]


def test_an_entry_that_another_client_removes_is_written_again() -> None:
    druid = Coordinator([], after_write=once(lambda found: found.write([])))
    written(druid, change("a"))
    assert druid.names == ["a"]


def test_another_client_that_never_stops_is_an_error() -> None:
    druid = Coordinator([], after_write=lambda found: found.write([]))
    with pytest.raises(DruidError, match="other clients have overwritten the change") as error:
        written(druid, change("a"))
    assert len(druid.bodies) == ATTEMPTS
    assert error_finding(error.value).reason == "RejectedByDruid"


def test_who_has_added_an_entry() -> None:
    druid = Coordinator(["z"])
    written(druid, change("a"))
    druid.write(["a", "y"], comment=marked_comment("y is old", Marker("d", "2026-01-01T00:00:00.000+00:00", "33.0.0")))
    client = cast(DruidClient, druid)
    assert addition(client, PATH, "decommissioningNodes", "a") == ("druidops", "add a")
    assert addition(client, PATH, "decommissioningNodes", "y") == ("person", "y is old")
    assert addition(client, PATH, "decommissioningNodes", "x") is None
    # the first change of the list
    assert addition(cast(DruidClient, Coordinator(["z"])), PATH, "decommissioningNodes", "z") == ("person", "")
    # the history is longer than what is read of it
    druid.history = [("person", ["z"], "")] * 100
    assert addition(client, PATH, "decommissioningNodes", "z") is None


def test_without_a_history_the_entry_is_written_all_the_same() -> None:
    druid = Coordinator(["z"])
    druid.has_history = False
    written(druid, change("a"))
    assert druid.names == ["a", "z"]


def test_a_write_has_an_entry_in_the_audit_history() -> None:
    druid = Coordinator([])
    post(cast(DruidClient, druid), PATH, {"decommissioningNodes": []}, "disable worker m:8091", idempotent=True)
    assert druid.comments == ["disable worker m:8091"]
    assert druid.history[-1][0] == "druidops"


@given(NAMES, NAMES, NAMES)
def test_a_change_touches_only_its_entries(
    before: frozenset[str], added: frozenset[str], removed: frozenset[str]
) -> None:
    what = ListChange("f", added, removed - added)
    after = set(what.applied(before))
    assert after - added == before - what.removed - added
    assert added <= after
    assert what.is_applied(after)


@pytest.mark.parametrize(
    ("config", "expected"),
    [({}, []), ({"f": None}, []), ({"f": ["a", "b"]}, ["a", "b"]), ({"f": "a, b,"}, ["a", "b"]), ({"f": ""}, [])],
)
def test_druid_accepts_a_list_and_a_text(config: dict[str, Any], expected: list[str]) -> None:
    assert entries_of(config, "f") == expected


class Compacting(FakeDruid):
    """A Druid that drops a field of a compaction."""

    def __init__(self) -> None:
        super().__init__({})
        self.posts = 0

    def post(self, path: str, body: Any = None, **_options: Any) -> Any:
        self.posts += 1
        self._documents = {path: {name: body[name] for name in body if name != "speed"}}

    def edit(self, **fields: Any) -> None:
        self._documents = {path: {**config, **fields} for path, config in self._documents.items()}


def test_a_compaction_that_another_client_has_edited_is_written_once() -> None:
    druid, desired = Compacting(), {"dataSource": "pages", "taskPriority": 30, "speed": 3}
    client = cast(DruidClient, druid)

    def written() -> int:
        """Return the number of POSTs until nothing is due."""
        druid.posts = 0
        while (change := fetch_change(client, COMPACTION, "pages", "it", desired)).changed:
            write_change(client, change)
        return druid.posts

    # the second one is what Druid has made of it
    assert written() == 2
    assert written() == 0
    druid.edit(taskPriority=20)
    assert written() == 1
