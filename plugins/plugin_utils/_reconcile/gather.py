# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide, and gather what the decision needs in addition, until there is a decision. Pure: both are arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Inputs = TypeVar("_Inputs")
_Decision = TypeVar("_Decision")

# A need that is met does not come back.
MAX_NEEDS = 16


class Need:
    """What a decision needs in addition: decide again when it is in the inputs."""


def decide_and_gather(
    decide: Callable[[_Inputs], _Decision | Need],
    gather: Callable[[_Inputs, Need], _Inputs],
    inputs: _Inputs,
    max_needs: int = MAX_NEEDS,
) -> tuple[_Decision, _Inputs]:
    """Return the decision, and the inputs with everything that it is based on."""
    for _attempt in range(max_needs + 1):
        decision = decide(inputs)
        if not isinstance(decision, Need):
            return decision, inputs
        inputs = gather(inputs, decision)
    raise AssertionError(f"{max_needs} needs were met, and another one is left.")
