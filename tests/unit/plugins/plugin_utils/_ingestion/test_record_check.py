# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A record is believed if the resource has noted it, in exactly one version before it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    Note,
    believed,
    is_written,
    note_of,
    text_of,
    warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import NOTE_ANNOTATION, Ingestion
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
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
        (stored(LAST, **{"normalized.json": '{"a": "b"}'}), noting(stored(LAST)), False),
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
