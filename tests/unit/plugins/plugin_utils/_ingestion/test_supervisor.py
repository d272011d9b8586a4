# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wanted of a supervisor: what is described, and nothing of what was described before and is not any more.

Of two resources that describe the same supervisor the older one keeps it.
"""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import (
    described_supervisors,
    desired_supervisor,
    identity,
    older_owner,
    other_owner,
    specify_ids,
    with_removed_fields,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    KAFKA,
    ingestion,
    nested,
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
def test_what_is_dropped_is_taken_away(last: Any, now: Any, desired: Any) -> None:
    assert with_removed_fields(last, now) == desired


JSON = st.recursive(
    st.integers() | st.text(max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@given(JSON)
def test_what_is_stated_again_drops_nothing(document: Any) -> None:
    assert with_removed_fields(document, document) == document


def test_a_field_of_the_last_specification_is_taken_away() -> None:
    before = ingestion()
    now = ingestion(document={**KAFKA, "spec": {**KAFKA["spec"], "ioConfig": {"topic": "pages"}}})
    found = desired_supervisor(now, LastApplied(before.specified, "pages"), has_own_ids=False)
    assert found.spec is not None
    assert found.spec["spec"]["ioConfig"] == {"topic": "pages", "taskCount": None}


@pytest.mark.parametrize(
    ("more", "suspended"),
    [({}, None), ({"suspend": True}, True), ({"suspend": False}, False)],
)
def test_it_is_suspended_as_the_resource_says(more: dict[str, Any], suspended: bool | None) -> None:
    assert desired_supervisor(ingestion(**more), NOTHING, has_own_ids=False).suspended is suspended


def test_its_specification_may_say_so_as_well() -> None:
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
def test_which_supervisor_it_is(kind: str, document: dict[str, Any], own_ids: bool, supervisor: str) -> None:
    assert desired_supervisor(ingestion(kind, document), NOTHING, has_own_ids=own_ids).id == supervisor
    assert identity(ingestion(kind, document), has_own_ids=own_ids) == supervisor


@pytest.mark.parametrize(
    ("kind", "document"),
    [("kafka", {"spec": {"ioConfig": {}}}), ("kafka", {**KAFKA, "id": "mine"}), ("scheduled-batch", {"spec": {}})],
    ids=["no datasource", "an id before Druid 34", "no id"],
)
def test_what_is_none(kind: str, document: dict[str, Any]) -> None:
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
        # by uid when they are of the same second
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
def test_who_keeps_it(sibling: Any, older: str | None, other: str | None) -> None:
    assert older_owner(MINE, [sibling], "pages", has_own_ids=False) == older
    assert other_owner(MINE, [sibling], "pages") == other
    assert ("pages" in described_supervisors(MINE, [sibling])) == (other is not None)


OLD = resource(name="a", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
ODD: tuple[Any, ...] = (True, 5, "x", [1], {"a": 1})


def test_one_that_cannot_be_read_stops_nothing() -> None:
    """It may have been stored under the schema of another day."""
    sound = aged("z", "2026-01-01T00:00:00Z", "kafka", {**KAFKA, "id": "own"})
    spec = {**sound.spec, "auth": {}, "endpoint": {"url": None}}
    inner = spec["ingestion"]
    for value in ODD:
        parts = [{**spec, name: value} for name in spec]
        parts += [{**spec, "ingestion": {**inner, name: value}} for name in (*inner, "compaction", "rules")]
        parts += [{**spec, "ingestion": {**inner, "nativeSpec": None, "spec": value}}]
        parts += [{**spec, "druidCluster": None, "endpoint": {"url": value}}]
        for part in (value, *parts):
            both = [Ingestion.from_resource({**OLD, "spec": part}), sound]
            assert "own" in described_supervisors(MINE, both)
            assert older_owner(MINE, both, "own", has_own_ids=True) in ("a", "z")
            assert specify_ids(both)


@pytest.mark.parametrize("endpoint", [5, "text", [1], {"url": 5}, {"url": [1]}])
def test_one_of_which_nobody_knows_where_it_is(endpoint: Any) -> None:
    sibling = aged("a", "2026-01-01T00:00:00Z", endpoint=endpoint)
    assert other_owner(MINE, [sibling], "pages") is None


def test_one_that_can_be_read_where_it_matters_counts() -> None:
    sibling = aged("a", "2026-01-01T00:00:00Z", auth="text", ingestion={"retries": "many", "rules": 5})
    assert other_owner(MINE, [sibling], "pages") == "a"


def test_one_with_an_id_of_its_own_describes_that() -> None:
    sibling = aged("a", "2026-01-03T00:00:00Z", "kafka", {**KAFKA, "id": "own"})
    assert described_supervisors(MINE, [sibling]) == {"own"}
    assert [other_owner(MINE, [sibling], each) for each in ("own", "pages")] == ["a", None]


def at(url: str) -> Ingestion:
    return aged("a", "2026-01-01T00:00:00Z", druidCluster=None, endpoint={"url": url})


@pytest.mark.parametrize(
    ("mine", "others", "are_one"),
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
def test_one_druid_in_other_words(mine: str, others: str, are_one: bool) -> None:
    own = aged("mine", "2026-01-02T00:00:00Z", druidCluster=None, endpoint={"url": mine})
    found = older_owner(own, [at(others)], "pages", has_own_ids=False)
    assert found == ("a" if are_one else None)


NAMED = {**OTHER_SOURCE, "id": "pages"}


def test_one_that_is_named_by_an_id() -> None:
    """Before Druid 34 there is no such thing, and the resource is in trouble of its own."""
    named = aged("a", "2026-01-01T00:00:00Z", "kafka", NAMED)
    assert older_owner(MINE, [named], "pages", has_own_ids=True) == "a"
    assert older_owner(MINE, [named], "pages", has_own_ids=False) is None


@pytest.mark.parametrize(
    ("sibling", "does"),
    [
        (ingestion("kafka", NAMED), True),
        (ingestion("kafka", KAFKA), False),
        (ingestion("kafka", ingestion={"nativeSpec": None, "spec": "{"}), False),
        (ingestion("native-batch", {**KAFKA, "id": "pages"}), False),
        # its id does not depend on the version
        (ingestion("scheduled-batch", {"id": "daily"}), False),
    ],
)
def test_whether_the_version_matters(sibling: Any, does: bool) -> None:
    assert specify_ids([ingestion(), sibling]) is does
