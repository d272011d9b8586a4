# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications as strings."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_mapping


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("a: [1, null]", {"a": [1, None]}),
        # Druid requires the string, not a date
        ("interval: 2026-01-01", {"interval": "2026-01-01"}),
    ],
)
def test_parse_mapping(value: Any, expected: Any) -> None:
    assert parse_mapping(value, "spec") == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[1]", "spec: must be a mapping, or a JSON or YAML string of one, not list"),
        (None, "spec: must be a mapping, or a JSON or YAML string of one, not null"),
        ("password: x: y", "spec: is neither JSON nor YAML: mapping values are not allowed"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ],
)
def test_rejects_other_values_than_mappings(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_mapping(value, "spec")

    assert message in str(refusal.value)
