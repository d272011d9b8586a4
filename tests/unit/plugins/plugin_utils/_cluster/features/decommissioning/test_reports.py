# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the status and the events say about Historicals that are decommissioned, and when they are looked at again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    FIELD,
    Entry,
    recorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.reports import (
    decommission_events,
    size_text,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import requeue_after, status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SINCE = "2026-11-24T11:00:00Z"
ENTRY = Entry("h-1", "historicals", SINCE, "h-1:8083", 100, SINCE)
MOVING = Finding(reasons.DECOMMISSIONING_HISTORICALS, "Moving.", "historicals", is_problem=False, rank=Rank.KEEPS_PODS)
LATE = Finding(reasons.DECOMMISSION_TIMED_OUT, "Late.", "historicals")
FEWER = rolling.cluster(nodes={"historicals": {"replicas": 1}})


def of(*findings: Finding, **live: Any) -> dict[str, Any]:
    observed = rolling.observed(rolling.cluster(), **live)
    return status(ClusterState(FEWER, observed, findings, {}, NOW), {FIELD: [ENTRY.document]})


def condition(document: dict[str, Any], kind: str) -> tuple[str, str, str]:
    found = next(each for each in document["conditions"] if each["type"] == kind)
    return found["status"], found["reason"], found["message"]


def test_a_record_can_be_read_again() -> None:
    entries = (
        ENTRY,
        replace(ENTRY, pod="h-0", ended=True, unlisted_since=SINCE),
        Entry("h-2", "historicals", SINCE),
        Entry("h-3", "cold", SINCE, "a:1", listed_by_others=True),
    )
    assert recorded({"historicalDecommission": [entry.document for entry in entries]}) == entries
    assert entries[2].document == {"pod": "h-2", "group": "historicals", "startedAt": SINCE}


@pytest.mark.parametrize("document", [{}, {"historicalDecommission": None}, {"historicalDecommission": [{"pod": "h"}]}])
def test_nothing_is_concluded_from_what_is_not_there(document: dict[str, Any]) -> None:
    assert recorded(document) == ()


def test_a_group_whose_pods_stay_is_not_waited_for_as_if_pods_were_missing() -> None:
    document = of(MOVING)
    assert condition(document, "Ready") == ("False", "DecommissioningHistoricals", "Moving.")
    assert condition(document, "Progressing") == ("True", "DecommissioningHistoricals", "Moving.")
    assert condition(document, "Degraded")[0] == "False"


def test_a_pod_that_is_not_ready_is_more_important() -> None:
    document = of(MOVING, brokers={"readyReplicas": 1})
    assert condition(document, "Ready")[1] == "PodsNotReady"


def test_a_problem_is_degraded() -> None:
    document = of(LATE, MOVING)
    assert condition(document, "Ready") == ("False", "DecommissionTimedOut", "Late.")
    assert condition(document, "Degraded") == ("True", "DecommissionTimedOut", "Late.")


@pytest.mark.parametrize(("age", "seconds"), [(0, 2), (300, 30), (86400, 60)])
def test_it_is_looked_at_again_soon(age: int, seconds: int) -> None:
    document = of(MOVING)
    for each in document["conditions"]:
        each["lastTransitionTime"] = timestamp(NOW - timedelta(seconds=age))
    assert requeue_after(document, NOW) == seconds


NONE: dict[str, Any] = {}
NAMED = {"historicalDecommission": [ENTRY.document]}
UNNAMED = {"historicalDecommission": [Entry("h-1", "historicals", SINCE).document]}
ENDED = {"historicalDecommission": [replace(ENTRY, ended=True).document]}
REMOVED = {"historicalDecommission": [replace(ENTRY, ended=True, unlisted_since=SINCE).document]}
EMPTY = {"historicalDecommission": [replace(ENTRY, bytes=0).document]}
UNKNOWN = {"historicalDecommission": [replace(ENTRY, bytes=None).document]}
BEFORE = "HistoricalNotDecommissioned: Pod h-1 has stopped before Druid had moved all segments:"
POD = {"kind": "Pod", "metadata": {"name": "h-1"}}


@pytest.mark.parametrize(
    ("before", "after", "pods", "expected"),
    [
        (NONE, UNNAMED, [POD], []),
        (UNNAMED, NAMED, [POD], ["HistoricalDecommissioning: Pod h-1 is being decommissioned (h-1:8083, 100 bytes)."]),
        (NAMED, NAMED, [POD], []),
        (EMPTY, REMOVED, [], ["HistoricalDecommissioned: Pod h-1 is decommissioned, and has stopped (h-1:8083)."]),
        (REMOVED, NONE, [], []),
        (REMOVED, ENDED, [], []),
        (EMPTY, NONE, [], ["HistoricalDecommissioned: Pod h-1 is decommissioned, and has stopped (h-1:8083)."]),
        (NAMED, REMOVED, [], [f"{BEFORE} 100 bytes (h-1:8083)."]),
        (UNKNOWN, REMOVED, [], [f"{BEFORE} segments of unknown size (h-1:8083)."]),
        (NAMED, NONE, [POD], ["HistoricalRecommissioned: Pod h-1 is not decommissioned any more (h-1:8083)."]),
    ],
)
def test_events(before: dict[str, Any], after: dict[str, Any], pods: list[dict[str, Any]], expected: list[str]) -> None:
    found = decommission_events(StatusChange(before, after), Observed().with_objects(pods))
    assert [f"{each.reason}: {each.message}" for each in found] == expected


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (200 * 1024**3, "200 GiB"), (5 * 1024**6, "5120 PiB")],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert size_text(size) == text
