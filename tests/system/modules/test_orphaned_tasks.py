# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
No task outlives a removed supervisor, and none that publishes its rows is shut down.

The end of any task makes all supervisors run, so that a task which a supervisor has not known may be known the next
moment, and is then stopped by Druid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import UncertainState
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.stream import READING, Stream
from ansible_collections.druidops.druid.tests.system.support.task_lists import active_tasks, running_tasks
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid

__all__ = ["druid", "share_druid"]


@pytest.fixture
def stream(druid: Druid) -> Iterator[Stream]:
    with direct_on(druid) as direct:
        found = Stream(direct)
        found.produce(50)
        yield found
        if found.name in druid.request("GET", supervisor.SUPERVISORS):
            druid.request("POST", supervisor.supervisor_path(found.name, "terminate"))
        druid.remove_datasource(found.name)


def spec_of(stream: Stream, **io: Any) -> dict[str, Any]:
    """Its supervisor has the time to request of its tasks to publish, when it is terminated."""
    spec = stream.spec(shutdownTimeout="PT60S")
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**spec["spec"]["ioConfig"], **io}}}


def run_unknown_tasks(stream: Stream, replicas: int = 1) -> list[str]:
    """Create a supervisor, and return its tasks, which it knows only after its next run, in an hour."""
    stream.direct.supervisor(spec=spec_of(stream, period="PT1H", replicas=replicas))
    eventually(lambda: running_tasks(stream.druid, stream.name))
    eventually(lambda: len(active_tasks(stream.druid, stream.name)) == replicas)
    return active_tasks(stream.druid, stream.name)


def result_of(result: dict[str, Any]) -> list[str]:
    [entry] = result["supervisors"]
    return sorted(entry["orphaned_tasks"])


def writes_of(stream: Stream, *shut_down: str) -> list[str]:
    """Return the writes of a removal that shuts down these tasks."""
    tasks = [f"POST /druid/indexer/v1/task/{each}/shutdown" for each in shut_down]
    return sorted([f"POST {supervisor.supervisor_path(stream.name, 'terminate')}", *tasks])


def remove(stream: Stream, **options: Any) -> dict[str, Any]:
    return stream.direct.supervisor(id=stream.name, state="absent", **options)


def test_running_and_waiting_tasks_are_shut_down(stream: Stream) -> None:
    # more replicas than slots
    tasks = run_unknown_tasks(stream, replicas=8)
    planned = remove(stream, check_mode=True)
    assert {*result_of(planned)} <= {*tasks}
    assert stream.direct.writes == []
    removed = remove(stream)
    assert {*result_of(removed)} <= {*tasks}
    assert removed["warnings"] == []
    assert sorted(stream.direct.writes) == writes_of(stream, *result_of(removed))
    eventually(lambda: not active_tasks(stream.druid, stream.name))
    again = remove(stream)
    assert (again["changed"], "orphaned_tasks" in again["supervisors"][0]) == (False, False)


def test_tasks_are_kept_on_request(stream: Stream) -> None:
    run_unknown_tasks(stream)
    for check_mode in (True, False):
        assert result_of(remove(stream, orphaned_tasks="keep", check_mode=check_mode)) == []
    assert stream.direct.writes == writes_of(stream)
    # a new supervisor of that id takes it over
    stream.direct.supervisor(spec=spec_of(stream), wait=True, wait_for=READING)
    remove(stream)
    eventually(stream.has_all)


def test_published_rows_are_not_lost(stream: Stream) -> None:
    stream.direct.supervisor(spec=spec_of(stream), wait=True, wait_for=READING)
    eventually(stream.has_all)
    removed = remove(stream)
    assert (result_of(removed), removed["warnings"]) == ([], [])
    assert stream.direct.writes == writes_of(stream)
    eventually(lambda: not active_tasks(stream.druid, stream.name))
    eventually(stream.has_all)


def test_tasks_that_publish_after_a_suspension_are_not_shut_down(stream: Stream) -> None:
    """The suspended supervisor is a new one, which does not know them yet."""
    stream.direct.supervisor(spec=spec_of(stream), wait=True, wait_for=READING)
    eventually(stream.has_all)
    stream.direct.supervisor(spec=spec_of(stream, startDelay="PT1H"), suspended=True)
    assert result_of(remove(stream)) == []
    assert stream.direct.writes == writes_of(stream)
    eventually(lambda: not active_tasks(stream.druid, stream.name))
    eventually(stream.has_all)


class RecreatingClient:
    """A client that creates the supervisor once more after each termination, as another user may."""

    def __init__(self, direct: Direct, spec: dict[str, Any]) -> None:
        self._direct = direct
        self._spec = spec

    def post(self, path: str, *args: Any, **options: Any) -> Any:
        response = self._direct.client.post(path, *args, **options)
        if path.endswith("/terminate"):
            self._direct.druid.request("POST", supervisor.SUPERVISORS, self._spec)
        return response

    def __getattr__(self, name: str) -> Any:
        return getattr(self._direct.client, name)


def test_tasks_of_a_new_supervisor_with_the_same_id_are_its_own(stream: Stream) -> None:
    run_unknown_tasks(stream)
    concurrent: Any = RecreatingClient(stream.direct, spec_of(stream, period="PT1H", startDelay="PT1H"))
    stream.direct.proxy.forget()
    payload = supervisor.status_payload(concurrent, stream.name)
    # the list has the new one
    with pytest.raises(UncertainState):
        supervisor.terminate(concurrent, stream.name)
    assert supervisor.shut_down_orphaned_tasks(concurrent, stream.name, payload) == ((), ())
    assert stream.direct.writes == writes_of(stream)
