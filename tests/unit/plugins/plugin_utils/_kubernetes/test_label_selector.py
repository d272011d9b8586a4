# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Selectors as the API server evaluates them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.label_selector import matches

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
    assert matches(selector, LABELS) == expected
