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
    Json,
    Kind,
    in_form,
    of_kind,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import lower
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import (
    canonical_duration,
    canonical_period,
    canonical_timestamp,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.tuning import BUFFERS

_PARTS = ("dataSchema", "ioConfig", "tuningConfig")
_STREAMS = ("kafka", "kinesis", "rabbit")


def with_parts_inside(value: Json) -> Json:
    """Return the old form, with the three parts at the top level, as the new form, with them in ``spec``."""
    top = {name: each for name, each in value.items() if name not in _PARTS}
    if top.get("spec") is None:
        top["spec"] = {name: value[name] for name in _PARTS if name in value}
    return top


def _without(names: tuple[str, ...], value: Json) -> Json:
    """Return an object without fields that GET never has, or that are copies of other fields."""
    return {name: each for name, each in value.items() if name not in names}


_IO = DruidClass(
    "indexing.seekablestream.supervisor.SeekableStreamSupervisorIOConfig",
    {
        "inputFormat": of_kind("inputFormat"),
        "taskDuration": in_form(canonical_duration),
        "startDelay": in_form(canonical_duration),
        "period": in_form(canonical_duration),
        "completionTimeout": in_form(canonical_duration),
        "lateMessageRejectionPeriod": in_form(canonical_duration),
        "earlyMessageRejectionPeriod": in_form(canonical_duration),
        "lateMessageRejectionStartDateTime": in_form(canonical_timestamp),
    },
    one_of=(frozenset({"lateMessageRejectionPeriod", "lateMessageRejectionStartDateTime"}),),
)
_TUNING = DruidClass(
    "indexing.seekablestream.SeekableStreamIndexTaskTuningConfig",
    {
        **BUFFERS,
        "httpTimeout": in_form(canonical_duration),
        "shutdownTimeout": in_form(canonical_duration),
        "offsetFetchPeriod": in_form(canonical_duration),
        "repartitionTransitionDuration": in_form(canonical_duration),
        "intermediatePersistPeriod": in_form(canonical_period),
        "intermediateHandoffPeriod": in_form(canonical_period),
    },
    derived=(
        ("maxParseExceptions", "reportParseExceptions"),
        ("maxSavedParseExceptions", "reportParseExceptions"),
        ("indexSpecForIntermediatePersists", "indexSpec"),
    ),
)


def _stream_spec(name: str) -> DruidClass:
    """Return the class of the spec of a stream."""
    fields = {
        "dataSchema": of_kind("dataSchema"),
        "ioConfig": of_kind(f"{name}IOConfig"),
        "tuningConfig": of_kind("streamTuningConfig"),
    }
    return DruidClass("indexing.seekablestream.supervisor.SeekableStreamSupervisorIngestionSpec", fields)


def _io(*without: str) -> Kind:
    """Return the kind of an ioConfig. GET has no type, and copies of some fields."""
    return Kind({"": replace(_IO, shape=partial(_without, ("type", *without)))})


def _stream(name: str) -> DruidClass:
    return DruidClass(
        "indexing.seekablestream.supervisor.SeekableStreamSupervisorSpec",
        {"spec": of_kind(f"{name}Spec")},
        with_parts_inside,
    )


_COMPACTION = DruidClass(
    "server.coordinator.DataSourceCompactionConfig",
    {
        "skipOffsetFromLatest": in_form(canonical_period),
        "tuningConfig": of_kind("compactionTuningConfig"),
        "granularitySpec": of_kind("compactionGranularitySpec"),
        "dimensionsSpec": of_kind("compactionDimensionsSpec"),
        "metricsSpec": of_kind("aggregator"),
        "transformSpec": of_kind("compactionTransformSpec"),
        "projections": of_kind("projection"),
        "engine": in_form(lower),
    },
)
KINDS: Mapping[str, Kind] = {
    "supervisor": Kind(
        {
            **{name: _stream(name) for name in _STREAMS},
            "autocompact": DruidClass(
                "indexing.compact.CompactionSupervisorSpec",
                {"spec": of_kind("compaction")},
            ),
        }
    ),
    **{f"{name}Spec": Kind({"": _stream_spec(name)}) for name in _STREAMS},
    "kafkaIOConfig": _io("stream", "useEarliestSequenceNumber"),
    "kinesisIOConfig": _io(),
    "rabbitIOConfig": _io("useEarliestSequenceNumber"),
    "streamTuningConfig": Kind({"": _TUNING}),
    "compaction": Kind({"": _COMPACTION}),
    "compactionTuningConfig": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskQueryTuningConfig",
                {**BUFFERS, "chatHandlerTimeout": in_form(canonical_duration)},
                # it follows from the partitionsSpec
                partial(_without, ("type", "forceGuaranteedRollup")),
            )
        }
    ),
    "compactionDimensionsSpec": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskDimensionsConfig",
                {"dimensions": of_kind("dimension")},
            )
        }
    ),
    "compactionTransformSpec": Kind(
        {"": DruidClass("segment.transform.CompactionTransformSpec", {"filter": of_kind("filter")})}
    ),
}
