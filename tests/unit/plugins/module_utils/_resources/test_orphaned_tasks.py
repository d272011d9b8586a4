# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tasks that a termination orphans are shut down, and none that may be publishing its rows."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, ServerError
from ansible_collections.druidops.druid.plugins.module_utils._resources.orphaned_tasks import (
    OrphanedTasks,
    orphaned_tasks,
    shut_down_orphaned_tasks,
    status_payload,
)
from hypothesis import given
from hypothesis import strategies as st

STARTED = "2026-01-01T00:00:00Z"
# in the order in which a task has them, and in which they are read: one that starts meanwhile is in a list
RUNNER_STATES = ("WAITING", "PENDING", "RUNNING")
STATES = ("RUNNING", "IDLE", "SUSPENDED", "PENDING", "CREATING_TASKS", "UNABLE_TO_CONNECT_TO_STREAM", "STOPPING", None)


def task(name: str = "t", code: str = "RUNNING", kind: str = "index_kafka", group: str = "") -> dict[str, Any]:
    return {"id": name, "type": kind, "groupId": group or f"{kind}_pages", "runnerStatusCode": code}


def payload(state: str | None = "RUNNING", **tasks: Any) -> dict[str, Any]:
    return {"detailedState": state, "activeTasks": [], "publishingTasks": [], **tasks}


READS = {"activeTasks": [{"id": "t", "startTime": STARTED}]}
BEGINS = {"activeTasks": [{"id": "t", "startTime": None}]}
PUBLISHES = {"publishingTasks": [{"id": "t"}]}
CERTAIN, UNCERTAIN, NEITHER = OrphanedTasks(("t",)), OrphanedTasks((), ("t",)), OrphanedTasks()


@pytest.mark.parametrize(
    ("found", "status", "orphans"),
    [
        (task(), payload(), CERTAIN),
        (task(kind="index_kinesis"), payload("IDLE"), CERTAIN),
        (task(), payload("SUSPENDED"), CERTAIN),
        (task(), payload("LOST_CONTACT_WITH_STREAM"), CERTAIN),
        # contacted: it publishes its rows
        (task(), payload(**READS), NEITHER),
        (task(), payload(**PUBLISHES), NEITHER),
        (task(), payload("CREATING_TASKS", **PUBLISHES), NEITHER),
        # known, but not contacted
        (task(), payload(**BEGINS), UNCERTAIN),
        # the supervisor may not know tasks that publish
        (task(), payload("PENDING"), UNCERTAIN),
        (task(), payload("UNABLE_TO_CONNECT_TO_STREAM"), UNCERTAIN),
        (task(), payload("STOPPING"), UNCERTAIN),
        (task(), {}, UNCERTAIN),
        (task(), None, UNCERTAIN),
        # it has not started, so it has no rows
        (task(code="PENDING"), payload(), CERTAIN),
        (task(code="WAITING"), payload("PENDING"), CERTAIN),
        (task(code="PENDING"), None, CERTAIN),
        # other tasks
        (task(group="index_kafka_pages_2"), payload(), NEITHER),
        (task(kind="index_parallel"), payload(), NEITHER),
        (task(kind="index_kafka", group="index_kinesis_pages"), payload(), NEITHER),
        ({"id": "of an old version"}, payload(), NEITHER),
    ],
)
def test_which_tasks_are_orphaned(found: Any, status: Any, orphans: OrphanedTasks) -> None:
    assert orphaned_tasks([found], "pages", status) == orphans


TASKS = st.builds(task, st.sampled_from("abcd"), st.sampled_from(RUNNER_STATES))


@given(
    st.lists(TASKS, unique_by=lambda each: each["id"]),
    st.sampled_from(STATES),
    st.lists(st.sampled_from("abcd")),
    st.lists(st.sampled_from("abcd")),
)
def test_running_task_that_was_contacted_is_never_shut_down(
    tasks: list[dict[str, Any]], state: str | None, reading: list[str], publishing: list[str]
) -> None:
    active = [{"id": each, "startTime": STARTED} for each in reading]
    status = payload(state, activeTasks=active, publishingTasks=[{"id": each} for each in publishing])
    found = orphaned_tasks(tasks, "pages", status)
    running = {each["id"] for each in tasks if each["runnerStatusCode"] == "RUNNING"}
    assert not {*found.certain, *found.uncertain} & running & {*reading, *publishing}
    assert {*found.certain, *found.uncertain} >= {each["id"] for each in tasks} - {*reading, *publishing}


class Druid:
    """A client with these tasks and supervisors; `error` is raised by each request whose path contains `failing`."""

    def __init__(self, *tasks: dict[str, Any], supervisors: tuple[str, ...] = (), failing: str = "-") -> None:
        self._tasks = tasks
        self._supervisors = supervisors
        self._failing = failing
        self.sent: list[str] = []

    def get(self, path: str, params: Any = None) -> Any:
        self._fail(path)
        if path.endswith("/status"):
            return {"payload": {}}
        if path.endswith("/supervisor"):
            return list(self._supervisors)
        return [each for each in self._tasks if each["runnerStatusCode"].lower() == params["state"]]

    def post(self, path: str, *, idempotent: bool) -> None:
        assert idempotent
        self._fail(path)
        self.sent.append(path.rpartition("/task/")[2])

    def _fail(self, path: str) -> None:
        if self._failing in path:
            raise ServerError(500, "no", "GET", path)


def shut_down(druid: Any, status: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return shut_down_orphaned_tasks(druid, "pages", payload() if status is None else status)


def test_all_lists_are_read() -> None:
    druid = Druid(*(task(code, code) for code in RUNNER_STATES))
    assert shut_down(druid) == (RUNNER_STATES, ())
    assert druid.sent == [f"{code}/shutdown" for code in RUNNER_STATES]


def test_tasks_of_a_new_supervisor_are_left_to_it() -> None:
    druid = Druid(task(), supervisors=("pages",))
    assert (shut_down(druid), druid.sent) == (((), ()), [])


def test_uncertain_task_is_named() -> None:
    druid = Druid(task())
    done, [warning] = shut_down(druid, payload(**BEGINS))
    assert (done, druid.sent) == ((), [])
    assert warning.startswith("Task t still runs after its supervisor pages was terminated. It may be publishing")


@pytest.mark.parametrize(
    ("failing", "text"),
    [
        ("/tasks", "Cannot check whether tasks of supervisor pages still run: "),
        ("/shutdown", "Task t was orphaned when its supervisor pages was terminated, and could not be shut down: "),
    ],
)
def test_failure_is_a_warning(failing: str, text: str) -> None:
    done, [warning] = shut_down(Druid(task(), failing=failing))
    assert done == ()
    assert warning.startswith(text)


def test_status_that_cannot_be_read_is_unknown() -> None:
    client: Any = Druid()
    assert status_payload(client, "pages") == {}
    client = Druid(failing="/status")
    assert status_payload(client, "pages") is None
    assert issubclass(ServerError, ApiError)
