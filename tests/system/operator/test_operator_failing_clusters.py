# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters that can never become ready do not slow the others, even if the operator works on one at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import MIN_BACKOFF_SECONDS
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.operator.runs import Run
from testbed.operator_plugin import StartOperator

# Pods that are never ready, containers that crash, and an invalid specification.
FAILING: dict[str, tuple[dict[str, Any], str]] = {
    "stuck": ({"podAnnotations": {"test/ready": "never"}}, "PodsNotReady"),
    "crashing": ({"podAnnotations": {"test/start": "crash"}}, "PodsFailing"),
    "invalid": ({"zookeeper": {"type": "unknown", "spec": {}}}, "InvalidSpec"),
}
GOOD = ("first", "second", "third")


def test_failing_clusters_do_not_delay_the_others(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    started = start(operator, live, tmp_path, flags=["--max-concurrent-reconciles=1"])
    for name, (more, _reason) in FAILING.items():
        live.create(small_cluster.resource(name, small_cluster.spec(replicas=1, **more)))
    eventually(lambda: all(is_only_retried(started, name) for name in FAILING))

    before = {name: len(started.program.runs_of(name)) for name in FAILING}
    for name in GOOD:
        live.create(small_cluster.resource(name, small_cluster.spec(replicas=1)))
    for name in GOOD:
        started.wait_until_ready(name)

    good = [begin_of_first(started, name) for name in GOOD]
    counts = {}
    for name, (_more, reason) in FAILING.items():
        last_before, *runs = started.program.runs_of(name)[before[name] - 1 :]
        counts[name] = len(runs)
        # The longest waiting resource is next: none is reconciled twice before all valid ones are reconciled once.
        assert sum(run.begin < max(good) for run in runs) <= 1, name
        # Each restart of a container that crashes starts a run, too.
        if name != "crashing":
            assert min(pauses([last_before, *runs]), default=MIN_BACKOFF_SECONDS) >= MIN_BACKOFF_SECONDS, name
        assert reason in {each["reason"] for each in live.get("Druid", name)["status"]["conditions"]}
        assert condition(live.get("Druid", name), "Ready")["status"] == "False"
    record_property("measurement", f"runs of hopeless clusters while {len(GOOD)} good ones became ready: {counts}")


def is_only_retried(started: DruidOperator, name: str) -> bool:
    """True if only its own problem has caused the last run of the operator for it."""
    found = pauses(started.program.runs_of(name))
    return bool(found) and found[-1] >= MIN_BACKOFF_SECONDS


def pauses(runs: list[Run]) -> list[float]:
    """Return the seconds from the begin of each run to the begin of the next."""
    return [later.begin - run.begin for run, later in pairwise(runs)]


def begin_of_first(started: DruidOperator, name: str) -> float:
    """Return when the operator has first run for it."""
    return started.program.runs_of(name)[0].begin
