# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a task is, and why it failed. The reports are cut down from those of Druid 27 and 33."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_report import failure, progress

BUILT = {"processed": 5, "processedBytes": 43, "processedWithError": 1, "thrownAway": 2, "unparseable": 0}


def native(**payload: Any) -> dict[str, Any]:
    return {"ingestionStatsAndErrors": {"payload": payload}}


def sql(**payload: Any) -> dict[str, Any]:
    return {"multiStageQuery": {"payload": payload}}


PROGRESS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "not begun": ({"runnerStatusCode": "PENDING"}, {}, {"phase": "PENDING", "rows": None}),
    "nothing known": ({}, {}, {"phase": "unknown", "rows": None}),
    "native": (
        {"runnerStatusCode": "RUNNING"},
        native(ingestionState="BUILD_SEGMENTS", rowStats={"buildSegments": BUILT}),
        {"phase": "BUILD_SEGMENTS", "rows": 8},
    ),
    "native, in parallel": (
        {},
        native(ingestionState="COMPLETED", rowStats={"totals": {"buildSegments": BUILT}}),
        {"phase": "COMPLETED", "rows": 8},
    ),
    "SQL, reading": (
        {},
        sql(
            stages=[{"phase": "READING_INPUT"}, {"phase": "NEW"}, {}],
            counters={
                "0": {"0": {"input0": {"rows": [3, 4]}, "output": {"rows": [7]}}, "1": {"input0": {"rows": [1]}}}
            },
        ),
        {"phase": "stage 1 of 3, READING_INPUT", "rows": 8},
    ),
    "SQL, making segments": (
        {},
        sql(
            stages=[{"phase": "FINISHED"}, {"phase": "RESULTS_READY"}],
            counters={
                "0": {"0": {"input0": {"totalFiles": [1]}}},
                "1": {"0": {"segmentGenerationProgress": {"rowsProcessed": 2}}},
            },
        ),
        {"phase": "stage 2 of 2, RESULTS_READY", "rows": 2},
    ),
}


@pytest.mark.parametrize(("status", "report", "expected"), PROGRESS.values(), ids=PROGRESS)
def test_progress(status: Any, report: Any, expected: Any) -> None:
    assert progress(status, report) == expected


@pytest.mark.parametrize(
    ("status", "report", "reason"),
    [
        ({"errorMsg": "killed"}, {}, "killed"),
        ({"errorMsg": "short..."}, native(errorMsg="it was long\n\tat org.apache.druid.A"), "it was long"),
        ({}, sql(status={"errorReport": {"error": {"errorMessage": "no memory"}}}), "no memory"),
        ({}, {}, "Druid reports no reason; check the log of the task"),
    ],
)
def test_failure(status: Any, report: Any, reason: str) -> None:
    assert failure(status, report) == reason
