# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A decision is repeated with what it needs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need, decide_and_gather


@dataclass(frozen=True)
class Number(Need):
    """The need for a number in the inputs."""

    value: int


def sum_of_three(inputs: tuple[int, ...]) -> int | Need:
    """Return the sum, or the need for the next number."""
    return sum(inputs) if len(inputs) == 3 else Number(len(inputs))


def with_number(inputs: tuple[int, ...], need: Need) -> tuple[int, ...]:
    """Return the inputs with the number."""
    assert isinstance(need, Number)
    return (*inputs, need.value)


def test_needs_are_gathered_until_there_is_a_decision() -> None:
    assert decide_and_gather(sum_of_three, with_number, ()) == (3, (0, 1, 2))


def test_a_decision_without_needs_gathers_nothing() -> None:
    assert decide_and_gather(sum_of_three, with_number, (1, 2, 3), max_needs=0) == (6, (1, 2, 3))


def test_a_need_that_is_never_met_ends() -> None:
    with pytest.raises(AssertionError, match="16 needs were met"):
        decide_and_gather(sum_of_three, lambda inputs, _need: inputs, ())
