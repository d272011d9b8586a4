# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retention rules, as users write them and as Druid returns them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._spec.retention_rules import canonical_rules, merged_rules
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import given
from hypothesis import strategies as st

_TWO = {"tieredReplicants": {"_default_tier": 2}, "useDefaultTierForNull": True}
CASES: dict[str, tuple[Any, Any]] = {
    "tiers that are not stated": ({"type": "loadForever"}, {"type": "loadForever", **_TWO}),
    "tiers that are null": ({"type": "loadForever", "tieredReplicants": None}, {"type": "loadForever", **_TWO}),
    "no tiers": (
        {"type": "loadForever", "tieredReplicants": {}},
        {"type": "loadForever", "tieredReplicants": {}, "useDefaultTierForNull": True},
    ),
    "no tiers by default": (
        {"type": "loadForever", "useDefaultTierForNull": "false"},
        {"type": "loadForever", "tieredReplicants": {}, "useDefaultTierForNull": False},
    ),
    "numbers as text": (
        {"type": "loadForever", "tieredReplicants": {"hot": "2", "cold": "many"}},
        {"type": "loadForever", "tieredReplicants": {"hot": 2, "cold": "many"}, "useDefaultTierForNull": True},
    ),
    "numbers as fractions": (
        {"type": "loadForever", "tieredReplicants": {"hot": 2.0, "cold": 2.5}},
        {"type": "loadForever", "tieredReplicants": {"hot": 2, "cold": 2}, "useDefaultTierForNull": True},
    ),
    "a period": (
        {"type": "loadByPeriod", "period": "P1M"},
        {"type": "loadByPeriod", "period": "P1M", "includeFuture": True, **_TWO},
    ),
    "a period without the future": (
        {"type": "dropByPeriod", "period": "P1M", "includeFuture": "False"},
        {"type": "dropByPeriod", "period": "P1M", "includeFuture": False},
    ),
    "what Druid reads as null": (
        {"type": "loadByPeriod", "period": "", "includeFuture": "", "useDefaultTierForNull": ""},
        {"type": "loadByPeriod", "includeFuture": True, **_TWO},
    ),
    "numbers as booleans": (
        {"type": "loadByPeriod", "includeFuture": 2, "useDefaultTierForNull": 0},
        {"type": "loadByPeriod", "includeFuture": True, "tieredReplicants": {}, "useDefaultTierForNull": False},
    ),
    "the past has no future": (
        {"type": "dropBeforeByPeriod", "period": "P1M"},
        {"type": "dropBeforeByPeriod", "period": "P1M"},
    ),
    "an interval": (
        {"type": "dropByInterval", "interval": "2020/2021-06"},
        {"type": "dropByInterval", "interval": "2020-01-01T00:00:00.000Z/2021-06-01T00:00:00.000Z"},
    ),
    "an interval with a period": (
        {"type": "broadcastByInterval", "interval": "2020-01-01/P1Y"},
        {"type": "broadcastByInterval", "interval": "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z"},
    ),
    "no sense at all": ({"type": 1, "interval": 2}, {"type": 1, "interval": 2}),
}
LOADED = canonical_rules([{"type": "loadForever", "tieredReplicants": {"hot": 1, "_default_tier": 2}}])

tiers = st.none() | st.dictionaries(st.sampled_from(["hot", "cold"]), st.sampled_from([1, "2"]), max_size=2)
periods = st.sampled_from(["P1M", "P1D"])
intervals = st.sampled_from(["2020/2021", "2020-01-01/P1D", "x"])
futures = st.sampled_from([True, "false", None])


def _rules(**also: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Rules that have what their types must have, and may have the rest."""
    load = {"tieredReplicants": tiers, **also}
    return st.lists(
        st.one_of(
            st.fixed_dictionaries({"type": st.just("loadForever")}, optional=load),
            st.fixed_dictionaries(
                {"type": st.just("loadByPeriod"), "period": periods}, optional={**load, "includeFuture": futures}
            ),
            st.fixed_dictionaries({"type": st.just("dropByInterval"), "interval": intervals}, optional=also),
            st.fixed_dictionaries({"type": st.just("unheardOf")}, optional=also),
        ),
        max_size=4,
    )


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES)
def test_canonical(value: Any, expected: Any) -> None:
    assert canonical_rules([value]) == [expected]
    assert canonical_rules(canonical_rules([value])) == [expected]


def test_unspecified_tier_is_removed() -> None:
    fewer = canonical_rules([{"type": "loadForever", "tieredReplicants": {"hot": 1}}])

    assert merged_rules(LOADED, "a", fewer) == fewer


def test_order_matters() -> None:
    drop = {"type": "dropForever"}

    assert merged_rules([*LOADED, drop], "a", [drop, *LOADED]) == [drop, *LOADED]


def test_field_of_a_newer_release_is_no_change() -> None:
    newer = [{**LOADED[0], "newer": 1}]

    assert merged_rules(newer, "a", LOADED) == newer


def test_a_field_that_druid_does_not_return_is_sent() -> None:
    assert merged_rules(LOADED, "a", [{**LOADED[0], "colour": "red"}]) == [{**LOADED[0], "colour": "red"}]


def test_empty_list_removes_rules_but_not_those_of_the_cluster() -> None:
    assert merged_rules(LOADED, "a", []) == []
    with pytest.raises(
        InvalidInput, match=r"^rules \(\[\]\): the rules of the cluster cannot be empty; .* loadForever$"
    ):
        merged_rules(LOADED, "_default", [])


@given(_rules(), _rules(colour=st.just("red")))
def test_desired_rules_are_unchanged(before: Any, desired: Any) -> None:
    before, desired = canonical_rules(before), canonical_rules(desired)
    after = merged_rules(before, "a", desired)

    assert are_same(merged_rules(after, "a", desired), after)
    assert are_same(merged_rules(before, "a", before), before)
