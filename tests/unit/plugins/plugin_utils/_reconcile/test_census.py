# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The number of resources of a kind, in total and by condition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import METRICS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import (
    FinalStatus,
    census,
    with_own,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import final_status

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
EARLY_SECONDS, LATE_SECONDS = 1767225600.0, 1767312000.0


def resource(name: str = "a", **conditions: Any) -> dict[str, Any]:
    """Return a resource; a condition is (status, reason, transition time), and False by default."""
    specified = dict.fromkeys(("Ready", "Progressing", "Degraded"), ("False", "R", EARLY)) | conditions
    found = [
        {"type": kind, "status": status, "reason": reason, "lastTransitionTime": moment}
        for kind, (status, reason, moment) in specified.items()
    ]
    return {"metadata": {"namespace": "ns", "name": name}, "status": {"conditions": found}}


READY = resource(Ready=("True", "AllPodsReady", LATE))
WAITING = resource(Ready=("False", "PodsNotReady", LATE), Progressing=("True", "R", LATE))
DEGRADED = resource(Ready=("False", "PodsNotReady", LATE), Degraded=("True", "R", EARLY))
STOPPED = resource(Ready=("False", "Stopped", EARLY))
PAUSED = resource(Ready=("False", "PodsNotReady", EARLY), Paused=("True", "Paused", EARLY))
NEW = {"metadata": {"namespace": "ns", "name": "a"}}
TERMINATING = {**DEGRADED, "metadata": {**DEGRADED["metadata"], "deletionTimestamp": LATE}}
BAD_TIME = resource(Ready=("False", "PodsNotReady", "soon"))
NO_ZONE = resource(Ready=("False", "PodsNotReady", "2026-01-01T00:00:00"))

ROWS: list[tuple[str, list[dict[str, Any]], dict[str, float]]] = [
    ("none", [], {}),
    ("new", [NEW], {"clusters": 1}),
    ("ready", [READY], {"clusters": 1, "clusters_ready": 1}),
    (
        "waiting",
        [WAITING, READY],
        {
            "clusters": 2,
            "clusters_ready": 1,
            "clusters_progressing": 1,
            "not_ready_since_timestamp_seconds": LATE_SECONDS,
        },
    ),
    (
        "degraded",
        [DEGRADED],
        {
            "clusters": 1,
            "clusters_degraded": 1,
            "not_ready_since_timestamp_seconds": LATE_SECONDS,
            "degraded_since_timestamp_seconds": EARLY_SECONDS,
        },
    ),
    ("stopped on purpose", [STOPPED], {"clusters": 1}),
    ("paused", [PAUSED], {"clusters": 1, "clusters_paused": 1}),
    (
        "the earliest transition",
        [WAITING, NO_ZONE],
        {"clusters": 2, "clusters_progressing": 1, "not_ready_since_timestamp_seconds": EARLY_SECONDS},
    ),
    ("being deleted", [TERMINATING, READY], {"clusters": 1, "clusters_ready": 1}),
    ("an invalid time", [BAD_TIME], {"clusters": 1}),
]


def ingestion(lag: Any = None, **conditions: Any) -> dict[str, Any]:
    """Return an ingestion with the lag in its status."""
    found = resource(**conditions)
    return {**found, "status": {**found["status"], "lag": lag}}


RUNNING = ingestion(7, Ready=("True", "Running", EARLY))
STARTING = ingestion(Ready=("False", "Starting", LATE), Progressing=("True", "Starting", LATE))
SUSPENDED = ingestion(Ready=("True", "Suspended", EARLY), Suspended=("True", "Suspended", EARLY))
SUSPENDED_BATCH = ingestion(Ready=("False", "Suspended", EARLY), Suspended=("True", "Suspended", EARLY))
BATCH = ingestion(Ready=("False", "Running", EARLY), Progressing=("True", "Running", EARLY))
PAUSED_INGESTION = ingestion(Ready=("False", "Paused", EARLY))
UNHEALTHY = ingestion(40, Ready=("False", "SupervisorUnhealthy", EARLY), Degraded=("True", "SupervisorUnhealthy", LATE))

INGESTION_ROWS: list[tuple[str, list[dict[str, Any]], dict[str, float]]] = [
    ("none", [], {}),
    ("running", [RUNNING], {"ingestions": 1, "ingestions_ready": 1, "highest_lag_records": 7}),
    (
        "starting",
        [STARTING],
        {"ingestions": 1, "ingestions_progressing": 1, "not_ready_since_timestamp_seconds": LATE_SECONDS},
    ),
    ("suspended", [SUSPENDED], {"ingestions": 1, "ingestions_ready": 1, "ingestions_suspended": 1}),
    ("a suspended batch", [SUSPENDED_BATCH], {"ingestions": 1, "ingestions_suspended": 1}),
    ("a running batch", [BATCH], {"ingestions": 1, "ingestions_progressing": 1}),
    ("paused", [PAUSED_INGESTION], {"ingestions": 1}),
    (
        "unhealthy",
        [UNHEALTHY, RUNNING],
        {
            "ingestions": 2,
            "ingestions_ready": 1,
            "ingestions_degraded": 1,
            "not_ready_since_timestamp_seconds": EARLY_SECONDS,
            "degraded_since_timestamp_seconds": LATE_SECONDS,
            "highest_lag_records": 40,
        },
    ),
    (
        "a lag that is not a number",
        [ingestion("many", Ready=("True", "Running", EARLY)), NEW],
        {"ingestions": 2, "ingestions_ready": 1},
    ),
]
ALL_ROWS = [(DRUID, *row) for row in ROWS] + [(INGESTION, *row) for row in INGESTION_ROWS]


@pytest.mark.parametrize(
    ("kind", "resources", "expected"),
    [(kind, *row) for kind, _name, *row in ALL_ROWS],
    ids=[f"{kind.plural}: {name}" for kind, name, *_row in ALL_ROWS],
)
def test_census(kind: Kind[Any, Any, Any], resources: list[dict[str, Any]], expected: dict[str, float]) -> None:
    gauges = census(kind, resources)
    assert {name: value for name, value in gauges.items() if value} == expected
    names = {metric.name for metric in METRICS[kind.name.lower()] if metric.type == "gauge"}
    assert gauges.keys() == names - {"last_reconcile_timestamp_seconds"}


def test_own_status_replaces_the_cached_one() -> None:
    known = [resource("a"), resource("b")]
    assert with_own(known, "ns", "a", READY["status"]) == [known[1], READY]
    assert with_own(known, "ns", "c", READY["status"]) == [*known, resource("c") | {"status": READY["status"]}]
    assert with_own(known, "ns", "a", None) == [known[1]]
    assert with_own(known, "other", "a", None) == known


def test_final_status() -> None:
    status: dict[str, Any] = {"conditions": []}
    assert final_status(SimpleNamespace(is_deleted=False, status=status)) == FinalStatus(status)
    assert final_status(SimpleNamespace(is_deleted=True, status=status)) == FinalStatus(None)
    assert final_status(None) == FinalStatus(None)
