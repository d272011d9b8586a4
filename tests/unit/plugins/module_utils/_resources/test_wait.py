# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for a condition in Druid."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import (
    WaitTimeout,
    condition,
    wait_until,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


class Watch:
    """A clock that advances only while a test sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.clock = Clock(lambda: self.time, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.mark.parametrize(
    ("expression", "status", "holds"),
    [
        ("payload.state == 'RUNNING'", {"payload": {"state": "RUNNING"}}, True),
        ("payload.state == 'RUNNING'", {}, False),
        ("payload.aggregateLag < `10`", {"payload": {"aggregateLag": 3}}, True),
        ("payload.healthy && contains(['RUNNING', 'IDLE'], payload.detailedState)", {"payload": {}}, False),
    ],
)
def test_condition(expression: str, status: Any, holds: bool) -> None:
    assert condition(expression)(status) is holds


def test_rejects_an_invalid_expression() -> None:
    with pytest.raises(InvalidInput, match=r"wait_for \('payload.\['\): is not a valid JMESPath expression: .*"):
        condition("payload.[")


def test_rejects_an_expression_that_cannot_be_evaluated() -> None:
    with pytest.raises(InvalidInput, match=r"wait_for \('length\(id\)'\): cannot be evaluated"):
        condition("length(id)")({"id": 1})


def test_returns_the_status_that_meets_the_condition() -> None:
    watch = Watch()
    numbers = count()

    found = wait_until(lambda: next(numbers), lambda n: n == 3, timeout=10, waiting_for="3", clock=watch.clock)

    assert (found, watch.time) == (3, 3.0)


def test_does_not_sleep_if_the_condition_is_met() -> None:
    watch = Watch()

    assert wait_until(lambda: 1, bool, timeout=0, waiting_for="it", clock=watch.clock) == 1
    assert watch.time == 0


def test_timeout_has_the_last_status() -> None:
    watch = Watch()

    with pytest.raises(WaitTimeout, match=r"Timed out after 2.5 s waiting for the rain\.") as timeout:
        wait_until(lambda: watch.time, lambda _last: False, timeout=2.5, waiting_for="the rain", clock=watch.clock)

    assert timeout.value.last == 2.5
