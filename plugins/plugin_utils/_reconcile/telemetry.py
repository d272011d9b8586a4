# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure a task, and push its metrics to ansible-operator's endpoint."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    DruidopsError,
    KubernetesError,
    ResourceNotFound,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import FinalStatus, count_resources
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.definitions import (
    Run,
    metric_values,
    requests_for,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.file_lock import LockTimeout, file_lock
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.push import PushError, push
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report

LOCK_SECONDS = 2.0
# Each reconcile that wrote counts all resources. Others try it at most this often.
CENSUS_PERIOD_SECONDS = 10
# A constant: there may be no memory for a text.
_OUT_OF_MEMORY = "The metrics could not be pushed: to count all resources needs more memory than a run may have."

_Plan = TypeVar("_Plan", bound=Plan[Any])

Census = Callable[[], Mapping[str, float] | None]


def publish_metrics(
    kind: Kind[Any, Any, _Plan],
    arguments: Mapping[str, Any],
    outcome: Outcome[_Plan] | DruidopsError,
    meter: Meter,
    seconds: float,
) -> str | None:
    """Push the metrics of a task; return the error, or None."""
    if isinstance(outcome, DruidopsError):
        run, left = (
            failed_run(outcome, meter, seconds),
            FinalStatus(None) if isinstance(outcome, ResourceNotFound) else None,
        )
    else:
        run, left = measure(kind, outcome, meter, seconds), final_status(outcome.report)
    census = partial(count_resources, kind, meter.cache, arguments, left)
    is_changed = meter.has_written or isinstance(outcome, ResourceNotFound)
    return publish(arguments["metrics_url"], kind.name.lower(), run, census, is_changed)


def measure(kind: Kind[Any, Any, _Plan], outcome: Outcome[_Plan], meter: Meter, seconds: float) -> Run:
    """Return the metrics of a task that ran, even in part."""
    problems = [problem.reason for problem in outcome.problems]
    reporting_errors = len(outcome.report.reporting_errors) if outcome.report else 0
    counts = kind.count(outcome.plan)
    return Run(
        seconds=seconds,
        outcome="blocked" if problems else "changed" if outcome.changed else "unchanged",
        phases=meter.phases.seconds,
        errors={"act": problems.count(reasons.APPLY_FAILED), "report": reporting_errors},
        requests=meter.requests,
        applied=counts.applied,
        removed=counts.removed,
    )


def failed_run(error: DruidopsError, meter: Meter, seconds: float) -> Run:
    """Return the metrics of a task that failed; a deleted resource is not a failure."""
    is_deleted = isinstance(error, ResourceNotFound)
    return Run(
        seconds=seconds,
        outcome="unchanged" if is_deleted else "failed",
        phases=meter.phases.seconds,
        errors={} if is_deleted else {meter.phases.last: 1},
        requests=meter.requests,
    )


def publish(url: str, kind: str, run: Run, count: Census, is_changed: bool) -> str | None:
    """Push the metrics of a run within a few seconds; return the error, or None.

    A lock serializes runs: ansible-operator (v1.42) crashes on concurrent registrations of a metric, and a gauge that
    becomes 0 needs two requests. ``count`` counts the resources; ``is_changed`` is True after a write.
    """
    try:
        file = Path(tempfile.gettempdir(), f"druidops-metrics-{urlsplit(url).netloc.replace('/', '-')}")
        with file_lock(file, LOCK_SECONDS) as lock:
            is_due = is_changed or lock.is_due(kind, CENSUS_PERIOD_SECONDS)
            try:
                if is_due:
                    # before it is counted: what fails is not due again in each run
                    lock.record_run(kind)
            finally:
                census = count() if is_due else None
                push(url, requests_for(kind, metric_values(replace(run, census=census), time.time())))
    except (LockTimeout, PushError, KubernetesError) as error:
        return without_userinfo(str(error))
    except (OSError, RecursionError, ValueError) as error:
        # /tmp is full, a counted resource is nested too deeply, or the URL is invalid. All writes are done already.
        return without_userinfo(f"The metrics could not be pushed to {url}: {error!r}")
    except MemoryError:
        return _OUT_OF_MEMORY
    return None


def final_status(report: Report[Any] | None) -> FinalStatus:
    """Return the final status of a reconcile; none if there is no report, since the resource was deleted."""
    return FinalStatus(None if report is None or report.is_deleted else report.status)
