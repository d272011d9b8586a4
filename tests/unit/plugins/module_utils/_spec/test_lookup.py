# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lookups: what a specification defines, and the versions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import (
    DesiredLookup,
    desired_lookup,
    is_newer,
    next_version,
    required_version,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 11, 29, 20, 0, 0, 5000, UTC)
TIME = "2026-11-29T20:00:00.005Z"
MAP = {"type": "map", "map": {"a": "b"}}


def test_specification() -> None:
    spec = {"version": "v1", "lookupExtractorFactory": MAP, "verison": 1}
    assert desired_lookup(spec) == DesiredLookup(MAP, "v1", ("verison",))


REJECTED: list[tuple[dict[str, Any], str]] = [
    ({}, "spec.lookupExtractorFactory: set the factory, a mapping with its type"),
    (MAP, "lookupExtractorFactory: {type: ...}"),
    ({"lookupExtractorFactory": "map"}, "spec.lookupExtractorFactory: set the factory"),
    ({"lookupExtractorFactory": {"map": {}}}, "spec.lookupExtractorFactory.type: set the type of the lookup"),
    ({"lookupExtractorFactory": {"type": ["map"]}}, "spec.lookupExtractorFactory.type"),
    ({"lookupExtractorFactory": {"type": "cachednamespace"}}, "Did you mean 'cachedNamespace'?"),
    ({"lookupExtractorFactory": {"type": "paldb"}}, "set custom_type: true"),
    ({"version": 1, "lookupExtractorFactory": MAP}, "spec.version (1): must be a string"),
]


@pytest.mark.parametrize(("spec", "message"), REJECTED)
def test_rejects_a_specification(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        desired_lookup(spec)
    assert message in str(error.value)


def test_type_of_another_extension() -> None:
    factory = {"type": "paldb"}
    assert desired_lookup({"lookupExtractorFactory": factory}, has_custom_type=True).factory == factory


VERSIONS = [
    (None, TIME),
    ("2026-11-29T19:00:00.000Z", TIME),
    ("v9", f"v9-{TIME}"),
    ("v9-2026-11-01T00:00:00.000Z", f"v9-{TIME}"),
    # the clock of another one was ahead
    ("2026-12-01T00:00:00.000Z", f"2026-12-01T00:00:00.000Z-{TIME}"),
    (f"v9-{TIME}", f"v9-{TIME}-{TIME}"),
]


@pytest.mark.parametrize(("current", "expected"), VERSIONS)
def test_next_version(current: str | None, expected: str) -> None:
    assert next_version(current, NOW) == expected


@given(st.text(), st.datetimes(min_value=datetime(2000, 1, 1), timezones=st.just(UTC)))
def test_next_version_replaces_any(current: str, now: datetime) -> None:
    assert is_newer(next_version(current, now), current)


def test_order_is_that_of_java() -> None:
    assert not is_newer("v10", "v9")
    # by code point, these are in the other order
    assert is_newer("\uffff", "\U00010000")


def test_specified_version_that_would_not_replace_is_rejected() -> None:
    assert required_version("v2", "v1") == required_version("v2", None) == "v2"
    with pytest.raises(InvalidInput, match=r"^spec.version \('v10'\): Druid has 'v9', and replaces it only"):
        required_version("v10", "v9")
