# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The desired spec of a supervisor: the specified fields, with null for each field removed since the last applied spec.

If two resources specify the same supervisor, the older one owns it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    confirmed,
    described_supervisors,
    desired_supervisor,
    identity,
    noted_record,
    older_owner,
    other_owner,
    recorded,
    specify_ids,
    with_removed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    KAFKA,
    ingestion,
    nested,
    noting,
    resource,
)
from hypothesis import given
from hypothesis import strategies as st

NOTHING = LastApplied()


@pytest.mark.parametrize(
    ("last", "now", "desired"),
    [
        (None, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"b": 1, "c": None}}),
        ({"a": {"b": 1}}, {"a": 5}, {"a": 5}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({"a": None}, {}, {}),
    ],
)
def test_removed_fields_become_null(last: Any, now: Any, desired: Any) -> None:
    assert with_removed_fields(last, now) == desired


JSON = st.recursive(
    st.integers() | st.text(max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(JSON)
def test_unchanged_spec_removes_no_field(document: Any) -> None:
    assert with_removed_fields(document, document) == document


def test_field_of_the_last_applied_spec_becomes_null() -> None:
    before = ingestion()
    now = ingestion(document={**KAFKA, "spec": {**KAFKA["spec"], "ioConfig": {"topic": "pages"}}})
    desired = desired_supervisor(now, LastApplied(before.specified, "pages"), has_own_ids=False)
    assert desired.spec is not None
    assert desired.spec["spec"]["ioConfig"] == {"topic": "pages", "taskCount": None}


@pytest.mark.parametrize(
    ("more", "suspended"),
    [({}, None), ({"suspend": True}, True), ({"suspend": False}, False)],
)
def test_suspension_is_a_field_of_the_resource(more: dict[str, Any], suspended: bool | None) -> None:
    assert desired_supervisor(ingestion(**more), NOTHING, has_own_ids=False).suspended is suspended


def test_suspension_in_the_supervisor_spec() -> None:
    assert (
        desired_supervisor(ingestion(document={**KAFKA, "suspended": True}), NOTHING, has_own_ids=False).suspended
        is True
    )


@pytest.mark.parametrize(
    ("kind", "document", "own_ids", "supervisor"),
    [
        ("kafka", KAFKA, False, "pages"),
        ("kafka", {**KAFKA, "id": "mine"}, True, "mine"),
        ("kafka", KAFKA["spec"], False, "pages"),
        ("autocompact", {"spec": {"dataSource": "pages"}}, True, "autocompact__pages"),
        ("scheduled-batch", {"id": "daily", "spec": {"query": "INSERT ..."}}, True, "daily"),
    ],
)
def test_supervisor_id(kind: str, document: dict[str, Any], own_ids: bool, supervisor: str) -> None:
    assert desired_supervisor(ingestion(kind, document), NOTHING, has_own_ids=own_ids).id == supervisor
    assert identity(ingestion(kind, document), has_own_ids=own_ids) == supervisor


@pytest.mark.parametrize(
    ("kind", "document"),
    [("kafka", {"spec": {"ioConfig": {}}}), ("kafka", {**KAFKA, "id": "mine"}), ("scheduled-batch", {"spec": {}})],
    ids=["no datasource", "an id before Druid 34", "no id"],
)
def test_spec_without_a_supervisor_id_is_invalid(kind: str, document: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        desired_supervisor(ingestion(kind, document), NOTHING, has_own_ids=False)
    with pytest.raises(InvalidInput):
        identity(ingestion(kind, document), has_own_ids=False)


OTHER_SOURCE = {"spec": {"dataSchema": {"dataSource": "other"}}}


def aged(name: str, created: str, *arguments: Any, **more: Any) -> Ingestion:
    metadata = {"creationTimestamp": created, **more.pop("metadata", {})}
    return ingestion(*arguments, name=name, metadata=metadata, **more)


MINE = aged("mine", "2026-01-02T00:00:00Z")


@pytest.mark.parametrize(
    ("sibling", "older", "other"),
    [
        (aged("a", "2026-01-01T00:00:00Z"), "a", "a"),
        (aged("a", "2026-01-03T00:00:00Z"), None, "a"),
        # same creation time: the uid decides
        (aged("a", "2026-01-02T00:00:00Z"), "a", "a"),
        (aged("z", "2026-01-02T00:00:00Z"), None, "z"),
        (aged("a", "2026-01-01T00:00:00Z", "kafka", OTHER_SOURCE), None, None),
        (aged("a", "2026-01-01T00:00:00Z", "native-batch", KAFKA), None, None),
        (aged("a", "2026-01-01T00:00:00Z", druidCluster="other"), None, None),
        (aged("a", "2026-01-01T00:00:00Z", ingestion={"nativeSpec": None, "spec": "{"}), None, None),
        *(
            (aged("a", "2026-01-01T00:00:00Z", ingestion={"nativeSpec": None, "spec": nested(levels)}), None, None)
            for levels in (600, 100_000)
        ),
        (aged("a", "2026-01-01T00:00:00Z", metadata={"deletionTimestamp": "2026-01-04T00:00:00Z"}), None, None),
    ],
)
def test_owner_of_a_supervisor(sibling: Any, older: str | None, other: str | None) -> None:
    assert older_owner(MINE, [sibling], "pages", has_own_ids=False) == older
    assert other_owner(MINE, [sibling], "pages") == other
    assert ("pages" in described_supervisors(MINE, [sibling])) == (other is not None)


OLD = resource(name="a", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
INVALID: tuple[Any, ...] = (True, 5, "x", [1], {"a": 1})


def test_invalid_sibling_does_not_cause_an_error() -> None:
    """It may have been stored under an older schema of the CRD."""
    valid = aged("z", "2026-01-01T00:00:00Z", "kafka", {**KAFKA, "id": "own"})
    spec = {**valid.spec, "auth": {}, "endpoint": {"url": None}}
    inner = spec["ingestion"]
    for value in INVALID:
        parts = [{**spec, name: value} for name in spec]
        parts += [{**spec, "ingestion": {**inner, name: value}} for name in (*inner, "compaction", "rules")]
        parts += [{**spec, "ingestion": {**inner, "nativeSpec": None, "spec": value}}]
        parts += [{**spec, "druidCluster": None, "endpoint": {"url": value}}]
        for part in (value, *parts):
            both = [Ingestion.from_resource({**OLD, "spec": part}), valid]
            assert "own" in described_supervisors(MINE, both)
            assert older_owner(MINE, both, "own", has_own_ids=True) in ("a", "z")
            assert specify_ids(both)


@pytest.mark.parametrize("endpoint", [5, "text", [1], {"url": 5}, {"url": [1]}])
def test_sibling_with_an_invalid_endpoint_is_ignored(endpoint: Any) -> None:
    sibling = aged("a", "2026-01-01T00:00:00Z", endpoint=endpoint)
    assert other_owner(MINE, [sibling], "pages") is None


def test_sibling_with_unrelated_invalid_fields_is_an_owner() -> None:
    sibling = aged("a", "2026-01-01T00:00:00Z", auth="text", ingestion={"retries": "many", "rules": 5})
    assert other_owner(MINE, [sibling], "pages") == "a"


def test_sibling_with_an_explicit_id_owns_that_id() -> None:
    sibling = aged("a", "2026-01-03T00:00:00Z", "kafka", {**KAFKA, "id": "own"})
    assert described_supervisors(MINE, [sibling]) == {"own"}
    assert [other_owner(MINE, [sibling], each) for each in ("own", "pages")] == ["a", None]


def at(url: str) -> Ingestion:
    return aged("a", "2026-01-01T00:00:00Z", druidCluster=None, endpoint={"url": url})


@pytest.mark.parametrize(
    ("mine", "others", "is_same"),
    [
        ("http://druid:8888", "http://druid:8888/", True),
        ("http://druid:8888", "HTTP://Druid:8888", True),
        ("https://druid", "https://druid:443/", True),
        ("http://druid:8888", "https://druid:8888", False),
        ("http://druid:8888/one", "http://druid:8888/two", False),
        ("http://druid:8888", "http://druid:8889", False),
        ("nonsense", "nonsense", True),
        ("nonsense", "http://druid:8888", False),
    ],
)
def test_equivalent_urls_are_the_same_druid(mine: str, others: str, is_same: bool) -> None:
    own = aged("mine", "2026-01-02T00:00:00Z", druidCluster=None, endpoint={"url": mine})
    found = older_owner(own, [at(others)], "pages", has_own_ids=False)
    assert found == ("a" if is_same else None)


NAMED = {**OTHER_SOURCE, "id": "pages"}


def test_explicit_id_of_a_sibling() -> None:
    """Before Druid 34 an explicit id is not supported: that resource is invalid itself."""
    named = aged("a", "2026-01-01T00:00:00Z", "kafka", NAMED)
    assert older_owner(MINE, [named], "pages", has_own_ids=True) == "a"
    assert older_owner(MINE, [named], "pages", has_own_ids=False) is None


@pytest.mark.parametrize(
    ("sibling", "expected"),
    [
        (ingestion("kafka", NAMED), True),
        (ingestion("kafka", KAFKA), False),
        (ingestion("kafka", ingestion={"nativeSpec": None, "spec": "{"}), False),
        (ingestion("native-batch", {**KAFKA, "id": "pages"}), False),
        # the id of this type does not depend on the Druid version
        (ingestion("scheduled-batch", {"id": "daily"}), False),
    ],
)
def test_specify_ids(sibling: Any, expected: bool) -> None:
    assert specify_ids([ingestion(), sibling]) is expected


A, TASK = LastApplied({}, "of-others"), LastApplied({}, "t", SubmittedTask("t"))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (LastApplied(), LastApplied()),
        # what the resource specifies
        (LastApplied({}, "pages"), LastApplied({}, "pages")),
        # Druid is asked about a task
        (TASK, TASK),
        (A, LastApplied()),
    ],
)
def test_status_is_believed_about_what_the_resource_specifies(record: LastApplied, expected: LastApplied) -> None:
    found = confirmed(record, ingestion())
    assert found.record == expected
    assert ["of-others" in each for each in found.warnings] == [True] * (record is A)


@pytest.mark.parametrize(
    ("ids", "kind", "expected"),
    [
        ((), "kafka", LastApplied()),
        (("pages",), "kafka", LastApplied({}, "pages")),
        (("of-others",), "kafka", LastApplied()),
        (("of-others", "pages"), "kafka", LastApplied({}, "pages")),
        ((), "native-batch", LastApplied()),
        (("t",), "native-batch", LastApplied({}, "t", SubmittedTask("t", phase="submitted"), revision=2)),
    ],
)
def test_record_of_what_the_resource_has_noted(ids: tuple[str, ...], kind: str, expected: LastApplied) -> None:
    assert noted_record(ingestion(kind, metadata=noting(None, *ids, revision=2))) == expected


def test_the_latest_attempt_of_the_present_spec_is_the_noted_task() -> None:
    own = ingestion("native-batch", BATCH)
    former, batch = job(own, 1), job(own, 2)
    ids = [former.task_id(1), *(batch.task_id(number) for number in (1, 2, 10)), "z" * 200]
    found = noted_record(ingestion("native-batch", BATCH, metadata=noting(None, *ids, revision=2)))
    assert found.id == batch.task_id(10)


def test_status_of_the_go_operator_is_read_until_there_was_a_record() -> None:
    status = {"taskId": "pages", "currentIngestionSpec.json": json.dumps(KAFKA)}
    for metadata, expected in (({}, "pages"), (noting(None), "pages"), (noting(None, replaces="1"), "")):
        own = Ingestion.from_resource({**resource(metadata=metadata), "status": status})
        assert recorded(None, own).record.id == expected


def test_a_supervisor_of_the_status_is_named_if_the_record_is_lost() -> None:
    """As by kubectl replace, which removes the annotation."""
    status = {"taskId": "former", "appliedHash": "digest"}
    renamed = Ingestion.from_resource({**resource(), "status": status})
    found = recorded(None, renamed)
    assert found.record == LastApplied()
    assert ["supervisor former" in each for each in found.warnings] == [True]
    same = Ingestion.from_resource({**resource(), "status": {**status, "taskId": "pages"}})
    assert recorded(None, same).warnings == ()
