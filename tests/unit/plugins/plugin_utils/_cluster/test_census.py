# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many clusters there are, and how they are."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.census import census, with_own

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
EARLY_SECONDS, LATE_SECONDS = 1767225600.0, 1767312000.0


def resource(name: str = "a", **conditions: Any) -> dict[str, Any]:
    """Conditions are status, reason and moment, those that are not stated False."""
    stated = dict.fromkeys(("Ready", "Progressing", "Degraded", "Paused"), ("False", "R", EARLY)) | conditions
    found = [
        {"type": kind, "status": status, "reason": reason, "lastTransitionTime": moment}
        for kind, (status, reason, moment) in stated.items()
    ]
    return {"metadata": {"namespace": "ns", "name": name}, "status": {"conditions": found}}


READY = resource(Ready=("True", "AllNodesReady", LATE))
WAITING = resource(Ready=("False", "NodesNotReady", LATE), Progressing=("True", "R", LATE))
DEGRADED = resource(Ready=("False", "NodesNotReady", LATE), Degraded=("True", "R", EARLY))
STOPPED = resource(Ready=("False", "Stopped", EARLY))
PAUSED = resource(Ready=("False", "NodesNotReady", EARLY), Paused=("True", "Paused", EARLY))
NEW = {"metadata": {"namespace": "ns", "name": "a"}}
GOING = {**DEGRADED, "metadata": {**DEGRADED["metadata"], "deletionTimestamp": LATE}}
BAD_TIME = resource(Ready=("False", "NodesNotReady", "soon"))
NO_ZONE = resource(Ready=("False", "NodesNotReady", "2026-01-01T00:00:00"))

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
    ("stopped, as is wanted", [STOPPED], {"clusters": 1}),
    ("paused", [PAUSED], {"clusters": 1, "clusters_paused": 1}),
    (
        "the earliest",
        [WAITING, NO_ZONE],
        {"clusters": 2, "clusters_progressing": 1, "not_ready_since_timestamp_seconds": EARLY_SECONDS},
    ),
    ("being deleted", [GOING, READY], {"clusters": 1, "clusters_ready": 1}),
    ("no time at all", [BAD_TIME], {"clusters": 1}),
]


@pytest.mark.parametrize(("resources", "found"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_census(resources: list[dict[str, Any]], found: dict[str, float]) -> None:
    assert {name: value for name, value in census(resources).items() if value} == found
    assert len(census(resources)) == 7


def test_knows_its_own_resource_better_than_the_cache() -> None:
    known = [resource("a"), resource("b")]
    assert with_own(known, "ns", "a", READY["status"]) == [known[1], READY]
    assert with_own(known, "ns", "c", READY["status"]) == [*known, resource("c") | {"status": READY["status"]}]
    assert with_own(known, "ns", "a", None) == [known[1]]
    assert with_own(known, "other", "a", None) == known
