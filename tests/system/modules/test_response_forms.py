# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The forms that the client requires are those of a real Druid, also for objects that do not exist."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import Question, Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, share_druid

__all__ = ["druid", "druid_27", "share_druid"]

OVERLORD, COORDINATOR = "/druid/indexer/v1", "/druid/coordinator/v1"
# All exist in any Druid.
READ = (
    "/status",
    f"{OVERLORD}/supervisor",
    f"{OVERLORD}/supervisor?full=true",
    f"{OVERLORD}/supervisor?state=true",
    f"{OVERLORD}/tasks?state=running",
    f"{OVERLORD}/tasks",
    f"{OVERLORD}/worker",
    f"{OVERLORD}/workers",
    f"{OVERLORD}/leader",
    f"{COORDINATOR}/leader",
    f"{COORDINATOR}/cluster",
    f"{COORDINATOR}/servers?simple=true",
    f"{COORDINATOR}/loadstatus?simple=true",
    f"{COORDINATOR}/loadstatus?full=true",
    f"{COORDINATOR}/metadata/datasources?includeUnused=true",
    f"{COORDINATOR}/metadata/datasources",
    f"{COORDINATOR}/config",
    f"{COORDINATOR}/config/history?count=1",
    f"{COORDINATOR}/config/compaction",
    f"{COORDINATOR}/compaction/status",
    f"{COORDINATOR}/rules",
    f"{COORDINATOR}/rules/none-such",
)
MISSING = (
    *(("GET", f"{OVERLORD}/supervisor/none-such{part}") for part in ("", "/status", "/history")),
    *(("POST", f"{OVERLORD}/supervisor/none-such/{part}") for part in ("terminate", "reset", "suspend", "resume")),
    *(("GET", f"{OVERLORD}/task/none-such{part}") for part in ("", "/status", "/reports")),
    ("POST", f"{OVERLORD}/task/none-such/shutdown"),
    ("GET", f"{COORDINATOR}/config/compaction/none-such"),
    ("DELETE", f"{COORDINATOR}/config/compaction/none-such"),
)


@pytest.fixture(params=only_first(1, ["druid", "druid_27"], "the same on one release"))
def client(request: pytest.FixtureRequest) -> Any:
    running: Druid = request.getfixturevalue(request.param)
    with DruidClient(Connection((running.url,))) as client:
        yield client


def test_what_exists_and_what_does_not(client: DruidClient) -> None:
    for path in READ:
        client.get(path)
    for method, path in MISSING:
        with pytest.raises(NotFound):
            client.get(path) if method == "GET" else getattr(client, method.lower())(path)
    asked = [each for each in vars(questions).values() if isinstance(each, Question)]
    assert [answer for answer in ask(client, asked).values() if isinstance(answer, Unavailable)] == []
    assert client.post(f"{COORDINATOR}/metadata/datasources/none-such/segments", ["2020/2021"]) == []


def test_what_is_written(client: DruidClient) -> None:
    name = "response-forms"
    config = client.get(f"{COORDINATOR}/config")
    client.post(f"{COORDINATOR}/config", {"maxSegmentsToMove": config["maxSegmentsToMove"]})
    client.post(f"{COORDINATOR}/rules/{name}", [{"type": "loadForever"}])
    assert [each["type"] for each in client.get(f"{COORDINATOR}/rules/{name}")] == ["loadForever"]
    client.post(f"{COORDINATOR}/rules/{name}", [])
    client.post(f"{COORDINATOR}/config/compaction", {"dataSource": name})
    client.get(f"{COORDINATOR}/config/compaction/{name}")
    client.delete(f"{COORDINATOR}/config/compaction/{name}")
    task = client.post(f"{OVERLORD}/task", {"type": "noop", "runTime": 1})["task"]
    for part in ("", "/status"):
        client.get(f"{OVERLORD}/task/{task}{part}")
    client.post(f"{OVERLORD}/task/{task}/shutdown")
    [worker] = [each["worker"]["host"] for each in client.get(f"{OVERLORD}/workers")]
    client.post(f"{OVERLORD}/worker/{worker}/enable")
