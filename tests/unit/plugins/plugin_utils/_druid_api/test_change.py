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
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
    Store,
    with_normalized,
    without_normalization,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid

STORE = Store(name=lambda change: change.what, state=lambda change: change.before)
IN_STATUS = Store(name=lambda change: change.id, state=lambda change: [change.desired, change.before])
DESIRED, NORMALIZED = {"a": 1, "typo": 2}, {"a": 1}


def change(before: Any, after: Any, name: str = "pages") -> DruidChange:
    return DruidChange(SUPERVISOR, name, f"supervisor {name}", DESIRED, before, after)


APPLIED = change(NORMALIZED, DESIRED)


@pytest.mark.parametrize(
    ("applied", "before", "after", "is_recorded"),
    [
        ([APPLIED], NORMALIZED, DESIRED, True),
        ([APPLIED], NORMALIZED, NORMALIZED, False),
        # not applied in this reconcile: another user has changed it
        ([], NORMALIZED, DESIRED, False),
        ([change(NORMALIZED, DESIRED, "other")], NORMALIZED, DESIRED, False),
        # it does not exist, or should not
        ([APPLIED], None, DESIRED, False),
        ([APPLIED], NORMALIZED, None, False),
        # Druid does not normalize the suspension
        ([APPLIED], {**NORMALIZED, "suspended": True}, {**NORMALIZED, "suspended": False}, False),
        ([APPLIED], {**NORMALIZED, "suspended": False}, {**DESIRED, "suspended": False}, True),
    ],
)
@pytest.mark.parametrize("store", [STORE, IN_STATUS], ids=["record", "status"])
def test_recorded_normalizations(
    applied: list[DruidChange], before: Any, after: Any, is_recorded: bool, store: Store
) -> None:
    assert bool(with_normalized({}, applied, [change(before, after)], store)) is is_recorded


RECORDED = with_normalized({}, [APPLIED], [APPLIED], STORE)


def test_digests_of_applied_objects_are_replaced() -> None:
    known = {**RECORDED, "supervisor other": "1"}
    assert with_normalized(known, [APPLIED], [change(DESIRED, DESIRED)], STORE) == {"supervisor other": "1"}
    assert with_normalized(known, [], [], STORE) == known


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [
        (NORMALIZED, DESIRED, NORMALIZED),
        # any other change in Druid is reverted
        ({"a": 2}, DESIRED, DESIRED),
        ({**NORMALIZED, "b": 1}, DESIRED, DESIRED),
        (None, DESIRED, DESIRED),
        (NORMALIZED, None, None),
        # the suspension changes alone
        (NORMALIZED, {**DESIRED, "suspended": True}, {**NORMALIZED, "suspended": True}),
        (
            {**NORMALIZED, "suspended": True},
            {**DESIRED, "suspended": False},
            {**NORMALIZED, "suspended": False},
        ),
        ({**NORMALIZED, "suspended": True}, {**DESIRED, "suspended": True}, {**NORMALIZED, "suspended": True}),
        ({**NORMALIZED, "suspended": True}, {**NORMALIZED, "suspended": False}, {**NORMALIZED, "suspended": False}),
    ],
)
def test_normalized_differences_are_left_out(before: Any, after: Any, due: Any) -> None:
    assert without_normalization(change(before, after), RECORDED, STORE).after == due


def test_digest_belongs_to_one_object() -> None:
    other = change(NORMALIZED, DESIRED, "other")
    assert without_normalization(other, RECORDED, STORE) == other


def test_digest_in_the_status_belongs_to_one_spec() -> None:
    known = with_normalized({}, [APPLIED], [APPLIED], IN_STATUS)
    assert not without_normalization(APPLIED, known, IN_STATUS).changed
    other = DruidChange(SUPERVISOR, "pages", "", {"a": 2}, NORMALIZED, DESIRED)
    assert without_normalization(other, known, IN_STATUS) == other


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
