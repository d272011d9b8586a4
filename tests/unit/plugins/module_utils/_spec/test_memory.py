# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The marker of a write, what it knows of removed fields, and what is left over of a specification."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import (
    KEY,
    Marker,
    baseline,
    digest_of,
    digest_of_left_over,
    marker_in,
    paths_of,
    place_of,
    settled,
    with_marker,
    without_marker,
    without_markers,
    without_removed,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from hypothesis import given
from hypothesis import strategies as st

CONTEXT = ("context",)
AT = "2026-01-01T00:00:00.000+00:00"
leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "1", "1.0", "true", "null"])
documents = st.recursive(
    leaves,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from("abc"), inside, max_size=3),
    max_leaves=8,
)


def marker(specified: Any, at: str = AT, left_over: str = "") -> Marker:
    return Marker(digest_of(specified, "a", CONTEXT), at, "33.0.0", paths_of(specified), left_over)


@pytest.mark.parametrize("context", [None, {}, {"priority": 1}])
@pytest.mark.parametrize(
    ("kind", "place"),
    [("kafka", CONTEXT), ("autocompact", ("spec", "taskContext")), ("scheduled_batch", ("spec", "context"))],
)
def test_a_marker_is_beside_the_context_of_the_user(kind: str, place: tuple[str, ...], context: Any) -> None:
    spec: dict[str, Any] = {"type": kind, "spec": {"a": 1}}
    spec = {**spec, "spec": {**spec["spec"], place[1]: context}} if len(place) == 2 else {**spec, place[0]: context}
    assert place_of(spec) == place
    written = with_marker(spec, place, found := marker({"a": {"b": 1}}, left_over="x"))
    assert marker_in(written, place) == found
    # an empty context is what Druid returns for none
    assert without_marker(written, place) == without_marker(spec, place)
    assert without_marker(without_marker(written, place), place) == without_marker(written, place)


@pytest.mark.parametrize(
    "context", [None, "x", [], {}, {KEY: None}, {KEY: "2 a b - - -"}, {KEY: "1 a"}, {KEY: {"a": 1}}]
)
def test_anything_else_is_no_marker(context: Any) -> None:
    assert marker_in({"context": context}, CONTEXT) is None
    assert without_marker({"context": "x"}, CONTEXT) == {"context": "x"}
    assert with_marker({"context": "x"}, CONTEXT, marker({})) == {"context": "x"}


def test_copies_of_a_marker_are_left_out_wherever_they_are() -> None:
    text = marker({"a": 1}).text
    task = {"context": {"a": 1, KEY: text}, "spec": [{"context": {KEY: text}, "x": text}], KEY: {"context": None}}
    assert without_markers(task) == {"context": {"a": 1}, "spec": [{"context": {}, "x": text}], KEY: {"context": None}}


SAME: dict[str, tuple[Any, Any]] = {
    "another order": ({"a": 1, "b": [1]}, {"b": [1], "a": 1}),
    "the suspension": ({"a": 1}, {"a": 1, "suspended": True}),
    "as a template makes them": ({"a": 1, "b": [{"c": True}]}, {"a": "1", "b": [{"c": "true"}]}),
    "as Kubernetes makes it": ({"a": 1.0, "b": -2e3}, {"a": 1, "b": -2000}),
    "with a copied marker": ({"context": {"a": 1}}, {"context": {"a": 1, KEY: marker({"b": 1}).text}}),
}
OTHER: dict[str, tuple[Any, Any]] = {
    "a number": ({"a": 1}, {"a": 2}),
    "two texts": ({"a": "1"}, {"a": "1.0"}),
    "text of another case": ({"a": "true"}, {"a": "True"}),
    "a boolean": ({"a": 1}, {"a": True}),
    "null": ({"a": None}, {"a": "null"}),
    "null and nothing": ({"a": None}, {}),
    "a list": ({"a": 1}, {"a": [1]}),
    "an order": ({"a": [1, 2]}, {"a": [2, 1]}),
    "a number where Druid keeps what is sent": ({"context": {"a": 1}}, {"context": {"a": "1"}}),
    "a value that matches": ({"a": [{"matchValue": 1}]}, {"a": [{"matchValue": "1"}]}),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_content_of_two_writers_has_one_digest(one: Any, other: Any) -> None:
    assert digest_of(one, "supervisor a", CONTEXT) == digest_of(other, "supervisor a", CONTEXT)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_another_content_has_another_digest(one: Any, other: Any) -> None:
    assert digest_of(one, "supervisor a", CONTEXT) != digest_of(other, "supervisor a", CONTEXT)


def test_the_same_of_another_object_has_another_digest() -> None:
    """A specification that is copied with its marker is not known to be the last write of the copy."""
    found = {digest_of({"a": 1}, name, CONTEXT) for name in ("supervisor a", "supervisor b", "compaction a")}
    assert len(found) == 3


@given(documents, documents)
def test_what_merging_distinguishes_has_two_digests(one: Any, other: Any) -> None:
    first, second = ({"a": each} for each in (one, other))
    if digest_of(first, "a", CONTEXT) == digest_of(second, "a", CONTEXT):
        assert are_same(merge(first, second), first)


@pytest.mark.parametrize(
    ("of_write", "now", "older"),
    [
        ("33.0.0", "33.0.1", True),
        ("9.0.0", "33.0.0", True),
        ("33.0.0", "33.0.0", False),
        ("34.0.0", "33.0.0", False),
        ("", "33.0.0", False),
        ("33.0.0", "", False),
    ],
)
def test_a_write_to_an_older_release(of_write: str, now: str, older: bool) -> None:
    assert marker({})._replace(release=of_write).is_of_older(now) is older


REMOVED: dict[str, tuple[Any, Any, Any, Any]] = {
    "a value": ({"a": 1, "b": 2}, {"a": 1, "b": 2, "others": 3}, {"a": 1}, {"a": 1, "others": 3}),
    "a value inside": ({"a": {"x": 1}}, {"a": {"x": 1, "others": 2}}, {"a": {}}, {"a": {"others": 2}}),
    "null specifies nothing": ({"a": {"x": None}}, {"a": {"x": 2}}, {"a": {}}, {"a": {"x": 2}}),
    "a null stays": ({"a": 1}, {"a": None}, {}, {"a": None}),
    "the type, the id, the suspension": (
        {"type": "t", "id": "i", "suspended": True, "spec": {"tuningConfig": {"type": "t", "x": 1}}},
        {"type": "t", "id": "i", "suspended": True, "spec": {"tuningConfig": {"type": "t", "x": 1}}},
        {},
        {"type": "t", "id": "i", "suspended": True, "spec": {"tuningConfig": {"type": "t"}}},
    ),
    "of a mapping what was specified": (
        {"context": {"priority": 5}},
        {"context": {"priority": 5, "others": True}},
        {},
        {"context": {"others": True}},
    ),
    "a mapping of which nothing is left": ({"a": {"b": {"x": 1}}}, {"a": {"b": {"x": 1, "y": None}}}, {}, {}),
    "a mapping that was empty before": ({"a": {"x": 1}}, {"a": {}, "b": {"y": None}}, {}, {"a": {}, "b": {"y": None}}),
    "a mapping with a type": ({"a": {"type": "t", "x": 1}}, {"a": {"type": "t", "x": 1, "default": 2}}, {}, {}),
    "a mapping that does nothing without a field": (
        {"a": {"enableTaskAutoScaler": True}, "b": {"enabled": True}},
        {"a": {"enableTaskAutoScaler": True, "default": 2}, "b": {"enabled": True, "default": 2}},
        {},
        {},
    ),
    "a field of an element with a name": (
        {"list": [{"name": "n", "z": 1}]},
        {"list": [{"name": "n", "z": 1, "others": 2}]},
        {"list": [{"name": "n"}]},
        {"list": [{"name": "n", "others": 2}]},
    ),
    "a list": ({"list": [1]}, {"list": [1]}, {}, {}),
    "a list without names, of which an element has lost a field": (
        {"fields": [{"type": "selector", "extractionFn": {"type": "lower"}}]},
        {"fields": [{"type": "selector", "extractionFn": {"type": "lower"}, "default": 1}]},
        {"fields": [{"type": "selector"}]},
        {"fields": []},
    ),
    "beside a list without names": (
        {"a": 1, "fields": [{"type": "selector"}]},
        {"a": 1, "fields": [{"type": "selector", "default": 1}]},
        {"fields": [{"type": "selector"}]},
        {"fields": [{"type": "selector", "default": 1}]},
    ),
}


@pytest.mark.parametrize(("last", "before", "desired", "after"), REMOVED.values(), ids=REMOVED)
def test_what_is_specified_no_longer_is_removed(last: Any, before: Any, desired: Any, after: Any) -> None:
    assert without_removed(before, desired, marker(last), "") == after
    assert without_removed(before, last, marker(last), "") == before
    # others have written it, or nothing is specified
    assert without_removed(before, desired, None, "") == before
    assert without_removed(before, None, marker(last), "") == before


def test_a_large_specification_has_a_small_marker() -> None:
    fields = [{"name": f"n{number}", "type": "string"} for number in range(10_000)]
    assert len(marker({"a": {"b": 1}, "list": fields}).text) < 100


def row(found: Marker | None, **spec: Any) -> dict[str, Any]:
    return {"spec": spec if found is None else with_marker(spec, CONTEXT, found), "version": AT}


def test_the_baseline_is_the_oldest_row_with_the_marker() -> None:
    last, former = marker({"a": 1}), marker({"a": 1}, "2025-01-01T00:00:00.000+00:00")
    ours = row(last, a=1)
    rows = [
        row(last, a=3),
        {"spec": {"type": "noop"}},
        {"spec": None},
        None,
        row(last, a=2),
        ours,
        row(former),
        row(None),
    ]
    assert baseline(rows, last, CONTEXT) == ours["spec"]
    for unknown in ([row(None, a=1)], [], None, {"error": "x"}):
        assert baseline(unknown, last, CONTEXT) is None


@pytest.mark.parametrize(
    ("before", "after", "known", "found"),
    [
        # Druid has dropped it, has another form of it, or another client has changed it
        ({}, {"a": 1}, {}, {}),
        ({"a": "PT60S"}, {"a": "PT1M"}, {"a": "PT60S"}, {"a": "PT60S"}),
        ({"a": 2}, {"a": 1}, {"a": 3}, {"a": 1}),
        ({}, {"a": 1}, {"a": 3}, {"a": 1}),
        ({"a": 2}, {"a": None}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {}, {}, {}),
        # both at once
        (
            {"a": [{"b": 1}], "c": 5},
            {"a": [{"b": 2, "x": 3}], "c": 4},
            {"a": [{"b": 1}], "c": 4},
            {"a": [{"b": 1}], "c": 4},
        ),
        ([1, 2], [1, 3], [1, 2, 3], [1, 3]),
        ({"a": 1}, {"a": True}, {"a": 1}, {"a": 1}),
    ],
)
def test_a_difference_that_the_baseline_has_is_druids(before: Any, after: Any, known: Any, found: Any) -> None:
    assert settled(before, after, known) == found


@given(documents, documents, documents)
def test_settled(before: Any, after: Any, known: Any) -> None:
    assert are_same(settled(before, after, before), before)
    assert are_same(settled(before, before, known), before)
    assert digest_of_left_over(before, before) == ""


def test_the_left_over_is_only_what_differs() -> None:
    before = {"a": 1, "b": {"c": [1]}}
    digest = digest_of_left_over(before, {"a": 1, "b": {"c": [2]}})
    assert digest == digest_of_left_over({**before, "x": 1}, {"x": 1, "a": 1, "b": {"c": [2]}})
    others = [
        {"a": 1, "b": {"c": [3]}},
        {"a": 2, "b": {"c": [2]}},
        {"a": 1, "b": {"c": [2], "d": 1}},
        {"a": 2},
        # what is to be removed
        {"a": 1},
        {},
        {"a": None, "b": {"c": [1]}},
        {"b": {"c": [1]}},
    ]
    assert len({digest, "", *(digest_of_left_over(before, other) for other in others)}) == len(others) + 2
    # also what another client makes of it
    assert digest_of_left_over({"a": 1}, {}) != digest_of_left_over({"a": 2}, {})
