# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wanted of a supervisor: what is described, and nothing of what was described before and is not any more."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import (
    desired_supervisor,
    identity,
    with_removed_fields,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import KAFKA, ingestion
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
