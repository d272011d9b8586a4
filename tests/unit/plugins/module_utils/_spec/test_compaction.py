# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The automatic compaction of a datasource: the user's specification, and the desired state."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import (
    merged_compaction,
    specified_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import example, given
from hypothesis import strategies as st

BEFORE: dict[str, Any] = {
    "dataSource": "a",
    "taskPriority": 25,
    "skipOffsetFromLatest": "P1D",
    "maxRowsPerSegment": None,
    "tuningConfig": {"maxRowsInMemory": 5, "partitionsSpec": {"type": "dynamic", "maxTotalRows": 7}},
    "granularitySpec": None,
    "taskContext": {"a": 1, "b": 2},
    "metricsSpec": [{"type": "count", "name": "n"}],
}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {}),
    "as it is": ({"taskPriority": "25", "tuningConfig": {"maxRowsInMemory": 5}}, {}),
    "another priority": ({"taskPriority": 30}, {"taskPriority": 30}),
    "a granularity": (
        {"granularitySpec": {"segmentGranularity": "day"}},
        {"granularitySpec": {"segmentGranularity": "DAY"}},
    ),
    "other partitions keep nothing": (
        {"tuningConfig": {"partitionsSpec": {"type": "hashed"}}},
        {"tuningConfig": {"maxRowsInMemory": 5, "partitionsSpec": {"type": "hashed"}}},
    ),
    "a list is replaced": ({"metricsSpec": []}, {"metricsSpec": []}),
    "null of nothing": ({"maxRowsPerSegment": None, "granularitySpec": None}, {}),
    "null removes inside": (
        {"tuningConfig": {"maxRowsInMemory": None}},
        {"tuningConfig": {"maxRowsInMemory": None, "partitionsSpec": {"type": "dynamic", "maxTotalRows": 7}}},
    ),
    "a context keeps the rest": (
        {"taskContext": {"a": None, "c": "1"}},
        {"taskContext": {"a": None, "b": 2, "c": "1"}},
    ),
    "what Druid may not know is sent": ({"taskPriorty": 3}, {"taskPriorty": 3}),
}


@pytest.mark.parametrize(("desired", "different"), CASES.values(), ids=CASES)
def test_changed(desired: dict[str, Any], different: dict[str, Any]) -> None:
    assert are_same(merged_compaction(BEFORE, specified_compaction("a", desired)), {**BEFORE, **different})


def test_absent_is_none() -> None:
    assert merged_compaction(BEFORE, None) is None
    assert merged_compaction(None, None) is None


def test_datasource_is_specified_once() -> None:
    assert specified_compaction(None, {"dataSource": "a"})["dataSource"] == "a"
    with pytest.raises(InvalidInput, match=r"datasource \('a'\): the config has dataSource 'b'; set only one of them"):
        specified_compaction("a", {"dataSource": "b"})
    with pytest.raises(InvalidInput, match=r"datasource: set the datasource to compact"):
        specified_compaction(None, {})


names = st.sampled_from(["taskPriority", "tuningConfig", "taskContext", "a", "type"])
leaves = st.none() | st.booleans() | st.integers(-3, 30) | st.sampled_from(["", "1", "x", "P1D"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=10
)
documents = st.dictionaries(names, values, max_size=4)


@given(documents, documents)
@example(
    {"taskContext": {"taskContext": {"taskPriority": False}}},
    {"taskContext": {"taskContext": {"taskPriority": None}}},
)
def test_desired_state_is_unchanged(before: Any, desired: Any) -> None:
    specified = specified_compaction("a", desired)
    after = merged_compaction({**before, "dataSource": "a"}, specified)

    assert are_same(merged_compaction(after, specified), after)
