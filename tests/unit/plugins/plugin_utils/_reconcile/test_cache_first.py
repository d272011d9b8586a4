# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a reconcile reads the API server although the cache shows nothing to do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, islice, pairwise, repeat
from uuid import UUID

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import is_full_due, period_of
from hypothesis import given
from hypothesis import strategies as st

START = datetime(2026, 1, 1, tzinfo=UTC)
PERIOD = "ansible.sdk.operatorframework.io/reconcile-period"


@given(
    uid=st.uuids(),
    period=st.sampled_from([5.0, 60.0, 600.0]),
    start=st.floats(0, 1e6),
    late=st.floats(0, 0.1),
    postponed=st.lists(st.floats(0, 30) | st.just(30.0), max_size=20),
)
def test_one_reconcile_in_ten_reads_the_api_server(
    uid: UUID, period: float, start: float, late: float, postponed: list[float]
) -> None:
    """Without events, reconciles are a period and the duration of a run apart, and for how long one is postponed."""
    intervals = (period * (1 + late) + wait for wait in chain(postponed, repeat(0.0)))
    times = [*accumulate(islice(intervals, 199), initial=start)]
    full = [
        number for number, time in enumerate(times) if is_full_due(str(uid), period, START + timedelta(seconds=time))
    ]
    assert all(later - earlier <= 10 for earlier, later in pairwise([-1, *full, 200]))
    assert all(times[later] - times[earlier] <= 10 * period + 30 for earlier, later in pairwise(full))


def test_resources_are_due_at_different_times() -> None:
    for number in range(9):
        now = START + timedelta(minutes=10 * number)
        # 1.2 in a cycle of 9, and 30 seconds: the tolerance is for reconciles that are late
        assert 0.1 < sum(is_full_due(f"uid {each}", 600, now) for each in range(1000)) / 1000 < 0.16


def test_without_a_period_each_reconcile_reads_the_api_server() -> None:
    assert is_full_due("u", 0, START)


@pytest.mark.parametrize(
    ("annotations", "period"),
    [(None, 60), ({}, 60), ({PERIOD: "5m"}, 300), ({PERIOD: "2s"}, 10), ({PERIOD: "often"}, 10), ({PERIOD: 5}, 60)],
)
def test_period_of_a_resource(annotations: object, period: float) -> None:
    assert period_of({"metadata": {"annotations": annotations}}, 60) == period
