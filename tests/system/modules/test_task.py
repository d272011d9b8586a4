# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tasks and SQL statements run once, and again only on request."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, druid_27, share_druid
from testbed.proxy import Loss

__all__ = ["druid", "druid_27", "share_druid"]

# Milliseconds that a task runs. An Indexer keeps the slot of a noop that was shut down until its end.
LONG = 30000


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid, retry_timeout=10, read_timeout=10) as found:
        yield found


@pytest.fixture
def name(druid: Druid) -> Iterator[str]:
    name = f"t{secrets.token_hex(4)}"
    yield name
    druid.remove_datasource(name)


def batch(name: str, source: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": name,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {"type": "index_parallel", "inputSource": source, "inputFormat": {"type": "json"}},
            "tuningConfig": {"type": "index_parallel"},
        },
    }


def inline(name: str, rows: int) -> dict[str, Any]:
    data = "\n".join(f'{{"ts": "2026-01-01T00:00:00Z", "page": "{number}"}}' for number in range(rows))
    return batch(name, {"type": "inline", "data": data})


def test_reports_the_number_of_rows(direct: Direct, name: str) -> None:
    result = direct.task(spec=inline(name, 7), wait=True)

    assert (result["changed"], result["attempt"], result["status"]["statusCode"]) == (True, 1, "SUCCESS")
    assert result["progress"] == {"phase": "COMPLETED", "rows": 7}
    assert not direct.task(spec=inline(name, 7), wait=True)["changed"]
    assert direct.task(spec=inline(name, 8))["changed"]


def test_failed_task_is_submitted_again_only_on_request(direct: Direct, name: str) -> None:
    spec = batch(name, {"type": "inline", "data": "no JSON"})
    spec["spec"]["tuningConfig"]["maxParseExceptions"] = 0

    with pytest.raises(PartialFailure, match=r"Task '\w+' failed: .*parse exceptions.* Set retry: true") as failed:
        direct.task(spec=spec, wait=True)
    first = failed.value.result["id"]
    with pytest.raises(PartialFailure):
        direct.task(spec=spec, wait=True)
    assert direct.writes == []
    with pytest.raises(PartialFailure) as failed:
        direct.task(spec=spec, wait=True, retry=True)

    assert (failed.value.result["id"], failed.value.result["attempt"]) == (f"{first}_2", 2)
    assert direct.task(spec=spec)["id"] == f"{first}_2"


def test_unknown_fields_of_a_submitted_task_fail(direct: Direct, name: str) -> None:
    spec = inline(name, 1)
    spec["spec"]["tuningConfig"] |= {"maxNumSegmentsToMerge": 5, "maxRowsInMemry": 1000, "type": "index_parallel"}

    for is_new in (True, False):
        with pytest.raises(PartialFailure, match=r"does not return spec\.tuningConfig\.maxRowsInMemry: it does") as no:
            direct.task(spec=spec, unknown_fields="fail")
        assert no.value.result["changed"] is is_new

    assert not direct.task(spec=spec, check_mode=True, unknown_fields="fail")["changed"]


def test_wait_timeout_reports_the_progress(direct: Direct, name: str) -> None:
    spec = {"type": "noop", "dataSource": name, "runTime": LONG}

    with pytest.raises(
        PartialFailure, match=r"Timed out after 1 s waiting for task .* It is still running: no rows, \w+\."
    ):
        direct.task(spec=spec, wait=True, wait_timeout=1)

    assert direct.task(spec=spec, state="absent")["changed"]
    assert direct.writes[0].endswith("/shutdown")


def test_many_are_submitted_before_the_first_wait_and_a_failure_stops_no_other(direct: Direct, name: str) -> None:
    broken = batch(f"{name}_2", {"type": "inline", "data": "no JSON"})
    broken["spec"]["tuningConfig"]["maxParseExceptions"] = 0
    invalid, long = {"type": "nonsense"}, {"type": "noop", "dataSource": name, "runTime": 2000}
    tasks = [{"spec": json.dumps(long)}, {"spec": broken}, {"spec": invalid}, {"spec": inline(name, 3)}, {"spec": long}]

    with pytest.raises(PartialFailure) as failed:
        direct.task(tasks=tasks, wait=True)

    assert re.fullmatch(
        r"tasks\[1\]: Task .* failed: .* tasks\[2\]: POST .*400 .* tasks\[4\]: id \(.*\): duplicate id; .*",
        str(failed.value),
    )
    entries = failed.value.result["tasks"]
    assert [each["changed"] for each in entries] == [True, True, False, True, False]
    assert [each.get("status", {}).get("statusCode") for each in entries] == [
        "SUCCESS",
        "FAILED",
        None,
        "SUCCESS",
        None,
    ]
    assert (entries[3]["progress"]["rows"], "report" in entries[3]) == (3, True)
    last_write = max(number for number, each in enumerate(direct.proxy.exchanges) if each.method == "POST")
    assert [each.path for each in direct.proxy.exchanges[:last_write] if each.path.endswith("/reports")] == []
    with pytest.raises(PartialFailure):
        direct.task(tasks=tasks, wait=True)
    assert direct.writes == ["POST /druid/indexer/v1/task"]


def test_wait_timeout_is_for_all(direct: Direct, name: str) -> None:
    tasks = [{"id": f"{name}_{each}", "spec": {"type": "noop", "runTime": LONG + each}} for each in range(2)]

    with pytest.raises(PartialFailure) as failed:
        direct.task(tasks=tasks, wait=True, wait_timeout=1)

    found = re.findall(r"tasks\[(\d)\]: Timed out after 1 s waiting for task '", str(failed.value))
    assert found == ["0", "1"]
    assert direct.task(tasks=[{"id": each["id"]} for each in tasks], state="absent")["changed"]
    assert len(direct.writes) == 2


@pytest.mark.parametrize("loss", only_first(1, [Loss.LOST, Loss.CUT], "the same for a response that is lost"))
def test_task_is_not_submitted_twice_after_a_lost_response(direct: Direct, name: str, loss: Loss) -> None:
    direct.proxy.fail_next(loss, method="POST", path="/task$")

    result = direct.task(spec=inline(name, 3), wait=True)

    assert (result["changed"], result["status"]["statusCode"]) == (True, "SUCCESS")
    (task,) = direct.druid.request("GET", f"/druid/indexer/v1/tasks?datasource={name}")
    assert task["id"] == result["id"]


def test_invalid_specification_is_reported_with_druids_message(direct: Direct) -> None:
    with pytest.raises(PartialFailure, match=r"400 Bad Request.*nonsense"):
        direct.task(spec={"type": "nonsense"})


def test_results_contain_no_secrets(direct: Direct, name: str) -> None:
    source = {"type": "http", "uris": ["http://127.0.0.1:1/x"], "httpAuthenticationPassword": "hunter-1"}

    predicted = direct.task(spec=batch(name, source), check_mode=True)
    submitted = direct.task(spec=batch(name, source))
    direct.task(spec=batch(name, source), state="absent")

    assert "hunter" not in f"{predicted} {submitted}"


def test_statement_is_submitted_once_and_reports_its_rows(druid_27: Druid, name: str) -> None:
    query = f"""
      REPLACE INTO "{name}" OVERWRITE ALL SELECT TIME_PARSE(ts) AS __time, page
      FROM TABLE(EXTERN('{{"type": "inline", "data": "2026-01-01T00:00:00Z,a\\n2026-01-01T00:00:00Z,b"}}',
                        '{{"type": "csv", "columns": ["ts", "page"]}}')) EXTEND (ts VARCHAR, page VARCHAR)
      PARTITIONED BY DAY"""
    with direct_on(druid_27) as direct:
        result = direct.query(query=query, context={"maxNumTasks": 2}, wait=True)
        again = direct.query(query=query, context={"maxNumTasks": 2}, wait=True)

    assert (result["changed"], result["progress"]["rows"], result["status"]["statusCode"]) == (True, 2, "SUCCESS")
    assert (again["changed"], again["id"]) == (False, result["id"])


def test_invalid_statement_is_reported_with_druids_message(druid_27: Druid) -> None:
    with (
        direct_on(druid_27) as direct,
        pytest.raises(PartialFailure, match=r"POST .*/druid/v2/sql/task returned 400 Bad Request: .*nowhere"),
    ):
        direct.query(query="REPLACE INTO x OVERWRITE ALL SELECT * FROM nowhere PARTITIONED BY ALL")
