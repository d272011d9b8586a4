# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time of phases."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.timers import PhaseTimer


def test_adds_up_and_remembers_the_last() -> None:
    ticks = iter([1.0, 3.0, 10.0, 10.5, 20.0, 24.0])
    phases = PhaseTimer(lambda: next(ticks))
    with phases("observe"):
        pass
    with phases("act"):
        pass
    with phases("observe"):
        pass
    assert phases.seconds == {"observe": 6.0, "act": 0.5}
    assert phases.last == "observe"


def test_takes_the_time_of_what_fails() -> None:
    ticks = iter([1.0, 3.0])
    phases = PhaseTimer(lambda: next(ticks))
    with pytest.raises(ValueError, match="x"), phases("decide"):
        raise ValueError("x")
    assert (phases.seconds, phases.last) == ({"decide": 2.0}, "decide")
