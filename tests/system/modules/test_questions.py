# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The questions of decisions about a cluster, asked of real Druids of two releases through their Router."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_CONFIG,
    COORDINATOR_LEADER,
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
    replicated_bytes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import ask, post
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_users import user_with
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, druid_33, druid_basic, druid_tls, share_druid

__all__ = ["druid", "druid_27", "druid_33", "druid_basic", "druid_tls", "share_druid"]

EACH: tuple[Question[Any], ...] = (
    *(SERVERS, LOAD_QUEUES, LOAD_STATUS, COORDINATOR_CONFIG, COORDINATOR_LEADER, OVERLORD_LEADER),
    *(WORKERS, RUNNING_TASKS, SUPERVISORS, SEGMENTS),
)
# A user may read these only with a permission; the others need none.
RESTRICTED = (SERVERS, LOAD_QUEUES, COORDINATOR_CONFIG, WORKERS)


@contextmanager
def client_of(druid: Druid, **login: str) -> Iterator[DruidClient]:
    """A client of the Router, as the operator has it."""
    known = druid.credentials
    if known is not None and not login:
        login = {"username": known.username, "password": known.password}
    authority = {} if druid.ca_file is None else {"ca_file": str(druid.ca_file)}
    with DruidClient(Connection(urls=(druid.url,), retry_timeout=0, **login, **authority)) as client:
        yield client


def answers(druid: Druid, **login: str) -> DruidState:
    with client_of(druid, **login) as client:
        found = DruidState(ask(client, EACH))
        assert client.traffic["writes"] == 0
        return found


ONE = "the same on one release"


@pytest.mark.parametrize("release", only_first(1, ["druid_33", "druid_27", "druid_basic", "druid_tls"], ONE))
def test_each_question_is_answered(release: str, request: pytest.FixtureRequest) -> None:
    found = answers(request.getfixturevalue(release))
    missing = [each for each in (found.answer(question) for question in EACH) if isinstance(each, Unavailable)]
    assert missing == []
    servers, workers = found.answer(SERVERS), found.answer(WORKERS)
    assert not isinstance(servers, Unavailable)
    assert not isinstance(workers, Unavailable)
    assert [each.max_size > 0 for each in servers if each.type == "historical"] == [True]
    assert [(each.is_enabled, each.capacity > 0) for each in workers] == [(True, True)]
    assert (found.answer(COORDINATOR_LEADER), found.answer(OVERLORD_LEADER)) == (True, True)


def test_without_a_permission_the_cause_is_known(druid_basic: Druid) -> None:
    with user_with(druid_basic, ()) as user:
        found = answers(druid_basic, username=user.username, password=user.password)
    for question in RESTRICTED:
        answer = found.answer(question)
        assert isinstance(answer, Unavailable), question.name
        assert answer.cause == questions.UNAUTHORIZED, question.name
        assert user.password not in answer.message


def test_a_wrong_password_is_not_in_the_message(druid_basic: Druid) -> None:
    found = answers(druid_basic, username="admin", password="hunter2-the-canary").answer(SERVERS)
    assert isinstance(found, Unavailable)
    assert (found.cause, "hunter2" in found.message) == (questions.UNAUTHORIZED, False)


@pytest.mark.parametrize("release", only_first(1, ["druid_33", "druid_27"], ONE))
def test_a_disabled_worker(release: str, request: pytest.FixtureRequest) -> None:
    running = request.getfixturevalue(release)
    (worker,) = known(running, WORKERS)
    with client_of(running) as client:
        for verb, is_enabled in (("disable", False), ("enable", True)):
            path = f"/druid/indexer/v1/worker/{worker.name}/{verb}"
            post(client, path, None, f"{verb} worker {worker.name}", idempotent=True)
            eventually(lambda expected=is_enabled: known(running, WORKERS)[0].is_enabled == expected)


def known(druid: Druid, question: Question[Any]) -> Any:
    found = answers(druid).answer(question)
    assert not isinstance(found, Unavailable), found
    return found


@pytest.mark.parametrize("release", only_first(1, ["druid_33", "druid_27"], ONE))
def test_replicas_of_the_segments_of_a_historical(release: str, request: pytest.FixtureRequest) -> None:
    """The bytes are those that the Coordinator reports, however many segments they are, or fewer."""
    druid = request.getfixturevalue(release)
    datasource = "replicas_of_a_historical"
    task = {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": datasource,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day"},
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "inline", "data": "2026-01-01T00:00:00Z,a\n2026-01-02T00:00:00Z,b"},
                "inputFormat": {"type": "csv", "columns": ["ts", "page"]},
            },
        },
    }
    druid.request("POST", "/druid/indexer/v1/task", task)
    try:
        eventually(lambda: replicas_are_known(druid), timeout=120)
    finally:
        druid.request("DELETE", f"/druid/coordinator/v1/datasources/{datasource}")


def replicas_are_known(druid: Druid) -> bool:
    with client_of(druid) as client:
        (server,) = (each for each in ask(client, [SERVERS])[SERVERS] if each.type == "historical")
        on_itself = replicated_bytes(server.name, [server.name])
        on_another = replicated_bytes(server.name, [server.name, "it's:1"])
        found = ask(client, [on_itself, on_another])
        assert client.traffic["writes"] == 0
    return server.size > 0 and (found[on_itself], found[on_another]) == (
        (server.size, server.size),
        (server.size, 0),
    )
