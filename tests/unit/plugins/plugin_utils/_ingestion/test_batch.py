# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A batch is submitted once for each specification, whatever happens between two requests."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import attempt, current, job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import BATCH, ingestion
from hypothesis import given
from hypothesis import strategies as st

RETRY = {"metadata": {"annotations": {"druid.apache.org/retry": "now"}}}
RUNNING, SUCCESS, FAILED = ({"statusCode": code} for code in ("RUNNING", "SUCCESS", "FAILED"))


def done(phase: Any, status: str = "", number: int = 1) -> SubmittedTask:
    return SubmittedTask("t", number, phase, status)


# What was put down, what Druid says of it, what the resource asks for besides; what is done, about which attempt.
TABLE: list[tuple[SubmittedTask | None, Any, dict[str, Any], str, int, str]] = [
    (None, None, {}, "submit", 1, "submitting"),
    # put down never, or by one whose record is lost; the id tells that it is ours
    (None, RUNNING, {}, "note", 1, "submitted"),
    (None, SUCCESS, {}, "note", 1, "ended"),
    # whether it has come to Druid is not known: the same id again does no harm
    (done("submitting"), None, {}, "submit", 1, "submitting"),
    (done("submitting"), RUNNING, {}, "note", 1, "submitted"),
    (done("submitted"), RUNNING, {}, "none", 1, "submitted"),
    (done("submitted"), SUCCESS, {}, "note", 1, "ended"),
    (done("submitted"), FAILED, {}, "note", 1, "ended"),
    (done("ended", "SUCCESS"), SUCCESS, {}, "none", 1, "ended"),
    (done("ended", "FAILED"), FAILED, {}, "none", 1, "ended"),
    # Druid has forgotten it
    (done("submitted"), None, {}, "lost", 1, "submitted"),
    (done("submitted"), None, RETRY, "submit", 2, "submitting"),
    (done("ended", "SUCCESS"), None, {}, "none", 1, "ended"),
    (done("ended", "SUCCESS"), None, RETRY, "none", 1, "ended"),
    (done("ended", "FAILED"), None, {}, "none", 1, "ended"),
    (done("ended", "FAILED"), None, RETRY, "submit", 2, "submitting"),
    # it is submitted again only if the resource asks for that
    (done("submitted"), FAILED, {"ingestion": {"retries": 1}}, "submit", 2, "submitting"),
    (done("submitted", "", 2), FAILED, {"ingestion": {"retries": 1}}, "note", 2, "ended"),
    (done("ended", "FAILED"), FAILED, RETRY, "submit", 2, "submitting"),
    (SubmittedTask("t", 2, "ended", "FAILED", "now"), FAILED, RETRY, "none", 2, "ended"),
]


@pytest.mark.parametrize("status", [RUNNING, SUCCESS, FAILED])
def test_a_task_of_the_id_that_is_stated_may_be_about_anything(status: Any) -> None:
    described = ingestion("native-batch", {**BATCH, "id": "nightly"})
    begun = SubmittedTask("nightly", phase="submitting")
    assert attempt(described, job(described), None, status).action == "taken"
    assert attempt(described, job(described), None, None).action == "submit"
    assert attempt(described, job(described), begun, status).action == "note"


@pytest.mark.parametrize(("known", "status", "more", "action", "number", "phase"), TABLE)
def test_what_is_done(
    known: SubmittedTask | None, status: Any, more: dict[str, Any], action: str, number: int, phase: str
) -> None:
    described = ingestion("native-batch", BATCH, **more)
    found = attempt(described, job(described), known, status)
    assert (found.action, found.task.attempt, found.task.phase) == (action, number, phase)


@given(
    st.one_of(
        st.none(),
        st.builds(
            SubmittedTask,
            st.just("t"),
            st.integers(1, 3),
            st.sampled_from(["submitting", "submitted", "ended"]),
            st.just(""),
        ),
    ),
    st.sampled_from([RUNNING, SUCCESS]),
)
def test_what_runs_or_has_succeeded_is_never_submitted_again(known: SubmittedTask | None, status: Any) -> None:
    described = ingestion("native-batch", BATCH, **RETRY, ingestion={"retries": 100})
    assert attempt(described, job(described), known, status).action in ("note", "none")


def test_its_id_is_that_of_the_resource_and_the_specification() -> None:
    ids = {
        job(each).task_id(1)
        for each in (
            ingestion("native-batch", BATCH),
            ingestion("native-batch", BATCH, name="other"),
            ingestion("native-batch", {**BATCH, "context": {"a": 1}}),
        )
    }
    assert len(ids) == 3
    assert all(each.startswith("druidops_pages_") for each in ids)
    assert job(ingestion("native-batch", {**BATCH, "id": "mine"})).task_id(2) == "mine_2"


def test_an_empty_id_is_none() -> None:
    assert job(ingestion("native-batch", {**BATCH, "id": ""})).task_id(1).startswith("druidops_pages_")


def test_a_query_has_the_id_that_druid_makes_of_it() -> None:
    described = ingestion(
        "sql", {"query": "INSERT INTO t SELECT 1", "context": {"sqlQueryId": "mine", "maxNumTasks": 2}}
    )
    found = job(described)
    assert (found.task_id(1), found.body["context"]) == ("query-mine", {"maxNumTasks": 2})


def test_another_specification_is_another_batch() -> None:
    described = ingestion("native-batch", BATCH)
    task = done("ended", batch.SUCCESS)
    assert current(described, LastApplied(described.specified, "t", task)) == task
    assert current(described, LastApplied({**described.specified, "rules": [{}]}, "t", task)) == task
    assert current(described, LastApplied({**described.specified, "spec": {}}, "t", task)) is None
