# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a drain survives its annotation, and a broken one does no harm."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import (
    from_annotation,
    to_annotation,
    without_future,
)

FULL = Record(
    "mm-2", "uid", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:40Z", True
)


@pytest.mark.parametrize("records", [(), (Record("mm-0", "u", "s"),), (FULL, Record("mm-0", "u", "s"))])
def test_reads_what_it_has_written(records: tuple[Record, ...]) -> None:
    assert from_annotation(to_annotation(records)) == records


def test_a_time_in_the_future_does_not_prolong_a_limit() -> None:
    later, now = "2999-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
    found = without_future(Record("mm-0", "u", later, later, later, later), datetime.fromisoformat(now))
    assert found == Record("mm-0", "u", now, now, now, now)
    assert without_future(FULL, datetime(2026, 1, 2, tzinfo=UTC)) is FULL


def test_is_short() -> None:
    assert to_annotation([Record("mm-0", "u", "s")]) == '[{"pod":"mm-0","uid":"u","since":"s"}]'


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "1", "[1]", "[" * 100_000, '[{"pod":"mm-0"}]', '[{"pod":"mm","uid":"u","since":"s"}]', '{"a":1}'],
)
def test_ignores_what_it_cannot_read(text: str | None) -> None:
    assert from_annotation(text) == ()
