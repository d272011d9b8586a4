# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""After its record was lost, a batch is submitted only if the resource requests it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    finding,
    is_of_resource,
    recovered,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    resource,
)

NEW = ingestion("native-batch", BATCH)
SAME_HASH = digest(NEW.specified)
FIRST, THIRD = job(NEW, 1).task_id(1), job(NEW, 3).task_id(1)


def with_status(kind: str = "native-batch", retry: str = "", **status: Any) -> Ingestion:
    annotations = {"annotations": {"druid.apache.org/retry": retry}} if retry else {}
    stored = resource(kind, BATCH, metadata=annotations)
    return Ingestion.from_resource({**stored, "status": {"appliedHash": SAME_HASH, "taskId": FIRST, **status}})


def unrecorded(task: str, retry: str = "", **record: Any) -> LastApplied:
    return LastApplied({}, task, SubmittedTask(task, 0, "unrecorded", "", retry), **{"revision": 1, **record})


@pytest.mark.parametrize(
    ("status", "task", "revision"),
    [
        ({}, SubmittedTask(FIRST, phase="submitted"), 1),
        ({"appliedTo": "druidCluster c", "state": "RUNNING"}, SubmittedTask(FIRST, phase="submitted"), 1),
        # read from Druid again: it may be followed by a retry
        ({"state": "FAILED"}, SubmittedTask(FIRST, phase="submitted"), 1),
        # known from the status, even if Druid has deleted the task since
        ({"state": "SUCCESS"}, SubmittedTask(FIRST, 1, "ended", "SUCCESS"), 1),
        ({"taskId": f"{FIRST}_12"}, SubmittedTask(f"{FIRST}_12", 12, "submitted"), 1),
        ({"taskId": THIRD, "appliedRevision": 3}, SubmittedTask(THIRD, phase="submitted"), 3),
    ],
)
def test_task_of_the_same_spec_is_taken_over(status: dict[str, Any], task: SubmittedTask, revision: int) -> None:
    first = job(NEW, revision).task_id(1)
    assert recovered(LastApplied(), with_status(**status)) == LastApplied(
        NEW.specified, first, task, (), "druidCluster c", revision
    )


@pytest.mark.parametrize(
    "status",
    [
        {"appliedHash": "another"},
        {"appliedTo": "druidCluster other"},
        {"taskId": "another"},
        {"taskId": f"{FIRST}_"},
        {"taskId": f"{FIRST}_02"},
        {"taskId": f"{FIRST}_x"},
        # an id of another revision than the status has
        {"taskId": THIRD},
        {"appliedRevision": 2},
    ],
)
def test_any_other_task_stops_the_batch(status: dict[str, Any]) -> None:
    found = with_status(retry="once", **status)
    task, revision = status.get("taskId", FIRST), status.get("appliedRevision", 1)
    stopped = recovered(LastApplied(), found)
    assert stopped == unrecorded(task, "once", revision=revision)
    assert recovered(stopped, found) == stopped
    assert "druid.apache.org/retry" in finding(found).message


@pytest.mark.parametrize(
    ("record", "found"),
    [
        # never applied, or by the Go operator
        (LastApplied(), NEW),
        (LastApplied(), with_status(taskId="")),
        (LastApplied(), with_status(appliedHash="")),
        # there is a record
        (LastApplied({"type": "kafka"}, "pages"), with_status()),
        (LastApplied(druid="another"), with_status()),
        # a supervisor can be applied again
        (LastApplied(), with_status("kafka")),
        # a retry is requested
        (unrecorded(FIRST, "once"), with_status(appliedHash="another", retry="twice")),
    ],
)
def test_all_other_records_are_used_as_they_are(record: LastApplied, found: Ingestion) -> None:
    assert recovered(record, found) is record


def test_specification_of_the_status_is_taken_over_when_it_is_restored() -> None:
    other = with_status(appliedHash="another")
    stopped = recovered(LastApplied(), other)
    assert recovered(stopped, with_status()).task == SubmittedTask(FIRST, phase="submitted")


@pytest.mark.parametrize(
    ("reported", "task", "datasource", "expected"),
    [
        (with_status(), FIRST, None, True),
        (with_status(taskId="another"), "another", "pages", True),
        (with_status(taskId="another"), "another", "of others", False),
        (with_status(taskId="another"), "another", None, False),
        (with_status(taskId="another"), "another", {"not": "a text"}, False),
        # an id that has the digest of the spec
        (with_status(appliedHash="another"), FIRST, "of others", True),
        (with_status(), THIRD, "of others", False),
    ],
)
def test_task_that_only_the_status_names(reported: Ingestion, task: str, datasource: Any, expected: bool) -> None:
    assert is_of_resource(reported, task, {"dataSource": datasource, "statusCode": "RUNNING"}, 1) == expected
