# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Supervisors of streams and of compaction (``indexing.kafka.supervisor``, ``server.coordinator``). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Field,
    Json,
    Kind,
    extended,
    in_form,
    of_kind,
    returns,
    with_default_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import bounded, is_false, is_true, lower
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import (
    canonical_duration,
    canonical_period,
    canonical_timestamp,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.tuning import BUFFERS, INDEX_SPEC

_PARTS = ("dataSchema", "ioConfig", "tuningConfig")


def with_parts_inside(value: Json) -> Json:
    """Return the old form, with the three parts at the top level, as the new form, with them in ``spec``."""
    top = {name: each for name, each in value.items() if name not in _PARTS}
    if top.get("spec") is None:
        top["spec"] = {name: value[name] for name in _PARTS if name in value}
    return top


def _without(names: tuple[str, ...], value: Json) -> Json:
    """Return an object without fields that GET never has, or that are copies of other fields."""
    return {name: each for name, each in value.items() if name not in names}


def _with_strict_parsing(value: Json) -> Json:
    """Druid overrides two fields if reportParseExceptions is true (``SeekableStreamIndexTaskTuningConfig``)."""
    if not is_true(value.get("reportParseExceptions")):
        return value
    saved = value.get("maxSavedParseExceptions")
    capped = {} if saved is None else {"maxSavedParseExceptions": bounded(saved, at_most=1)}
    return {**value, "maxParseExceptions": 0, **capped}


def _without_limits(value: Json) -> Json:
    """Return an autoscaler. One that is disabled does not read its limits (``LagBasedAutoScalerConfig``)."""
    is_disabled = is_false(value.get("enableTaskAutoScaler", True))
    return _without(("taskCountMin", "taskCountMax"), value) if is_disabled else value


def _duration(default: str | None) -> Field:
    return returns(default, form=canonical_duration)


_IO = DruidClass(
    "indexing.seekablestream.supervisor.SeekableStreamSupervisorIOConfig",
    {
        "inputFormat": of_kind("inputFormat"),
        "replicas": returns(1),
        "taskCount": returns(1),
        "taskDuration": _duration("PT3600S"),
        "startDelay": _duration("PT5S"),
        "period": _duration("PT30S"),
        "completionTimeout": _duration("PT1800S"),
        "lateMessageRejectionPeriod": _duration(None),
        "earlyMessageRejectionPeriod": _duration(None),
        "lateMessageRejectionStartDateTime": returns(None, form=canonical_timestamp),
        "autoScalerConfig": of_kind("autoScalerConfig"),
        "idleConfig": of_kind("idleConfig"),
    },
    partial(_without, ("type",)),
    (frozenset({"lateMessageRejectionPeriod", "lateMessageRejectionStartDateTime"}),),
)
_KAFKA_IO = replace(
    extended(
        _IO,
        "indexing.kafka.supervisor.KafkaSupervisorIOConfig",
        useEarliestOffset=returns(False),
        pollTimeout=returns(100),
        emitTimeLagMetrics=returns(False),
    ),
    shape=partial(_without, ("type", "stream", "useEarliestSequenceNumber")),
    is_complete=True,
)
_TUNING = DruidClass(
    "indexing.seekablestream.SeekableStreamIndexTaskTuningConfig",
    {
        **BUFFERS,
        # since Druid 35 all of its fields are null
        "indexSpec": with_default_fields("indexSpec", INDEX_SPEC),
        "indexSpecForIntermediatePersists": with_default_fields("indexSpec", INDEX_SPEC),
        "appendableIndexSpec": returns({"type": "onheap", "preserveExistingMetrics": False}, "appendableIndexSpec"),
        "httpTimeout": _duration("PT10S"),
        "shutdownTimeout": _duration("PT80S"),
        "offsetFetchPeriod": _duration("PT30S"),
        "repartitionTransitionDuration": _duration("PT120S"),
        "intermediatePersistPeriod": returns("PT10M", form=canonical_period),
        "intermediateHandoffPeriod": returns("P2147483647D", form=canonical_period),
        "maxRowsInMemory": returns(150000),
        "maxBytesInMemory": returns(0),
        "maxRowsPerSegment": returns(5000000),
        "skipBytesInMemoryOverheadCheck": returns(False),
        "maxPendingPersists": returns(0),
        "reportParseExceptions": returns(False),
        "handoffConditionTimeout": returns(900000),
        "resetOffsetAutomatically": returns(False),
        "chatRetries": returns(8),
        "logParseExceptions": returns(False),
        "maxParseExceptions": returns(2147483647),
        "maxSavedParseExceptions": returns(0),
        "numPersistThreads": returns(1, form=partial(bounded, at_least=1)),
        "maxColumnsToMerge": returns(-1),
        "skipSequenceNumberAvailabilityCheck": returns(False),
    },
    _with_strict_parsing,
    derived=(
        ("maxParseExceptions", "reportParseExceptions"),
        ("maxSavedParseExceptions", "reportParseExceptions"),
        ("indexSpecForIntermediatePersists", "indexSpec"),
    ),
    is_complete=True,
    incomplete=frozenset({"streamingPartitionsSpec"}),
)


def _spec(name: str, *, is_complete: bool) -> Mapping[str, Kind]:
    """Return the kinds of the spec of a stream, and of its two parts that differ between streams."""
    fields = {
        "dataSchema": of_kind("dataSchema"),
        "ioConfig": of_kind(f"{name}IOConfig"),
        "tuningConfig": with_default_fields(f"{name}TuningConfig"),
    }
    tuning = extended(_TUNING, _TUNING.source, type=returns(name))
    spec = DruidClass(
        "indexing.seekablestream.supervisor.SeekableStreamSupervisorIngestionSpec", fields, is_complete=True
    )
    return {
        f"{name}Spec": Kind({"": spec}),
        f"{name}TuningConfig": Kind({"": replace(tuning, is_complete=is_complete)}),
    }


def _stream(name: str) -> DruidClass:
    return DruidClass(
        "indexing.seekablestream.supervisor.SeekableStreamSupervisorSpec",
        {"spec": of_kind(f"{name}Spec"), "suspended": returns(False)},
        with_parts_inside,
        is_complete=True,
    )


_AUTO_SCALER = DruidClass(
    "indexing.seekablestream.supervisor.autoscaler.LagBasedAutoScalerConfig",
    {
        "enableTaskAutoScaler": returns(False),
        "autoScalerStrategy": returns("lagBased"),
        "minTriggerScaleActionFrequencyMillis": returns(600000),
        "lagCollectionIntervalMillis": returns(30000),
        "lagCollectionRangeMillis": returns(600000),
        "scaleOutThreshold": returns(6000000),
        "triggerScaleOutFractionThreshold": returns(0.3),
        "scaleInThreshold": returns(1000000),
        "triggerScaleInFractionThreshold": returns(0.9),
        "scaleActionStartDelayMillis": returns(300000),
        "scaleActionPeriodMillis": returns(60000),
        "scaleInStep": returns(1),
        "scaleOutStep": returns(2),
    },
    _without_limits,
)
_COMPACTION = DruidClass(
    "server.coordinator.DataSourceCompactionConfig",
    {
        "taskPriority": returns(25),
        "inputSegmentSizeBytes": returns(100_000_000_000_000),
        "skipOffsetFromLatest": returns("P1D", form=canonical_period),
        "tuningConfig": of_kind("compactionTuningConfig"),
        "granularitySpec": of_kind("compactionGranularitySpec"),
        "dimensionsSpec": of_kind("compactionDimensionsSpec"),
        "metricsSpec": of_kind("aggregator"),
        "transformSpec": of_kind("compactionTransformSpec"),
        "projections": of_kind("projection"),
        "ioConfig": of_kind("compactionIOConfig"),
        "engine": in_form(lower),
    },
    is_complete=True,
)
KINDS: Mapping[str, Kind] = {
    "supervisor": Kind(
        {
            **{name: _stream(name) for name in ("kafka", "kinesis", "rabbit")},
            "autocompact": DruidClass(
                "indexing.compact.CompactionSupervisorSpec",
                {"spec": of_kind("compaction"), "suspended": returns(False)},
            ),
        }
    ),
    **_spec("kafka", is_complete=True),
    "kafkaIOConfig": Kind({"": _KAFKA_IO}),
    # for Kinesis, GET omits many more fields
    **_spec("kinesis", is_complete=False),
    "kinesisIOConfig": Kind({"": _IO}),
    **_spec("rabbit", is_complete=True),
    "rabbitIOConfig": Kind(
        {"": replace(_IO, shape=partial(_without, ("type", "useEarliestSequenceNumber")), is_complete=True)}
    ),
    "autoScalerConfig": Kind({"": _AUTO_SCALER}),
    "idleConfig": Kind({"": DruidClass("indexing.seekablestream.supervisor.IdleConfig", {"enabled": returns(False)})}),
    "compaction": Kind({"": _COMPACTION}),
    "compactionTuningConfig": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskQueryTuningConfig",
                {**BUFFERS, "chatHandlerTimeout": in_form(canonical_duration)},
                # it follows from the partitionsSpec
                partial(_without, ("type", "forceGuaranteedRollup")),
                is_complete=True,
            )
        }
    ),
    "compactionDimensionsSpec": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskDimensionsConfig",
                {"dimensions": of_kind("dimension")},
                is_complete=True,
            )
        }
    ),
    "compactionTransformSpec": Kind(
        {"": DruidClass("segment.transform.CompactionTransformSpec", {"filter": of_kind("filter")})}
    ),
    "compactionIOConfig": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskIOConfig", {"dropExisting": returns(False)}, is_complete=True
            )
        }
    ),
}
