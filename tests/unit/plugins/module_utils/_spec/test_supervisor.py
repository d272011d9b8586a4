# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of supervisors, as users write them and as Druid returns them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import FIELDS, canonical
from hypothesis import given
from hypothesis import strategies as st


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
    "numbers as text": (
        _kafka(tuning={"reportParseExceptions": "true", "maxSavedParseExceptions": "9", "numPersistThreads": "0"}),
        _kafka(
            tuning={
                "reportParseExceptions": "true",
                "maxParseExceptions": 0,
                "maxSavedParseExceptions": 1,
                "numPersistThreads": 1,
            }
        ),
    ),
    "values of a filter, and how it orders": (
        _kafka(
            {
                "transformSpec": {
                    "filter": {
                        "type": "or",
                        "fields": [
                            {"type": "in", "values": ["b", None, "a", "b"]},
                            {"type": "not", "field": {"type": "bound", "ordering": "NUMERIC"}},
                        ],
                    }
                },
                "metricsSpec": [{"type": "filtered", "filter": {"type": "in", "values": ["z", "y"]}}],
            }
        ),
        _kafka(
            {
                "transformSpec": {
                    "filter": {
                        "type": "or",
                        "fields": [
                            {"type": "in", "values": [None, "a", "b"]},
                            {"type": "not", "field": {"type": "bound", "ordering": {"type": "numeric"}}},
                        ],
                    }
                },
                "metricsSpec": [{"type": "filtered", "filter": {"type": "in", "values": ["y", "z"]}}],
            }
        ),
    ),
    "a moment": (
        _kafka(io={"lateMessageRejectionStartDateTime": "2026-01-01T01:00+01:00"}),
        _kafka(io={"lateMessageRejectionStartDateTime": "2026-01-01T00:00:00.000Z"}),
    ),
    "no moment": (
        _kafka(io={"lateMessageRejectionStartDateTime": "soon"}),
        _kafka(io={"lateMessageRejectionStartDateTime": "soon"}),
    ),
    "fields inside the value of a message": (
        _kafka(io={"inputFormat": {"type": "kafka", "valueFormat": {"flattenSpec": {"fields": ["a"]}}}}),
        _kafka(
            io={
                "inputFormat": {
                    "type": "kafka",
                    "valueFormat": {"flattenSpec": {"fields": [{"type": "root", "name": "a", "expr": "a"}]}},
                }
            }
        ),
    ),
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


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)


@given(
    st.sampled_from([place for place, _change in FIELDS]), junk, st.sampled_from(["kafka", "kinesis", "autocompact"])
)
def test_invalid_values_are_left_to_druid(place: tuple[str, ...], value: Any, kind: str) -> None:
    document: Any = value
    for name in reversed(place):
        document = {name: document}

    canonical({"type": kind, **document})
