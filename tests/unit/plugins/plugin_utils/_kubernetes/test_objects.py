# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metadata of any object: finalizers, and the labels that a selector matches."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    finalizer_patch,
    selector_matches,
)

OURS = "example.com/finalizer"
TEST = {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}


@pytest.mark.parametrize(
    ("finalizers", "is_desired", "expected"),
    [
        (None, True, [OURS]),
        (["orphan"], True, ["orphan", OURS]),
        ([OURS], True, [OURS]),
        ([OURS, "orphan"], False, ["orphan"]),
        ([OURS], False, []),
        (None, False, []),
    ],
)
def test_other_finalizers_are_kept(finalizers: list[str] | None, is_desired: bool, expected: list[str]) -> None:
    resource: dict[str, Any] = {"metadata": {"finalizers": finalizers, "resourceVersion": "7"}}
    patch = finalizer_patch(resource, OURS, is_desired=is_desired)
    assert patch == [TEST, {"op": "add", "path": "/metadata/finalizers", "value": expected}]


def test_other_preconditions() -> None:
    resource = {"metadata": {"finalizers": [OURS], "uid": "u"}}
    *tests, _change = finalizer_patch(resource, OURS, is_desired=False, unchanged=("uid", "finalizers"))
    assert tests == [
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "test", "path": "/metadata/finalizers", "value": [OURS]},
    ]


LABELS = {"a": "1", "b": "2"}
TABLE: list[tuple[Any, bool]] = [
    (None, False),
    ({}, True),
    ({"matchLabels": {"a": "1"}}, True),
    ({"matchLabels": {"a": "1", "b": "1"}}, False),
    ({"matchLabels": {"c": "1"}}, False),
    ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, True),
    ({"matchExpressions": [{"key": "c", "operator": "In", "values": ["1"]}]}, False),
    ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, False),
    ({"matchExpressions": [{"key": "c", "operator": "NotIn", "values": ["1"]}]}, True),
    ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "c", "operator": "Exists"}]}, False),
    ({"matchExpressions": [{"key": "c", "operator": "DoesNotExist"}]}, True),
    ({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, False),
]


@pytest.mark.parametrize(("selector", "expected"), TABLE)
def test_matches(selector: Any, expected: bool) -> None:
    assert selector_matches(selector, LABELS) == expected
