# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passes are repeated until nothing is left to wait for, and not a moment longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.wait import Clock, wait_until_final


def outcome(reason: str) -> Outcome:
    """Return what came of a pass after which Ready has this reason."""
    ready = {
        "type": "Ready",
        "status": str(reason == reasons.ALL_PODS_READY),
        "reason": reason,
        "message": f"{reason}.",
    }
    is_wish = reason in (reasons.ALL_PODS_READY, reasons.PODS_NOT_READY, reasons.STOPPED, reasons.CHANGES_PENDING)
    plan = Plan() if is_wish else Plan((), (Finding(reason, "m"),))
    return Outcome(plan, report=Report(plan, {"conditions": [ready], "nodes": "0/1"}, changed=False))


WAITING, READY, STOPPED = reasons.PODS_NOT_READY, reasons.ALL_PODS_READY, reasons.STOPPED
FAILED, HELD, REFUSED = reasons.APPLY_FAILED, reasons.REMOVAL_DEFERRED, reasons.REJECTED_BY_API_SERVER
# (what each pass finds, the timeout, the pauses made with 2 s each, whether the time was over)
WAITS: list[tuple[list[str], int, list[float], bool]] = [
    ([READY], 9, [], False),
    ([READY], 0, [], False),
    ([STOPPED], 9, [], False),
    ([reasons.CHANGES_PENDING], 9, [], False),
    ([REFUSED], 9, [], False),
    ([WAITING, READY], 9, [2], False),
    ([WAITING, STOPPED], 9, [2], False),
    ([WAITING, WAITING, READY], 4, [2, 2], False),
    ([WAITING, FAILED, READY], 9, [2, 2], False),
    ([FAILED, HELD, READY], 9, [2, 2], False),
    ([WAITING, REFUSED], 9, [2], False),
    ([WAITING], 0, [], True),
    ([WAITING, WAITING, WAITING], 3, [2, 1], True),
]


class Time:
    """A clock that moves only while somebody sleeps."""

    def __init__(self) -> None:
        self.moment = 100.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.moment += seconds


@pytest.mark.parametrize(("found", "timeout", "pauses", "timed_out"), WAITS)
def test_waits(found: list[str], timeout: int, pauses: list[float], timed_out: bool) -> None:
    time = Time()
    clock = Clock(monotonic=lambda: time.moment, sleep=time.sleep)
    passes: Iterator[Outcome] = iter([outcome(reason) for reason in found])
    said: list[Any] = []
    last = wait_until_final(next(passes), lambda _last: next(passes), clock.ticks(timeout, 2), said.append)
    assert next(passes, None) is None
    assert time.pauses == pauses
    assert (last.timed_out, last.plan) == (timed_out, outcome(found[-1]).plan)
    # What has not changed is not said again.
    changed = [reason for number, reason in enumerate(found) if number == 0 or reason != found[number - 1]]
    assert said == [f"0/1 pods ready. {reason}." for reason in changed]
