# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of supervisors: the stream, the form in which Druid returns them, and the desired state."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import Marker, paths_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    differ_in_suspension_only,
    merged_spec,
    stream_name,
    stream_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"type": "kafka", "spec": {"ioConfig": {"topic": "a", "stream": "b"}}}, "a"),
        ({"type": "kafka", "spec": {"ioConfig": {"topicPattern": "a.*"}}}, None),
        ({"type": "kinesis", "spec": {"ioConfig": {"stream": "a"}}}, "a"),
        ({"type": "rabbit", "spec": {"ioConfig": {"stream": "a"}}}, "a"),
        ({"type": "autocompact", "spec": {"dataSource": "a"}}, None),
        ({}, None),
    ],
)
def test_stream_name(spec: dict[str, Any], name: str | None) -> None:
    assert stream_name(spec) == name


@pytest.mark.parametrize("kind", ["autocompact", "scheduled_batch", "", None, ["kafka"], {}, 1])
def test_no_stream(kind: Any) -> None:
    assert stream_of({"type": kind}) is None


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
    "exclusions are sorted": (
        _kafka({"dimensionsSpec": {"dimensionExclusions": ["ts", "b", "__time"]}}),
        _kafka({"dimensionsSpec": {"dimensionExclusions": ["__time", "b", "ts"]}}),
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


@pytest.mark.parametrize(("value", "expected"), CASES.values(), ids=CASES)
def test_canonical(value: Any, expected: Any) -> None:
    assert canonical(value) == expected
    assert canonical(canonical(value)) == canonical(value)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)


BEFORE: dict[str, Any] = {
    "type": "kafka",
    "spec": {
        "dataSchema": {"dataSource": "a", "granularitySpec": {"segmentGranularity": "HOUR"}},
        "ioConfig": {"topic": "t", "topicPattern": None, "taskCount": 1, "autoScalerConfig": None},
        "tuningConfig": {
            "indexSpec": {"bitmap": "x"},
            "indexSpecForIntermediatePersists": {"bitmap": "x"},
            "reportParseExceptions": True,
            "maxParseExceptions": 0,
        },
    },
    "context": None,
    "suspended": True,
}


def _after(spec: Any, suspended: bool | None = None) -> Any:
    return merged_spec(BEFORE, DesiredSupervisor("a", {"type": "kafka", **spec}, suspended))


def _created(spec: Any, suspended: bool | None = None) -> Any:
    return merged_spec(None, DesiredSupervisor("a", {"type": "kafka", **spec}, suspended))


def test_desired_spec_is_unchanged() -> None:
    assert _after({"spec": {"ioConfig": {"taskCount": 1}}}) == BEFORE


@pytest.mark.parametrize("tuning", ["x", [1], 5, True])
def test_invalid_tuning_config_is_left_to_druid(tuning: Any) -> None:
    assert _after({"spec": {"tuningConfig": tuning}})["spec"]["tuningConfig"] == tuning


def test_unspecified_suspension_is_unchanged() -> None:
    assert _after({})["suspended"] is True
    assert _after({}, suspended=False)["suspended"] is False
    assert _after({"suspended": False})["suspended"] is False


def test_new_supervisor_runs_by_default() -> None:
    assert _created({"spec": {}}) == {"type": "kafka", "spec": {}, "suspended": False}
    assert _created({"spec": {}}, suspended=True)["suspended"] is True
    assert _created({"spec": {}, "suspended": True})["suspended"] is True


def test_missing_supervisor_requires_a_spec() -> None:
    with pytest.raises(InvalidInput, match=r"id \('a'\): the supervisor does not exist; set spec to create it"):
        merged_spec(None, DesiredSupervisor("a", None, True))


def test_absent_is_none() -> None:
    assert merged_spec(BEFORE, DesiredSupervisor("a", is_present=False)) is None
    assert merged_spec(None, DesiredSupervisor("a", is_present=False)) is None


@pytest.mark.parametrize("enabled", [True, "true"])
def test_autoscaler_controls_the_number_of_tasks(enabled: Any) -> None:
    scaled = {"spec": {"ioConfig": {"autoScalerConfig": {"enableTaskAutoScaler": enabled}, "taskCount": 7}}}

    assert _after(scaled)["spec"]["ioConfig"]["taskCount"] == 1


def test_user_controls_the_number_of_tasks_without_an_autoscaler() -> None:
    scaled = {"spec": {"ioConfig": {"autoScalerConfig": {"enableTaskAutoScaler": False}, "taskCount": 7}}}

    assert _after(scaled)["spec"]["ioConfig"]["taskCount"] == 7


@pytest.mark.parametrize(
    ("spec", "start"),
    [
        ({"type": "kinesis"}, "type ('kinesis'): the supervisor reads kafka topic 't'; offsets of one stream"),
        (
            {"spec": {"ioConfig": {"topic": "other"}}},
            "spec.ioConfig.topic ('other'): the supervisor reads kafka topic 't'",
        ),
        (
            {"spec": {"ioConfig": {"topic": None, "topicPattern": "t.*"}}},
            "spec.ioConfig.topic (null): the supervisor reads kafka topic 't'",
        ),
        (
            {"spec": {"ioConfig": {"topicPattern": "t.*"}}},
            "spec.ioConfig.topicPattern ('t.*'): the supervisor reads kafka topic 't'",
        ),
    ],
)
def test_other_stream_is_rejected(spec: Any, start: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        _after(spec)

    assert str(refusal.value).startswith(start)


def test_topic_instead_of_a_pattern_is_rejected() -> None:
    patterned = {"type": "kafka", "spec": {"ioConfig": {"topic": None, "topicPattern": "t.*"}}}
    desired = {"type": "kafka", "spec": {"ioConfig": {"topic": "t"}}}

    with pytest.raises(InvalidInput, match=r"topic \('t'\): the supervisor reads kafka topicPattern 't\.\*'; offsets"):
        merged_spec(patterned, DesiredSupervisor("a", desired))


def test_derived_fields_are_derived_again() -> None:
    after = _after({"spec": {"tuningConfig": {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}}})

    assert after["spec"]["tuningConfig"] == {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}


def test_specified_field_is_not_derived() -> None:
    specified = {"reportParseExceptions": False, "maxParseExceptions": 0}

    after = _after({"spec": {"tuningConfig": specified}})

    assert after["spec"]["tuningConfig"]["maxParseExceptions"] == 0


SCHEMA: dict[str, Any] = {
    "timestampSpec": {"column": "t"},
    "dimensionsSpec": {"useSchemaDiscovery": True},
    "metricsSpec": [{"type": "longSum", "name": "sum_bytes", "fieldName": "bytes"}],
}
SHORTER: dict[str, tuple[dict[str, Any], list[str]]] = {
    "the metrics": ({name: SCHEMA[name] for name in ("timestampSpec", "dimensionsSpec")}, ["__time", "ip", "t"]),
    "the time column": ({**SCHEMA, "timestampSpec": {"format": "auto"}}, ["__time", "bytes", "ip", "sum_bytes"]),
}


@pytest.mark.parametrize(("shorter", "exclusions"), SHORTER.values(), ids=SHORTER)
def test_no_column_stays_excluded_that_druid_derived_from_what_is_removed(
    shorter: dict[str, Any], exclusions: list[str]
) -> None:
    """Another client has excluded ip, the rest is Druid's."""
    excluded = {**SCHEMA["dimensionsSpec"], "dimensionExclusions": ["__time", "bytes", "ip", "sum_bytes", "t"]}
    before = canonical(_kafka({**SCHEMA, "dimensionsSpec": excluded}, {"topic": "t"}))

    after = _shortened(before, _kafka(SCHEMA, {"topic": "t"}), _kafka(shorter, {"topic": "t"}))

    assert after["spec"]["dataSchema"]["dimensionsSpec"]["dimensionExclusions"] == exclusions


def test_what_druid_derived_from_a_removed_field_is_removed() -> None:
    tuning = {"maxParseExceptions": 0, "maxSavedParseExceptions": 1, "maxRowsInMemory": 7}
    specified = {"reportParseExceptions": True, "indexSpec": {"bitmap": "x"}, "maxSavedParseExceptions": 1}
    before = canonical(
        _kafka(SCHEMA, {"topic": "t"}, {**specified, **tuning, "indexSpecForIntermediatePersists": {"bitmap": "x"}})
    )

    after = _shortened(
        before,
        _kafka(SCHEMA, {"topic": "t"}, specified),
        _kafka(SCHEMA, {"topic": "t"}, {"maxSavedParseExceptions": 1}),
    )

    assert after["spec"]["tuningConfig"] == {"maxSavedParseExceptions": 1, "maxRowsInMemory": 7}


def _shortened(before: dict[str, Any], last: dict[str, Any], specified: dict[str, Any]) -> Any:
    """Return what is sent for a specification, where the last write was another one."""
    found = Marker("", "", "", paths_of(canonical(last)))
    return merged_spec(before, DesiredSupervisor("a", canonical(specified)), found)


def test_what_druid_may_not_know_is_sent() -> None:
    after = _after({"contxt": {}, "spec": {"ioConfig": {"taskCuont": 2}}})
    assert (after["contxt"], after["spec"]["ioConfig"]["taskCuont"]) == ({}, 2)


@pytest.mark.parametrize(
    ("after", "only"),
    [
        ({**BEFORE, "suspended": False}, True),
        ({**BEFORE, "suspended": False, "context": {}}, False),
    ],
)
def test_differ_in_suspension_only(after: Any, only: bool) -> None:
    assert differ_in_suspension_only(BEFORE, after) is only
