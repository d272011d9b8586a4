# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of supervisors, as people write them and as Druid gives them back."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical


def _kafka(schema: Any = None, io: Any = None, tuning: Any = None, **top: Any) -> dict[str, Any]:
    return {
        "type": "kafka",
        "spec": {"dataSchema": schema or {}, "ioConfig": io or {}, "tuningConfig": tuning or {}},
        **top,
    }


CASES: dict[str, tuple[Any, Any]] = {
    "durations": (
        _kafka(io={"taskDuration": "PT1H", "period": "PT30S"}),
        _kafka(io={"taskDuration": "PT3600S", "period": "PT30S"}),
    ),
    "a duration of tuning": (_kafka(tuning={"shutdownTimeout": "PT2M"}), _kafka(tuning={"shutdownTimeout": "PT120S"})),
    "a period stays one": (
        _kafka(tuning={"intermediatePersistPeriod": "PT10M"}),
        _kafka(tuning={"intermediatePersistPeriod": "PT10M"}),
    ),
    "the type of ioConfig": (_kafka(io={"type": "kafka", "topic": "t"}), _kafka(io={"topic": "t"})),
    "copies": (_kafka(io={"topic": "t", "stream": "t", "useEarliestSequenceNumber": True}), _kafka(io={"topic": "t"})),
    "granularities": (
        _kafka({"granularitySpec": {"segmentGranularity": "hour", "queryGranularity": "none"}}),
        _kafka({"granularitySpec": {"segmentGranularity": "HOUR", "queryGranularity": {"type": "none"}}}),
    ),
    "dimensions": (
        _kafka({"dimensionsSpec": {"dimensions": ["a"]}}),
        _kafka({"dimensionsSpec": {"dimensions": [{"type": "string", "name": "a"}]}}),
    ),
    "exclusions of Druid": (
        _kafka({"timestampSpec": {"column": "ts"}, "dimensionsSpec": {"dimensionExclusions": ["ts", "b", "__time"]}}),
        _kafka({"timestampSpec": {"column": "ts"}, "dimensionsSpec": {"dimensionExclusions": ["b"]}}),
    ),
    "strict parsing": (
        _kafka(tuning={"reportParseExceptions": True, "maxParseExceptions": 10, "maxSavedParseExceptions": 5}),
        _kafka(tuning={"reportParseExceptions": True, "maxParseExceptions": 0, "maxSavedParseExceptions": 1}),
    ),
    "no persisting thread": (_kafka(tuning={"numPersistThreads": 0}), _kafka(tuning={"numPersistThreads": 1})),
    "a null that takes away": (_kafka(io={"autoScalerConfig": None}), _kafka(io={"autoScalerConfig": None})),
    "the old form": (
        {"type": "kafka", "dataSchema": {"dataSource": "a"}, "ioConfig": {"topic": "t"}},
        {"type": "kafka", "spec": {"dataSchema": {"dataSource": "a"}, "ioConfig": {"topic": "t"}}},
    ),
    "both forms": (
        {**_kafka({"dataSource": "a"}), "dataSchema": {"dataSource": "b"}, "ioConfig": {}, "tuningConfig": None},
        _kafka({"dataSource": "a"}),
    ),
    "the stream of kinesis is its own": (
        {"type": "kinesis", "spec": {"ioConfig": {"stream": "s", "useEarliestSequenceNumber": True}}},
        {"type": "kinesis", "spec": {"ioConfig": {"stream": "s", "useEarliestSequenceNumber": True}}},
    ),
    "compaction": (
        {"type": "autocompact", "spec": {"dataSource": "a", "granularitySpec": {"segmentGranularity": "day"}}},
        {"type": "autocompact", "spec": {"dataSource": "a", "granularitySpec": {"segmentGranularity": "DAY"}}},
    ),
    "no sense at all": ({"type": "kafka", "spec": "x"}, {"type": "kafka", "spec": "x"}),
    "another type": ({"type": "unheard_of", "dataSchema": 1}, {"type": "unheard_of", "dataSchema": 1}),
}


@pytest.mark.parametrize(("given", "expected"), CASES.values(), ids=CASES)
def test_canonical(given: Any, expected: Any) -> None:
    assert canonical(given) == expected
    assert canonical(canonical(given)) == canonical(given)
