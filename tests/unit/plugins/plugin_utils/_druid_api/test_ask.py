# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answers to the questions about Druid, and why there is none."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Forbidden,
    NotFound,
    ServerError,
    Unauthorized,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import questions
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
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
