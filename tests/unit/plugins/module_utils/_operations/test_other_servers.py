# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that is not Druid, such as a gateway that answers everything alike: each operation on each of its answers.

There is one kind of error, which does not quote the answer, and nothing counts as changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.request import is_read
from ansible_collections.druidops.druid.plugins.module_utils._operations.compaction import (
    compaction_info,
    ensure_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.datasource import ensure_datasource
from ansible_collections.druidops.druid.plugins.module_utils._operations.druid_info import druid_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.dynamic_config import (
    dynamic_config_info,
    ensure_configs,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.lookup import ensure_lookup, lookup_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.retention_rules import (
    ensure_rules,
    retention_rules_info,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.segment_info import segment_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import (
    ensure_supervisor,
    supervisor_info,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import (
    ensure_query,
    ensure_task,
    task_info,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import terminate
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import shut_down
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

__all__ = ["fake_time"]

SECRET = "hunter2"
BODIES: dict[str, Any] = {
    "nothing": b"",
    "null": b"null",
    "a mapping": {},
    "a list": [],
    "a text": json.dumps(SECRET),
    "a number": 5,
    "true": True,
    "a list of mappings": [{}],
    "a list of texts": [SECRET],
    "a list of numbers": [5],
    "an error": {"error": SECRET},
    "a message": {"message": SECRET},
    "a status": {"status": 200, "error": SECRET, "path": "/"},
    "a Kubernetes status": {"kind": "Status", "apiVersion": "v1", "message": SECRET, "code": 404},
    "an id": {"id": SECRET},
    "plain text": SECRET,
    "a page": f"<html><title>{SECRET}</title></html>",
    "depth": "[" * 100_000,
    "depth that Python can parse": "[" * 500 + "]" * 500,
    "many lists": b"[" + b"[]," * 400_000 + b"[]]",
}

SPEC = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "a"}, "ioConfig": {"topic": "a"}}}
_SUPERVISOR = {"id": None, "spec": None, "state": "present", "suspended": None, "orphaned_tasks": "shut_down"}
_SUPERVISOR |= {"reset": False, "reset_offsets": None, "supervisors": None, "wait": False, "wait_for": None}
_SUPERVISOR |= {"wait_timeout": 1.0}
_JOB = {"id": None, "state": "present", "retry": False, "wait": False, "wait_timeout": 1.0}
_TASK = {"tasks": None, "spec": None, **_JOB}
_QUERY = {"queries": None, "query": None, "context": None, "parameters": None, **_JOB}
_AUDIT = {"author": None, "comment": None}
_COMPACTION = {"datasource": None, "config": None, "state": "present", "compactions": None, **_AUDIT}
_RULES = {"datasource": None, "rules": None, "state": "present", "retention_rules": None, **_AUDIT}
_CONFIGS = ("coordinator", "overlord", "kubernetes_task_runner", "broker", "compaction")
_CONFIG = {**dict.fromkeys(_CONFIGS), "unknown_fields": "warn", **_AUDIT}
_LOOKUP = {"id": "a", "tier": "a", "custom_type": False, "state": "present", "lookups": None, "wait": False, **_AUDIT}
_LOOKUP_SPEC = {"lookupExtractorFactory": {"type": "map", "map": {}}}
_DATASOURCE = {"datasource": "a", "interval": None, "used_segments": "delete", "datasources": None, "wait": True}
_DATASOURCE |= {"wait_timeout": 1.0, **_AUDIT}
_SEGMENTS = {"datasource": "a", "interval": None, "used": None, "by": "segment", "limit": 10, "read_timeout": 1.0}
_DRUID = {
    "services": ["broker"],
    "servers": None,
    "health": False,
    "baseline": None,
    "wait": False,
    "wait_for": None,
    "wait_timeout": 1.0,
}
_INFO = {
    "tier": None,
    "id": None,
    "datasource": None,
    "state": None,
    "status": True,
    "history": 2,
    "type": None,
    "limit": 10,
}

Operation = tuple[Callable[..., Any], dict[str, Any]]
ENSURE: dict[str, Operation] = {
    "supervisor": (ensure_supervisor, {**_SUPERVISOR, "spec": SPEC}),
    "supervisor, absent": (ensure_supervisor, {**_SUPERVISOR, "id": "a", "state": "absent"}),
    "supervisor, suspended": (ensure_supervisor, {**_SUPERVISOR, "id": "a", "suspended": True}),
    "supervisor, reset": (ensure_supervisor, {**_SUPERVISOR, "id": "a", "reset": True}),
    "supervisors": (ensure_supervisor, {**_SUPERVISOR, "supervisors": [{**_SUPERVISOR, "id": "a", "state": "absent"}]}),
    "task": (ensure_task, {**_TASK, "spec": {"type": "noop"}}),
    "task, absent": (ensure_task, {**_TASK, "id": "a", "state": "absent"}),
    "query": (ensure_query, {**_QUERY, "query": "INSERT INTO a SELECT 1 PARTITIONED BY ALL"}),
    "compaction": (ensure_compaction, {**_COMPACTION, "datasource": "a", "config": {}}),
    "compaction, absent": (ensure_compaction, {**_COMPACTION, "datasource": "a", "state": "absent"}),
    "compactions": (ensure_compaction, {**_COMPACTION, "compactions": [{"datasource": "a", "state": "absent"}]}),
    "rules": (ensure_rules, {**_RULES, "datasource": "a", "rules": [{"type": "loadForever"}]}),
    "rules, absent": (ensure_rules, {**_RULES, "datasource": "a", "state": "absent"}),
    "coordinator": (ensure_configs, {**_CONFIG, "coordinator": {"maxSegmentsToMove": 5}}),
    "overlord": (ensure_configs, {**_CONFIG, "overlord": {"type": "default"}}),
    "task runner": (ensure_configs, {**_CONFIG, "kubernetes_task_runner": {"type": "default"}}),
    "brokers": (ensure_configs, {**_CONFIG, "broker": {"queryContext": {"a": 1}}}),
    "cluster compaction": (ensure_configs, {**_CONFIG, "compaction": {"compactionTaskSlotRatio": 0.5}}),
    **{
        f"datasource, {state}": (ensure_datasource, {**_DATASOURCE, "state": state})
        for state in ("used", "unused", "deleted")
    },
    "lookup": (ensure_lookup, {**_LOOKUP, "spec": _LOOKUP_SPEC}),
    "lookup, absent": (ensure_lookup, {**_LOOKUP, "state": "absent"}),
    "lookups": (ensure_lookup, {**_LOOKUP, "id": None, "lookups": [{**_LOOKUP, "spec": _LOOKUP_SPEC}]}),
}
READ: dict[str, Operation] = {
    "supervisor_info": (supervisor_info, _INFO),
    "task_info": (task_info, {**_INFO, "spec": True, "report": True}),
    "task_info of one": (task_info, {**_INFO, "id": "a", "spec": True, "report": True}),
    "compaction_info": (compaction_info, _INFO),
    "retention_rules_info": (retention_rules_info, _INFO),
    "retention_rules_info of one": (retention_rules_info, {**_INFO, "datasource": "a"}),
    "lookup_info": (lookup_info, _INFO),
    "dynamic_config_info": (dynamic_config_info, _INFO),
    "segment_info": (segment_info, _SEGMENTS),
    "segment_info of unused ones": (segment_info, {**_SEGMENTS, "used": False}),
    "druid_info": (druid_info, _DRUID),
}
# What the deletion of a DruidIngestion sends.
DELETE: dict[str, Callable[[DruidClient, str], None]] = {"terminate": terminate, "shut down": shut_down}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def answer_alike(server: Server, status: int, body: Any) -> None:
    server.answers = [say(status, body, Content_Type="application/json")]
    server.asked.clear()


def assert_rejected(call: Callable[[], Any], what: str, status: int) -> None:
    """One kind of error, which only quotes an error; UnknownPath: a 404 of Druid's web server, or an empty one."""
    with pytest.raises(DruidError) as caught:
        pytest.fail(f"{what}: {call()}")
    error = caught.value
    result = error.result if isinstance(error, PartialFailure) else {"changed": False}
    assert not result["changed"], what
    assert status == 404 or SECRET not in f"{error} {json.dumps(result)}", what
    assert "in no form of Druid's" in str(error) or "This server does not serve" in str(error), (what, error)


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "real"])
@pytest.mark.parametrize("name", ENSURE)
def test_no_answer_counts_as_a_change(
    name: str, check_mode: bool, status: int, server: Server, fake_time: FakeTime
) -> None:
    ensure, params = ENSURE[name]
    client = fake_time.client(server.url, retry_timeout=0)
    for what, body in BODIES.items():
        answer_alike(server, status, body)
        assert_rejected(lambda: ensure(client, params, check_mode=check_mode), what, status)
        # what is read comes first: nothing is sent to a server that is not Druid
        assert all(is_read(asked.method, asked.path) for asked in server.asked), what


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("name", READ)
def test_no_answer_is_a_result(name: str, status: int, server: Server, fake_time: FakeTime) -> None:
    read, params = READ[name]
    client = fake_time.client(server.url, retry_timeout=0)
    for what, body in BODIES.items():
        answer_alike(server, status, body)
        assert_rejected(lambda: read(client, params), what, status)


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("name", DELETE)
def test_no_answer_is_a_termination(name: str, status: int, server: Server, fake_time: FakeTime) -> None:
    client = fake_time.client(server.url, retry_timeout=0)
    for what, body in BODIES.items():
        answer_alike(server, status, body)
        assert_rejected(lambda: DELETE[name](client, "a"), what, status)
