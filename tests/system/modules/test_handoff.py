# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The handoff of a drain, on a real Overlord: which task group a task reads, and that it then publishes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    FOR_HANDOFF,
    VERSION,
    TaskGroup,
    payloads,
    statuses,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    WORKERS,
    DruidState,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import as_worker
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask, post
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import direct_on
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.stream import READING, Stream
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid

__all__ = ["druid", "share_druid"]


@pytest.fixture
def stream(druid: Druid) -> Iterator[Stream]:
    with direct_on(druid) as direct:
        found = Stream(direct)
        yield found
        direct.supervisor(id=found.name, state="absent")


def test_a_task_publishes_when_its_group_is_handed_off(druid: Druid, stream: Stream) -> None:
    stream.produce(50)
    # after which a task publishes in any case: later than this test gives up
    spec = stream.spec()
    spec["spec"]["ioConfig"]["taskDuration"] = "PT1H"
    reading = stream.direct.supervisor(spec=spec, wait=True, wait_for=READING)
    (task,) = (each["id"] for each in reading["supervisors"][0]["status"]["payload"]["activeTasks"])
    eventually(lambda: task in tasks(druid))
    assert TaskGroup(stream.name, 0) in reads(druid)
    path = f"/druid/indexer/v1/supervisor/{stream.name}/taskGroups/handoff"
    with client(druid) as sender:
        post(sender, path, {"taskGroupIds": [0]}, "hand off", idempotent=True)
    assert eventually(lambda: ended_with(druid, task)) == "SUCCESS"
    stream.produce(25)
    eventually(stream.has_all)


def client(druid: Druid) -> DruidClient:
    return DruidClient(Connection(urls=(druid.url,), retry_timeout=0))


def tasks(druid: Druid) -> list[str]:
    with client(druid) as asking:
        found = DruidState(ask(asking, (WORKERS,))).answer(WORKERS)
    assert not isinstance(found, Unavailable), found
    return [task for worker in found for task in worker.running_tasks]


def reads(druid: Druid) -> tuple[TaskGroup, ...]:
    """The task groups that the only worker reads."""
    with client(druid) as asking:
        found = DruidState(ask(asking, (WORKERS, *FOR_HANDOFF)))
        workers = found.answer(WORKERS)
        assert not isinstance(workers, Unavailable), workers
        assert found.answer(VERSION) == (33,)
        found = found.with_answers(ask(asking, payloads(found, workers[0])))
        found = found.with_answers(ask(asking, statuses(found, workers[0])))
    return as_worker(workers[0], found, is_read=True).reading


def ended_with(druid: Druid, task: str) -> str | None:
    """The state of a task that has ended."""
    state = str(druid.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"]["statusCode"])
    return None if state == "RUNNING" else state
