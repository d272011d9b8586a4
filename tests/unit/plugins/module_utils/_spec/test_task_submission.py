# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs, which run once for each specification."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_submission import native_job, query_job
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


@pytest.mark.parametrize(("in_spec", "stated"), [({"id": "mine"}, None), ({}, "mine"), ({"id": "mine"}, "mine")])
def test_id_can_be_specified(in_spec: dict[str, str], stated: str | None) -> None:
    job = native_job({**BATCH, **in_spec}, stated)

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
    jobs = [query_job("a", {}, [], None), query_job("b", {}, [], None), query_job("a", {"x": 1}, [], None)]
    jobs.append(query_job("a", {}, [parameter], None))

    assert len({job.id for job in jobs}) == len(jobs)
    assert jobs[3].submission(1)["parameters"] == [parameter]


@pytest.mark.parametrize(
    ("spec", "stated", "message"),
    [
        ({}, None, "spec.type (None): set the type of the task"),
        ({"type": 1}, None, "spec.type (1): set the type of the task"),
        ({"type": "noop", "id": 7}, None, "spec.id (7): the id of a task must be a string; quote or omit it"),
        ({"type": "noop", "id": 0}, None, "spec.id (0): the id of a task must be a string; quote or omit it"),
        ({"type": "noop", "id": ["a"]}, "b", "spec.id (['a']): the id of a task must be a string; quote or omit it"),
        ({"type": "noop", "id": "a"}, "b", "id ('b'): the spec has id 'a'; set only one of them"),
    ],
)
def test_rejects_an_invalid_task(spec: Any, stated: str | None, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        native_job(spec, stated)

    assert message in str(refusal.value)


def test_id_of_a_query_is_specified_once() -> None:
    with pytest.raises(InvalidInput, match=r"context.sqlQueryId \('x'\): set the id with the option id"):
        query_job("a", {"sqlQueryId": "x"}, [], None)
