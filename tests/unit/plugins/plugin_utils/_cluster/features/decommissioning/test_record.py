# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a decommissioning, in an annotation and in the status."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    Entry,
    from_annotation,
    to_annotation,
    united,
)

SINCE, LATER = "2026-11-24T11:00:00Z", "2026-11-24T12:00:00Z"
ENTRY = Entry("h-1", "historicals", SINCE, "h-1:8083")
PROGRESS = replace(ENTRY, bytes=0, empty_since=SINCE, ended=True, unlisted_since=LATER)
DOCUMENT = {"pod": "h-1", "group": "historicals", "startedAt": SINCE, "server": "h-1:8083"}


def test_an_annotation_has_the_names_without_progress() -> None:
    others = Entry("h-2", "historicals", SINCE, "h-2:8083", listed_by_others=True)
    text = to_annotation((PROGRESS, others, Entry("h-3", "historicals", SINCE)))
    assert from_annotation(text) == (ENTRY, others)
    assert json.loads(text)[0] == DOCUMENT


def test_nothing_is_recorded_without_a_name() -> None:
    assert to_annotation(()) == to_annotation((Entry("h-1", "historicals", SINCE),)) == ""


@pytest.mark.parametrize("text", [None, "", "no", "[" * 100_000, "{}", "1", '["h"]', "[[]]"])
def test_a_broken_annotation_has_no_entries(text: str | None) -> None:
    assert from_annotation(text) == ()


@pytest.mark.parametrize(
    "broken",
    [
        {"server": None},
        {"server": 5},
        {"pod": ""},
        {"group": ["a"]},
        {"startedAt": "yesterday"},
        {"startedAt": "2026-11-24"},
    ],
)
def test_a_broken_entry_counts_as_none(broken: dict[str, Any]) -> None:
    other = {**DOCUMENT, "pod": "h-2"}
    text = json.dumps([{**DOCUMENT, **broken}, other])
    assert [entry.pod for entry in from_annotation(text)] == ["h-2"]


LISTED = replace(ENTRY, listed_by_others=True)


@pytest.mark.parametrize(
    ("annotated", "stored", "expected"),
    [
        pytest.param((ENTRY,), (PROGRESS,), (PROGRESS,), id="both"),
        pytest.param((ENTRY,), (), (ENTRY,), id="the status is lost"),
        pytest.param((), (PROGRESS,), (PROGRESS,), id="an older version has stored it"),
        pytest.param(
            (ENTRY,), (replace(PROGRESS, listed_by_others=True),), (PROGRESS,), id="the annotation has whose it is"
        ),
        pytest.param((LISTED,), (ENTRY,), (LISTED,), id="the entry of others"),
        pytest.param(
            (ENTRY,), (replace(ENTRY, started_at=LATER),), (replace(ENTRY, started_at=LATER),), id="again, status"
        ),
        pytest.param(
            (replace(ENTRY, started_at=LATER),), (ENTRY,), (replace(ENTRY, started_at=LATER),), id="again, annotation"
        ),
        pytest.param(
            (ENTRY,),
            (replace(ENTRY, server="a:1"), Entry("h-2", "historicals", SINCE)),
            (replace(ENTRY, server="a:1"), Entry("h-2", "historicals", SINCE), ENTRY),
            id="another address",
        ),
    ],
)
def test_what_both_have_is_united(
    annotated: tuple[Entry, ...], stored: tuple[Entry, ...], expected: tuple[Entry, ...]
) -> None:
    assert united(annotated, stored) == expected
