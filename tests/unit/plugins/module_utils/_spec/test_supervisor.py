# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of supervisors: the stream, the form in which Druid returns them, and the desired state."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    differ_in_suspension_only,
    merged_spec,
    stream_name,
    stream_of,
    unknown_supervisor_fields,
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


def test_a_specified_field_has_its_form_beside_the_current_ones() -> None:
    """Druid keeps no limits of an autoscaler that is disabled, and no limit of exceptions if all are reported."""
    scaler = {"enableTaskAutoScaler": False, "scaleInStep": 1}
    before = {**BEFORE, "spec": {**BEFORE["spec"], "ioConfig": {"topic": "t", "autoScalerConfig": scaler}}}
    limits = {"taskCountMax": 6, "taskCountMin": 2}
    specified = {"ioConfig": {"autoScalerConfig": limits}, "tuningConfig": {"maxParseExceptions": 5}}
    assert merged_spec(before, DesiredSupervisor("a", {"type": "kafka", "spec": specified})) == before


def test_derived_fields_are_derived_again() -> None:
    after = _after({"spec": {"tuningConfig": {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}}})

    assert after["spec"]["tuningConfig"] == {"indexSpec": {"bitmap": "y"}, "reportParseExceptions": False}


def test_specified_field_is_not_derived() -> None:
    specified = {"reportParseExceptions": False, "maxParseExceptions": 0}

    after = _after({"spec": {"tuningConfig": specified}})

    assert after["spec"]["tuningConfig"]["maxParseExceptions"] == 0


UNKNOWN: dict[str, tuple[Any, set[tuple[str, ...]]]] = {
    "none": ({"spec": {"ioConfig": {"taskCount": 2}}}, set()),
    "a typing error": ({"spec": {"ioConfig": {"taskCuont": 2}}}, {("spec", "ioConfig", "taskCuont")}),
    "at the top": ({"contxt": {}}, {("contxt",)}),
    "what Druid leaves out when it is not set": ({"spec": {"dataSchema": {"projections": []}}}, set()),
    "what is not given back as a whole": ({"spec": {"ioConfig": {"autoScalerConfig": {"what": 1}}}}, set()),
}


@pytest.mark.parametrize(("spec", "places"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown(spec: Any, places: set[tuple[str, ...]]) -> None:
    assert set(unknown_supervisor_fields(BEFORE, DesiredSupervisor("a", spec))) == places


def test_no_field_is_unknown_if_druid_omits_fields() -> None:
    kinesis = {"type": "kinesis", "spec": {"ioConfig": {"stream": "s"}}}
    desired = DesiredSupervisor("a", {"type": "kinesis", "spec": {"ioConfig": {"endpoint": "e"}}})

    assert not list(unknown_supervisor_fields(None, desired))
    assert not list(unknown_supervisor_fields(kinesis, desired))


def test_an_unknown_field_does_not_change_the_supervisor() -> None:
    assert _after({"contxt": {}, "spec": {"ioConfig": {"taskCuont": 2}}}) == BEFORE


@pytest.mark.parametrize(
    ("after", "only"),
    [
        ({**BEFORE, "suspended": False}, True),
        ({**BEFORE, "suspended": False, "context": {}}, False),
    ],
)
def test_differ_in_suspension_only(after: Any, only: bool) -> None:
    assert differ_in_suspension_only(BEFORE, after) is only
