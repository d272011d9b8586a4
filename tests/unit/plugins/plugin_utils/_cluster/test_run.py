# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reconciles are repeated until the state is settled, and no longer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID, Druid
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid


class NoTransport:
    """A transport that fails for each request."""

    def request(self, method: str, url: str, **_arguments: Any) -> Any:
        raise AssertionError((method, url))


API = KubernetesApi("https://192.0.2.1", NoTransport())


class Found(Druid):
    """A cluster with this condition."""

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self.ready = ready

    def masker(self, result: ClusterResult) -> Masker:
        return Masker()

    def status(self, *_arguments: Any) -> dict[str, Any]:
        return {"conditions": [self.ready], "nodes": "0/1"}

    def requeue_after(self, *_arguments: Any) -> int | None:
        return None


class Reported(Druid):
    """A cluster whose reconciles have these reports."""

    def __init__(self, reports: Iterator[Report[Plan]]) -> None:
        self.reports = reports

    def reconcile(self, *_arguments: Any) -> Report[Plan]:
        return next(self.reports)


def found(reason: str) -> Report[Plan]:
    """Return the report of a reconcile after which Ready has this reason."""
    ready = {
        "type": "Ready",
        "status": str(reason == reasons.ALL_PODS_READY),
        "reason": reason,
        "message": f"{reason}.",
    }
    has_no_problem = reason in (
        reasons.ALL_PODS_READY,
        reasons.PODS_NOT_READY,
        reasons.STOPPED,
        reasons.CHANGES_PENDING,
    )
    plan = Plan() if has_no_problem else Plan((), (Finding(reason, "m"),))
    result = ClusterResult(druid.resource(), druid.cluster(), Observed(), plan)
    return Found(ready).report(API, result, check_mode=True, now=datetime.now(UTC))


WAITING, READY, STOPPED = reasons.PODS_NOT_READY, reasons.ALL_PODS_READY, reasons.STOPPED
FAILED, DEFERRED, REJECTED = reasons.APPLY_FAILED, reasons.REMOVAL_DEFERRED, reasons.REJECTED_BY_API_SERVER
# (reason after each reconcile, timeout, pauses of up to 2 s, whether the wait timed out)
WAITS: list[tuple[list[str], int, list[float], bool]] = [
    ([READY], 9, [], False),
    ([READY], 0, [], False),
    ([STOPPED], 9, [], False),
    ([reasons.CHANGES_PENDING], 9, [], False),
    ([REJECTED], 9, [], False),
    ([WAITING, READY], 9, [2], False),
    ([WAITING, STOPPED], 9, [2], False),
    ([WAITING, WAITING, READY], 4, [2, 2], False),
    ([WAITING, FAILED, READY], 9, [2, 2], False),
    ([FAILED, DEFERRED, READY], 9, [2, 2], False),
    ([WAITING, REJECTED], 9, [2], False),
    ([WAITING], 0, [], True),
    ([WAITING, WAITING, WAITING], 3, [2, 1], True),
]


STUCK = "pod p: CrashLoopBackOff"


@pytest.mark.parametrize(
    ("wait", "waits_on", "states", "expected"),
    [
        pytest.param(True, False, ["", STUCK], (STUCK, False), id="the wait ends"),
        pytest.param(True, True, ["", STUCK, STUCK], ("", True), id="the wait goes on"),
        pytest.param(False, False, [STUCK], ("", False), id="nothing is waited for"),
    ],
)
def test_a_wait_ends_when_a_pod_will_not_start(
    wait: bool, waits_on: bool, states: list[str], expected: tuple[str, bool]
) -> None:
    time = Time()
    reconciles = iter([replace(found(WAITING), stuck=each) for each in states])
    kind = Reported(reconciles)
    spec, clock = druid.resource()["spec"], Clock(monotonic=lambda: time.moment, sleep=time.sleep)
    request = Request(
        "c", "ns", Options(), spec=spec, without_resource=True, wait=wait, wait_timeout=4, wait_for_recovery=waits_on
    )
    last = run(kind, API, request, lambda _text: None, clock)
    assert next(reconciles, None) is None
    assert (last.stuck, last.timed_out) == expected
    message = of_outcome(DRUID, request, last, fail_when_blocked=True).get("msg", "")
    assert ("It does not recover by itself: pod p: CrashLoopBackOff. Correct it" in message) is bool(expected[0])


class Time:
    """A clock that advances only during sleeps."""

    def __init__(self) -> None:
        self.moment = 100.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.moment += seconds


@pytest.mark.parametrize(("reasons_found", "timeout", "pauses", "timed_out"), WAITS)
def test_reconciles_until_settled(reasons_found: list[str], timeout: int, pauses: list[float], timed_out: bool) -> None:
    time = Time()
    clock = Clock(monotonic=lambda: time.moment, sleep=time.sleep)
    reconciles = iter([found(reason) for reason in reasons_found])
    kind = Reported(reconciles)
    spec = druid.resource()["spec"]
    request = Request("c", "ns", Options(), spec=spec, without_resource=True, wait=True, wait_timeout=timeout)
    progress: list[Any] = []
    last = run(kind, API, request, progress.append, clock)
    assert next(reconciles, None) is None
    assert time.pauses == pauses
    assert (last.timed_out, last.plan) == (timed_out, found(reasons_found[-1]).plan)
    # an unchanged state is not reported again
    changed = [
        reason for number, reason in enumerate(reasons_found) if number == 0 or reason != reasons_found[number - 1]
    ]
    assert progress == [f"0/1 pods ready. {reason}." for reason in changed]


@pytest.mark.parametrize("options", [Options(), Options(check_mode=True)])
def test_waits_only_if_requested_and_never_in_check_mode(options: Options) -> None:
    reconciles = iter([found(WAITING)])
    kind = Reported(reconciles)
    wait = options.check_mode
    request = Request("c", "ns", options, spec=druid.resource()["spec"], without_resource=True, wait=wait)
    progress: list[str] = []
    assert not run(kind, API, request, progress.append, Clock(sleep=pytest.fail)).timed_out
    assert progress == []
