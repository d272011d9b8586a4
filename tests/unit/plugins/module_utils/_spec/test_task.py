# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs, which run once for each specification; how far a task is, and why it failed.

The reports are cut down from those of Druid 27 and 33.
"""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import failure, native_job, progress, query_job
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

BATCH: dict[str, Any] = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "wiki"}}}


def test_id_contains_type_and_datasource() -> None:
    assert native_job(BATCH, None).id.startswith("druidops_index_parallel_wiki_")
    assert native_job({"type": "kill", "dataSource": "wiki"}, None).id.startswith("druidops_kill_wiki_")
    assert native_job({"type": "noop"}, None).id.startswith("druidops_noop_")


def test_id_does_not_depend_on_the_order_of_fields() -> None:
    turned = {name: BATCH[name] for name in reversed(BATCH)}

    assert native_job(BATCH, None).id == native_job(turned, None).id
    assert native_job(BATCH, None).id != native_job({**BATCH, "context": {"priority": 1}}, None).id


@pytest.mark.parametrize(("in_spec", "specified"), [({"id": "mine"}, None), ({}, "mine"), ({"id": "mine"}, "mine")])
def test_id_can_be_specified(in_spec: dict[str, str], specified: str | None) -> None:
    job = native_job({**BATCH, **in_spec}, specified)

    assert job.task_id(1) == "mine"
    assert job.submission(1) == {**BATCH, "id": "mine"}


def test_each_attempt_has_an_id_of_its_own() -> None:
    job = native_job(BATCH, "mine")

    assert [job.task_id(attempt) for attempt in (1, 2, 3)] == ["mine", "mine_2", "mine_3"]
    assert job.submission(2)["id"] == "mine_2"


def test_the_task_of_a_query_has_its_id_with_a_prefix() -> None:
    job = query_job("REPLACE INTO a ...", {"maxNumTasks": 2}, [], "mine")

    assert job.task_id(2) == "query-mine_2"
    assert job.submission(2) == {
        "query": "REPLACE INTO a ...",
        "context": {"maxNumTasks": 2, "sqlQueryId": "mine_2"},
    }


def test_another_statement_context_or_parameter_is_another_query() -> None:
    parameter = {"type": "VARCHAR", "value": "x"}
    insert, replace = "INSERT INTO a ...", "REPLACE INTO a ..."
    jobs = [query_job(insert, {}, [], None), query_job(replace, {}, [], None), query_job(insert, {"x": 1}, [], None)]
    jobs.append(query_job(insert, {}, [parameter], None))

    assert len({job.id for job in jobs}) == len(jobs)
    assert jobs[3].submission(1)["parameters"] == [parameter]


@pytest.mark.parametrize(
    ("spec", "specified", "message"),
    [
        ({}, None, "spec.type: set the type of the task"),
        ({"type": 1}, None, "spec.type (1): set the type of the task"),
        ({"type": "noop", "id": 7}, None, "spec.id (7): the id of a task must be a string; quote or omit it"),
        ({"type": "noop", "id": 0}, None, "spec.id (0): the id of a task must be a string; quote or omit it"),
        ({"type": "noop", "id": ["a"]}, "b", 'spec.id (["a"]): the id of a task must be a string; quote or omit it'),
        ({"type": "noop", "id": "a"}, "b", "id ('b'): the spec has id 'a'; set only one of them"),
        (
            {"type": "kafka"},
            "b",
            "spec.type ('kafka'): is a type of supervisor, not of task. Use the module supervisor for this spec",
        ),
    ],
)
def test_rejects_an_invalid_task(spec: Any, specified: str | None, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        native_job(spec, specified)

    assert message in str(refusal.value)


def test_statement_that_ingests_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="query: it is a SELECT, but only INSERT and REPLACE ingest"):
        query_job("SELECT 1", {}, [], None)


def test_id_of_a_query_is_specified_once() -> None:
    with pytest.raises(InvalidInput, match=r"context.sqlQueryId \('x'\): set the id with the option id"):
        query_job("a", {"sqlQueryId": "x"}, [], None)


BUILT = {"processed": 5, "processedBytes": 43, "processedWithError": 1, "thrownAway": 2, "unparseable": 0}


def native(**payload: Any) -> dict[str, Any]:
    return {"ingestionStatsAndErrors": {"payload": payload}}


def sql(**payload: Any) -> dict[str, Any]:
    return {"multiStageQuery": {"payload": payload}}


PROGRESS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "not begun": ({"runnerStatusCode": "PENDING"}, {}, {"phase": "PENDING", "rows": None}),
    "nothing known": ({}, {}, {"phase": "unknown", "rows": None}),
    "native": (
        {"runnerStatusCode": "RUNNING"},
        native(ingestionState="BUILD_SEGMENTS", rowStats={"buildSegments": BUILT}),
        {"phase": "BUILD_SEGMENTS", "rows": 8},
    ),
    "native, in parallel": (
        {},
        native(ingestionState="COMPLETED", rowStats={"totals": {"buildSegments": BUILT}}),
        {"phase": "COMPLETED", "rows": 8},
    ),
    "SQL, reading": (
        {},
        sql(
            stages=[{"phase": "READING_INPUT"}, {"phase": "NEW"}, {}],
            counters={
                "0": {"0": {"input0": {"rows": [3, 4]}, "output": {"rows": [7]}}, "1": {"input0": {"rows": [1]}}}
            },
        ),
        {"phase": "stage 1 of 3, READING_INPUT", "rows": 8},
    ),
    "SQL, making segments": (
        {},
        sql(
            stages=[{"phase": "FINISHED"}, {"phase": "RESULTS_READY"}],
            counters={
                "0": {"0": {"input0": {"totalFiles": [1]}}},
                "1": {"0": {"segmentGenerationProgress": {"rowsProcessed": 2}}},
            },
        ),
        {"phase": "stage 2 of 2, RESULTS_READY", "rows": 2},
    ),
}


@pytest.mark.parametrize(("status", "report", "expected"), PROGRESS.values(), ids=PROGRESS)
def test_progress(status: Any, report: Any, expected: Any) -> None:
    assert progress(status, report) == expected


@pytest.mark.parametrize(
    ("status", "report", "reason"),
    [
        ({"errorMsg": "killed"}, {}, "killed"),
        ({"errorMsg": "short..."}, native(errorMsg="it was long\n\tat org.apache.druid.A"), "it was long"),
        ({}, sql(status={"errorReport": {"error": {"errorMessage": "no memory"}}}), "no memory"),
        ({}, {}, "Druid reports no reason; check the log of the task"),
    ],
)
def test_failure(status: Any, report: Any, reason: str) -> None:
    assert failure(status, report) == reason
