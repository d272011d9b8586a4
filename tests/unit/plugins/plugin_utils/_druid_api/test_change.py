# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A difference that Druid normalizes is not applied again; every other difference is."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import fetch_change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    DYNAMIC_CONFIG,
    RETENTION_RULES,
    DruidChange,
    digest_of_normalization,
    without_normalization,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

DESIRED, NORMALIZED = {"a": 1, "typo": 2}, {"a": 1}


def change(before: Any, after: Any, name: str = "broker", desired: Any = DESIRED) -> DruidChange:
    return DruidChange(DYNAMIC_CONFIG, name, f"dynamic configuration of {name}", desired, before, after)


APPLIED = change(NORMALIZED, DESIRED)
RECORDED = {"broker": str(digest_of_normalization(APPLIED))}


def test_only_what_remains_is_recorded() -> None:
    assert digest_of_normalization(change(DESIRED, DESIRED)) is None


@pytest.mark.parametrize(
    ("found", "is_due"),
    [
        (APPLIED, False),
        # any other change in Druid is reverted
        (change({"a": 2}, DESIRED), True),
        (change({**NORMALIZED, "b": 1}, DESIRED), True),
        # another specification, and another object
        (change(NORMALIZED, DESIRED, desired={"a": 2}), True),
        (change(NORMALIZED, DESIRED, "overlord"), True),
        (change(DESIRED, DESIRED), False),
    ],
)
def test_normalized_differences_are_left_out(found: DruidChange, is_due: bool) -> None:
    assert without_normalization(found, RECORDED).changed is is_due
    assert without_normalization(found, {}) == found


RULE = {"type": "loadForever", "tieredReplicants": {"_default_tier": 2}, "useDefaultTierForNull": True}


@pytest.mark.parametrize("normalizes", [False, True])
def test_normalized_difference_is_a_warning(normalizes: bool) -> None:
    client: Any = FakeDruid({"/druid/coordinator/v1/rules/pages": [RULE]})
    what, desired = "retention rules of pages", [{**RULE, "tieredReplicants": {"hot": 1}}]
    found = fetch_change(
        client,
        RETENTION_RULES,
        "pages",
        what,
        desired,
        lambda each: replace(each, after=each.before) if normalizes else each,
    )
    assert found.changed is not normalizes
    assert found.title == "update retention rules of pages"
    assert bool(found.warnings) is normalizes
    assert all(text.startswith("Retention rules of datasource 'pages': ") for text in found.warnings)
    assert pickle.loads(pickle.dumps(found)) == found
