# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the first run of a deletion may begin: each of them does, in order, and not all of them at once."""

from __future__ import annotations

import json
from collections.abc import Mapping

import hypothesis
import pytest
from ansible_collections.druidops.druid.build.runner import turns
from ansible_collections.druidops.druid.build.runner.turns import Turn, Turns, ask, ended, from_json, workers
from hypothesis import strategies as st

WORKERS = st.integers(1, 16)


def test_single_deletion_does_not_wait() -> None:
    answer = ask(Turns(), "a", 100, 2)
    assert (answer.wait, answer.is_first) == (0, True)
    again = ask(answer.turns, "a", 100.1, 2)
    assert (again.wait, again.is_first) == (0, False)


def test_deletions_one_after_another_do_not_wait() -> None:
    found = Turns()
    for number in range(5):
        found, wait, is_first = ask(found, str(number), 100 + number, 2)
        assert (wait, is_first) == (0, True)


@hypothesis.given(WORKERS, st.floats(0.05, 2), st.integers(2, 100))
def test_deletions_at_once_have_a_turn_each(workers: int, seconds: float, count: int) -> None:
    found, waits = Turns(seconds=seconds), []
    for number in range(count):
        found, wait, is_first = ask(found, str(number), 100, workers)
        waits.append(wait)
        assert is_first == (wait == 0)
    apart = seconds / max(1, workers - 1)
    expected = [number * apart for number in range(count)]
    assert all(wait in (0, pytest.approx(turn)) for wait, turn in zip(waits, expected, strict=True))
    # what is asked before a turn changes nothing, and at its turn each may run
    for number, wait in enumerate(waits):
        assert ask(found, str(number), 100, workers).wait == wait
    for number, wait in enumerate(waits):
        found, left, is_first = ask(found, str(number), 100 + wait, workers)
        assert (left, is_first) == (0, wait > 0)


@hypothesis.given(WORKERS, st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=50), st.floats(0.05, 2))
def test_each_deletion_runs_within_a_bound(workers: int, asked: list[tuple[int, float]], seconds: float) -> None:
    """Whenever and however often they ask."""
    found, now, first = Turns(seconds=seconds), 1000.0, {}
    for number, pause in asked:
        now += pause
        first.setdefault(number, now)
        found, wait, _is_first = ask(found, str(number), now, workers)
        assert wait == 0 or now + wait - first[number] <= 10 * seconds + 1e-6
        # a requeue of nothing would be none
        assert wait == 0 or f"{wait:.3f}" != "0.000"


@pytest.mark.parametrize("following", [1e9, 5000.0])
def test_times_of_another_clock_delay_nothing(following: float) -> None:
    found = Turns(following, by_uid={"a": Turn(following), "b": Turn(5.0, True)})
    assert ask(found, "a", 10, 2).wait == 0
    assert ask(found, "c", 10, 2).wait == 0


def test_turns_are_kept_for_a_while() -> None:
    found = ask(Turns(), "a", 100, 2).turns
    assert {*ask(found, "b", 200, 2).turns.by_uid} == {"a", "b"}
    assert {*ask(found, "b", 100 + turns.KEPT_SECONDS, 2).turns.by_uid} == {"b"}


def test_distance_follows_what_is_measured() -> None:
    found = Turns()
    for _run in range(20):
        found = ended(found, 1.0)
    assert found.seconds == pytest.approx(1.0, abs=0.01)
    assert ended(found, 900).seconds == 2
    assert ended(Turns(seconds=0.05), 0).seconds == 0.05


@pytest.mark.parametrize(
    "text", ["", "{}", "[1, 2", "[1, 2, 3]", '[1, 2, {"a": 1}]', '["a", 2, {}]', '[1, 2, {"a": []}]']
)
def test_file_that_cannot_be_read_has_no_turns(text: str) -> None:
    assert from_json(text) == Turns()


def test_file_has_the_turns() -> None:
    found = ask(ask(Turns(), "a", 100, 2).turns, "b", 100, 2).turns
    assert from_json(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, 8),
        ({"MAX_CONCURRENT_RECONCILES": "4"}, 4),
        ({"MAX_CONCURRENT_RECONCILES": "4", "MAX_CONCURRENT_RECONCILES_DRUID_DRUID_APACHE_ORG": "2"}, 2),
        ({"MAX_CONCURRENT_RECONCILES": "many"}, 8),
    ],
)
def test_workers(environment: Mapping[str, str], expected: int) -> None:
    assert workers("druid.apache.org", "Druid", environment, 8) == expected
