# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dynamic configurations: the user's specification, and the desired state."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import (
    BROKER,
    COMPACTION,
    COORDINATOR,
    OVERLORD,
    TASK_RUNNER,
    ConfigKind,
    canonical_config,
    merged_config,
    unknown_config,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import assume, given
from hypothesis import strategies as st

_MOVES: dict[str, Any] = {
    "maxSegmentsToMove": 100,
    "decommissioningNodes": ["b:1", "a:1"],
    "debugDimensions": {"tier": "hot", "dataSource": "x"},
    "turboLoadingNodes": [],
}
_AFFINE: dict[str, Any] = {
    "type": "default",
    "selectStrategy": {
        "type": "equalDistributionWithAffinity",
        "affinityConfig": {"affinity": {"a": ["y:1", "x:1"], "b": ["z:1"]}, "strong": False},
        "taskLimits": {"maxSlotCountByType": {}},
    },
    "autoScaler": None,
}
_BLOCKED: dict[str, Any] = {
    "queryBlocklist": [
        {"ruleName": "r", "dataSources": ["b", "a"], "queryTypes": None, "contextMatches": {"a": "1", "b": "2"}}
    ],
    "queryContext": {"priority": 1, "lane": "x"},
    "perSegmentTimeoutConfig": {"a": {"perSegmentTimeoutMs": 5, "monitorOnly": False}},
}
_POD = {
    "type": "default",
    "capacity": 5,
    "podTemplateSelectStrategy": {
        "type": "selectorBased",
        "selectors": [
            {"selectionKey": "k", "context.tags": {"a": ["y", "x"]}, "type": ["index", "compact"], "dataSource": None}
        ],
    },
}


def _selector(**fields: Any) -> dict[str, Any]:
    return {"podTemplateSelectStrategy": {"selectors": [{"selectionKey": "k", **fields}]}}


# The kind, the current state, the specified fields, and the differing paths and values at the top level.
CASES: dict[str, tuple[ConfigKind, Any, Any, Any]] = {
    "nothing": (COORDINATOR, _MOVES, {}, {}),
    "as it is": (COORDINATOR, _MOVES, {"maxSegmentsToMove": "100", "decommissioningNodes": "a:1, b:1"}, {}),
    "another number": (COORDINATOR, _MOVES, {"maxSegmentsToMove": 5}, {"maxSegmentsToMove": 5}),
    "an element that is not stated is gone": (
        COORDINATOR,
        _MOVES,
        {"decommissioningNodes": ["b:1"]},
        {"decommissioningNodes": ["b:1"]},
    ),
    "null empties a list": (COORDINATOR, _MOVES, {"decommissioningNodes": None}, {"decommissioningNodes": []}),
    "null empties a mapping": (COORDINATOR, _MOVES, {"debugDimensions": None}, {"debugDimensions": {}}),
    "null takes an entry away": (
        COORDINATOR,
        _MOVES,
        {"debugDimensions": {"tier": None}},
        {"debugDimensions": {"dataSource": "x"}},
    ),
    "null of nothing": (OVERLORD, _AFFINE, {"autoScaler": None}, {}),
    "what Druid does not return is sent": (COORDINATOR, _MOVES, {"maxSegmentToMove": 5}, {"maxSegmentToMove": 5}),
    "a set of workers": (
        OVERLORD,
        _AFFINE,
        {"selectStrategy": {"affinityConfig": {"affinity": {"a": ["x:1", "y:1"]}}}},
        {},
    ),
    "another strategy keeps nothing": (
        OVERLORD,
        _AFFINE,
        {"selectStrategy": {"type": "fillCapacity"}},
        {"selectStrategy": {"type": "fillCapacity"}},
    ),
    "a rule is wanted exactly": (
        BROKER,
        _BLOCKED,
        {"queryBlocklist": [{"ruleName": "r", "dataSources": ["a", "b"], "contextMatches": {"a": "1"}}]},
        {
            "queryBlocklist": [
                {"ruleName": "r", "dataSources": ["a", "b"], "queryTypes": None, "contextMatches": {"a": "1"}}
            ]
        },
    ),
    "a rule as it is": (
        BROKER,
        _BLOCKED,
        {"queryBlocklist": [{"ruleName": "r", "dataSources": ["a", "b"], "contextMatches": {"a": 1, "b": "2"}}]},
        {},
    ),
    "no rule": (BROKER, _BLOCKED, {"queryBlocklist": []}, {"queryBlocklist": []}),
    "a context keeps the types": (
        BROKER,
        _BLOCKED,
        {"queryContext": {"priority": "1", "lane": None}},
        {"queryContext": {"priority": "1"}},
    ),
    "a selector as it is": (
        TASK_RUNNER,
        _POD,
        _selector(**{"context.tags": {"a": ["x", "y"]}, "type": ["compact", "index"]}),
        {},
    ),
    "a selector is wanted exactly": (
        TASK_RUNNER,
        _POD,
        _selector(type=["index"]),
        {
            "podTemplateSelectStrategy": {
                "type": "selectorBased",
                "selectors": [{"selectionKey": "k", "context.tags": None, "type": ["index"], "dataSource": None}],
            }
        },
    ),
}


@pytest.mark.parametrize(("kind", "before", "desired", "different"), CASES.values(), ids=CASES)
def test_changed(kind: ConfigKind, before: Any, desired: Any, different: Any) -> None:
    before, desired = canonical_config(kind, before), canonical_config(kind, desired)

    assert are_same(merged_config(kind, before, desired), {**before, **different})


def test_null_resets_a_field_of_a_replaced_configuration() -> None:
    assert merged_config(OVERLORD, _AFFINE, {"selectStrategy": None}) == {"type": "default", "autoScaler": None}


@pytest.mark.parametrize(
    ("kind", "before"), [(COORDINATOR, _MOVES), (COMPACTION, {"maxSegmentsToMove": 100}), (TASK_RUNNER, _MOVES)]
)
def test_null_is_rejected_for_a_field_that_cannot_be_reset(kind: ConfigKind, before: Any) -> None:
    words = r"maxSegmentsToMove \(null\): this field cannot be reset to its default \(current value: 100\); set a value"
    with pytest.raises(InvalidInput, match=words):
        merged_config(kind, before, {"maxSegmentsToMove": None})


def test_unset_configuration_has_no_known_fields() -> None:
    desired = {"selectStrategy": {"type": "fillCapacity"}, "autoScaler": None}

    assert not list(unknown_config(OVERLORD, {}, desired))
    assert merged_config(OVERLORD, {}, desired) == {"selectStrategy": {"type": "fillCapacity"}}


def test_unknown_fields_are_named_by_path() -> None:
    of_another_type = {"selectStrategy": {"type": "fillCapacityWithCategorySpec", "workerCategorySpec": {}}}
    misspelt = {"selectStrategy": {"affinityConfg": {}, "affinityConfig": {"strng": True}}, "autoscaler": None}

    assert not list(unknown_config(OVERLORD, _AFFINE, of_another_type))
    assert set(unknown_config(OVERLORD, _AFFINE, misspelt)) == {
        ("autoscaler",),
        ("selectStrategy", "affinityConfg"),
        ("selectStrategy", "affinityConfig", "strng"),
    }


names = st.sampled_from(
    ["decommissioningNodes", "selectStrategy", "affinityConfig", "affinity", "queryBlocklist", "queryContext", "type"]
)
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "1", "x", "b,a"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=10
)
documents = st.dictionaries(names, values, max_size=4)


@given(st.sampled_from([COORDINATOR, OVERLORD, TASK_RUNNER, BROKER, COMPACTION]), documents, documents)
def test_desired_state_is_unchanged(kind: ConfigKind, before: Any, desired: Any) -> None:
    before, desired = canonical_config(kind, before), canonical_config(kind, desired)
    try:
        after = merged_config(kind, before, desired)
    except InvalidInput:
        assume(False)
    # one that has been set has fields: only one that was never set is returned empty, without known fields
    assume(after or not before)

    assert are_same(merged_config(kind, after, desired), after)
    assert canonical_config(kind, before) == before
