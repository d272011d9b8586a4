# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A batch is submitted once for each spec, even if a run is interrupted between two requests."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import attempt, current, job, revision
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import BATCH, ingestion
from hypothesis import given
from hypothesis import strategies as st

RETRY = {"metadata": {"annotations": {"druid.apache.org/retry": "now"}}}
RUNNING, SUCCESS, FAILED = ({"statusCode": code} for code in ("RUNNING", "SUCCESS", "FAILED"))


def recorded(phase: Any, status: str = "", number: int = 1) -> SubmittedTask:
    return SubmittedTask("t", number, phase, status)


# recorded task, status in Druid, changes of the resource; expected action, attempt and phase
TABLE: list[tuple[SubmittedTask | None, Any, dict[str, Any], str, int, str]] = [
    (None, None, {}, "submit", 1, "submitting"),
    # never recorded, or the record is lost; the generated id shows that the task is ours
    (None, RUNNING, {}, "note", 1, "submitted"),
    (None, SUCCESS, {}, "note", 1, "ended"),
    # unknown whether Druid accepted it: submitting the same id again is safe
    (recorded("submitting"), None, {}, "submit", 1, "submitting"),
    (recorded("submitting"), RUNNING, {}, "note", 1, "submitted"),
    (recorded("submitted"), RUNNING, {}, "none", 1, "submitted"),
    (recorded("submitted"), SUCCESS, {}, "note", 1, "ended"),
    (recorded("submitted"), FAILED, {}, "note", 1, "ended"),
    (recorded("ended", "SUCCESS"), SUCCESS, {}, "none", 1, "ended"),
    (recorded("ended", "FAILED"), FAILED, {}, "none", 1, "ended"),
    # Druid no longer knows the task
    (recorded("submitted"), None, {}, "lost", 1, "submitted"),
    (recorded("submitted"), None, RETRY, "submit", 2, "submitting"),
    (recorded("ended", "SUCCESS"), None, {}, "none", 1, "ended"),
    (recorded("ended", "SUCCESS"), None, RETRY, "none", 1, "ended"),
    (recorded("ended", "FAILED"), None, {}, "none", 1, "ended"),
    (recorded("ended", "FAILED"), None, RETRY, "submit", 2, "submitting"),
    # it is submitted again only if the resource requests it
    (recorded("submitted"), FAILED, {"ingestion": {"retries": 1}}, "submit", 2, "submitting"),
    (recorded("submitted", "", 2), FAILED, {"ingestion": {"retries": 1}}, "note", 2, "ended"),
    (recorded("ended", "FAILED"), FAILED, RETRY, "submit", 2, "submitting"),
    (SubmittedTask("t", 2, "ended", "FAILED", "now"), FAILED, RETRY, "none", 2, "ended"),
]


@pytest.mark.parametrize("status", [RUNNING, SUCCESS, FAILED])
def test_foreign_task_with_an_explicit_id(status: Any) -> None:
    parsed = ingestion("native-batch", {**BATCH, "id": "nightly"})
    submitting = SubmittedTask("nightly", phase="submitting")
    assert attempt(parsed, job(parsed, 1), None, status).action == "taken"
    assert attempt(parsed, job(parsed, 1), None, None).action == "submit"
    assert attempt(parsed, job(parsed, 1), submitting, status).action == "note"


@pytest.mark.parametrize(("known", "status", "more", "action", "number", "phase"), TABLE)
def test_action(
    known: SubmittedTask | None, status: Any, more: dict[str, Any], action: str, number: int, phase: str
) -> None:
    parsed = ingestion("native-batch", BATCH, **more)
    found = attempt(parsed, job(parsed, 1), known, status)
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
def test_running_or_successful_task_is_never_submitted_again(known: SubmittedTask | None, status: Any) -> None:
    parsed = ingestion("native-batch", BATCH, **RETRY, ingestion={"retries": 100})
    assert attempt(parsed, job(parsed, 1), known, status).action in ("note", "none")


def test_task_id_depends_on_the_resource_and_the_spec() -> None:
    ids = {
        job(each, 1).task_id(1)
        for each in (
            ingestion("native-batch", BATCH),
            ingestion("native-batch", BATCH, name="other"),
            ingestion("native-batch", {**BATCH, "context": {"a": 1}}),
        )
    }
    assert len(ids) == 3
    assert all(each.startswith("druidops_pages_") for each in ids)
    assert job(ingestion("native-batch", {**BATCH, "id": "mine"}), 1).task_id(2) == "mine_2"


def test_empty_id_is_ignored() -> None:
    assert job(ingestion("native-batch", {**BATCH, "id": ""}), 1).task_id(1).startswith("druidops_pages_")


def test_task_id_of_a_query() -> None:
    parsed = ingestion("sql", {"query": "INSERT INTO t SELECT 1", "context": {"sqlQueryId": "mine", "maxNumTasks": 2}})
    found = job(parsed, 1)
    assert (found.task_id(1), found.body["context"]) == ("query-mine", {"maxNumTasks": 2})


def test_changed_spec_is_a_new_batch() -> None:
    parsed = ingestion("native-batch", BATCH)
    task = recorded("ended", batch.SUCCESS)
    assert current(parsed, LastApplied(parsed.specified, "t", task)) == task
    assert current(parsed, LastApplied({**parsed.specified, "rules": [{}]}, "t", task)) == task
    assert current(parsed, LastApplied({**parsed.specified, "spec": {}}, "t", task)) is None


@pytest.mark.parametrize(
    ("now", "number"),
    [
        (ingestion("native-batch", BATCH), 2),
        (ingestion("native-batch", BATCH, suspend=True, driftPolicy="Report", **RETRY), 2),
        (ingestion("native-batch", BATCH, ingestion={"rules": [{}], "compaction": {}, "retries": 2}), 2),
        (ingestion("native-batch", {**BATCH, "context": {}}), 3),
        (ingestion("sql", BATCH), 3),
    ],
)
def test_revision_advances_only_with_the_document(now: Ingestion, number: int) -> None:
    recorded_batch = LastApplied(ingestion("native-batch", BATCH).specified, "t", recorded("ended"), revision=2)
    assert revision(now, recorded_batch) == number


def test_first_revision_has_the_id_of_older_versions() -> None:
    assert job(ingestion("native-batch", BATCH), 1).task_id(1) == "druidops_pages_ced3e257c75bae3b"


def test_each_revision_has_an_id_of_its_own() -> None:
    parsed = ingestion("native-batch", BATCH)
    assert len({job(parsed, number).task_id(1) for number in range(1, 20)}) == 19
    own = ingestion("native-batch", {**BATCH, "id": "mine"})
    assert {job(own, number).task_id(1) for number in (1, 2)} == {"mine"}
