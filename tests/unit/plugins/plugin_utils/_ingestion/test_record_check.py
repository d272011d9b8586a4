# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which records are believed, and what happens after the loss of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    Note,
    believed,
    finding,
    is_of_resource,
    is_written,
    note_of,
    recovered,
    text_of,
    warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    noting,
    resource,
)

LAST, NEXT = LastApplied({"type": "kafka"}, "pages"), LastApplied({"type": "kafka", "suspend": True}, "pages")


def stored(record: LastApplied, version: str = "1", **data: str) -> dict[str, Any]:
    found = to_config_map(record, ingestion())
    found["metadata"]["resourceVersion"] = version
    return {**found, "data": {**found["data"], **data}}


@pytest.mark.parametrize(
    ("found", "metadata", "expected"),
    [
        (stored(LAST), noting(stored(LAST)), True),
        # other keys are not read
        (stored(LAST, more="of others"), noting(stored(LAST)), True),
        *((stored(LAST, **{key: "{}"}), noting(stored(LAST)), False) for key in ("spec.json", "state.json")),
        # killed before the next record was written, and after it
        (stored(LAST, "7"), noting(stored(NEXT), replaces="7"), True),
        (stored(NEXT, "8"), noting(stored(NEXT), replaces="7"), True),
        # the record before, restored by others
        (stored(LAST, "9"), noting(stored(NEXT), replaces="7"), False),
        (stored(LAST, ""), noting(stored(NEXT), replaces=""), False),
        # made before the resource
        (stored(LAST), {}, False),
        (stored(LAST), noting(None), False),
        # of another resource of the name
        (stored(LAST), {**noting(stored(LAST)), "uid": "another"}, False),
        (None, noting(stored(LAST)), False),
    ],
)
def test_which_record_is_believed(found: Any, metadata: Any, expected: bool) -> None:
    own = ingestion(metadata=metadata)
    assert believed(found, own) == (found if expected else None)
    is_of_others = found is not None and "uid" not in metadata and not expected
    assert ["ConfigMap i-ingestion" in each for each in warnings(found, own)] == [True] * is_of_others


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"taskId": "pages", "appliedHash": LAST.hash}, True),
        ({"taskId": "pages", "appliedHash": NEXT.hash}, False),
        ({"taskId": "of-others", "appliedHash": LAST.hash}, False),
        ({"taskId": "pages"}, False),
        ({}, False),
    ],
)
def test_without_a_note_the_status_confirms_the_record(status: dict[str, str], expected: bool) -> None:
    """As after `kubectl replace`. With another note it does not."""
    found = stored(LAST)
    own, edited = (
        Ingestion.from_resource({**resource(metadata=metadata), "status": status})
        for metadata in ({}, noting(stored(NEXT), "pages"))
    )
    assert believed(found, own) == (found if expected else None)
    assert believed(found, edited) is None
    former = stored(replace(LAST, former=("of-others",)))
    assert believed(former, own) is None


def test_a_note_that_is_older_than_the_status_was_restored() -> None:
    record = LastApplied({"type": "index"}, "t", SubmittedTask("t", phase="submitted"), revision=1)
    for revision, expected in ((1, True), (2, False)):
        status = {"taskId": "t", "appliedHash": "h", "appliedRevision": revision}
        metadata = noting(stored(record), "t", revision=1)
        own = Ingestion.from_resource({**resource("native-batch", metadata=metadata), "status": status})
        assert (believed(stored(record), own) is not None) == expected


def test_a_record_that_is_to_be_replaced_is_written_again() -> None:
    own = ingestion(metadata=noting(stored(NEXT), replaces="7"))
    assert (is_written(stored(LAST, "7"), own), is_written(stored(NEXT, "8"), own)) == (False, True)


def test_without_a_resource_the_record_is_the_only_reference() -> None:
    variables = ingestion(metadata={"uid": None})
    found = to_config_map(LAST, variables)
    assert (believed(found, variables), is_written(found, variables)) == (found, True)


def test_note_round_trip_and_the_note_of_a_copy() -> None:
    note = Note(frozenset({"b", "a"}), "digest", "7", 3)
    annotations = {NOTE_ANNOTATION: text_of(note, "uid-i")}
    assert note_of({"uid": "uid-i", "annotations": annotations}) == note
    assert note_of({"uid": "uid-copy", "annotations": annotations}) == Note()


@pytest.mark.parametrize("text", ["", "{", "5", "null", '["a"]', "{}", "[" * 100_000, '{"uid": "uid-i", "ids": "a"}'])
def test_an_unreadable_note_is_none(text: str) -> None:
    assert note_of({"uid": "uid-i", "annotations": {NOTE_ANNOTATION: text}}) == Note()
    assert note_of({"uid": "uid-i"}) == Note()


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
