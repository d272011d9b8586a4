# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications of streams as users write them, each with a leaf that is changed later."""

from __future__ import annotations

from typing import Any, NamedTuple


def with_io(spec: dict[str, Any], **io: Any) -> dict[str, Any]:
    """Return the specification with other values in its ioConfig."""
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**spec["spec"]["ioConfig"], **io}}}


class Case(NamedTuple):
    """The parts of a specification, and a leaf: where it is, its new value, and what Druid makes of that value."""

    schema: dict[str, Any]
    io: dict[str, Any]
    tuning: dict[str, Any]
    leaf: tuple[Any, ...]
    value: Any
    kept: Any
    top: dict[str, Any] | None = None
    # the last major version of Druid that takes it
    until: int = 999

    def spec(self, name: str, kafka: str) -> dict[str, Any]:
        """Return the specification of a supervisor that is suspended, so that it starts no task."""
        io = {"topic": name, "consumerProperties": {"bootstrap.servers": kafka}, "inputFormat": {"type": "json"}}
        parts = {
            "dataSchema": {"dataSource": name, **self.schema},
            "ioConfig": {**io, **self.io},
            "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S", **self.tuning},
        }
        return {"type": "kafka", "spec": parts, "suspended": True, **(self.top or {})}


TIME = {"timestampSpec": {"column": "ts", "format": "iso"}}
PAGE = {"dimensionsSpec": {"dimensions": ["page"]}}
DAY = {"granularitySpec": {"segmentGranularity": "day", "queryGranularity": "none", "rollup": False}}
PLAIN = {**TIME, **PAGE, **DAY}
BERLIN = {"type": "period", "period": "P1D", "timeZone": "Europe/Berlin"}
OLD_PARSER = {
    "type": "string",
    "parseSpec": {"format": "json", "timestampSpec": {"column": "ts"}, "dimensionsSpec": {"dimensions": ["page"]}},
}

CASES: dict[str, Case] = {
    "hardly anything": Case(PLAIN, {}, {}, ("ioConfig", "taskDuration"), "PT2H", "PT7200S"),
    "durations": Case(
        PLAIN,
        {
            "taskDuration": "PT30M",
            "startDelay": "PT1M",
            "period": "PT1M",
            "completionTimeout": "PT1H",
            "lateMessageRejectionPeriod": "P1D",
            "earlyMessageRejectionPeriod": "PT12H",
        },
        {"httpTimeout": "PT20S", "offsetFetchPeriod": "PT1M", "intermediatePersistPeriod": "PT5M"},
        ("ioConfig", "lateMessageRejectionPeriod"),
        "P2D",
        "PT172800S",
    ),
    "a period that stays one": Case(
        PLAIN, {}, {"intermediatePersistPeriod": "PT5M"}, ("tuningConfig", "intermediatePersistPeriod"), "PT6M", "PT6M"
    ),
    "numbers and booleans as text": Case(
        PLAIN,
        {"taskCount": "1", "replicas": "1", "useEarliestOffset": "true", "pollTimeout": "200"},
        {"maxRowsInMemory": "1000", "chatRetries": "9", "logParseExceptions": "true"},
        ("tuningConfig", "maxRowsInMemory"),
        "2000",
        2000,
    ),
    "dimensions of each kind": Case(
        {
            **TIME,
            **DAY,
            "dimensionsSpec": {
                "dimensions": [
                    "page",
                    {"name": "user", "multiValueHandling": "array"},
                    {"type": "long", "name": "added"},
                    {"type": "json", "name": "nested"},
                ],
                "dimensionExclusions": ["session", "ip"],
            },
        },
        {},
        {},
        ("dataSchema", "dimensionsSpec", "dimensions", 1, "multiValueHandling"),
        "sorted_set",
        "SORTED_SET",
    ),
    "dimensions that are found": Case(
        {
            **TIME,
            **DAY,
            "dimensionsSpec": {"useSchemaDiscovery": True, "dimensionExclusions": ["ip"]},
            "metricsSpec": [{"type": "count", "name": "count"}, {"type": "longSum", "name": "s", "fieldName": "added"}],
        },
        {},
        {},
        ("dataSchema", "dimensionsSpec", "dimensionExclusions", 0),
        "session",
        "session",
    ),
    "granularities by name": Case(
        {**TIME, **PAGE, "granularitySpec": {"segmentGranularity": "fifteen_minute", "queryGranularity": "minute"}},
        {},
        {},
        ("dataSchema", "granularitySpec", "queryGranularity"),
        "second",
        "SECOND",
    ),
    "granularities by period": Case(
        {**TIME, **PAGE, "granularitySpec": {"segmentGranularity": BERLIN, "queryGranularity": {"type": "none"}}},
        {},
        {},
        ("dataSchema", "granularitySpec", "segmentGranularity", "timeZone"),
        "America/New_York",
        "America/New_York",
    ),
    "filters in filters, transforms": Case(
        {
            **PLAIN,
            "transformSpec": {
                "filter": {
                    "type": "and",
                    "fields": [
                        {"type": "in", "dimension": "page", "values": ["d", "b"]},
                        {"type": "bound", "dimension": "added", "lower": "1", "ordering": "numeric"},
                        {"type": "not", "field": {"type": "selector", "dimension": "user", "value": "bot"}},
                    ],
                },
                "transforms": [{"type": "expression", "name": "long", "expression": "strlen(page)"}],
            },
        },
        {},
        {},
        ("dataSchema", "transformSpec", "filter", "fields", 1, "lower"),
        "2",
        "2",
    ),
    "metrics": Case(
        {
            **PLAIN,
            "metricsSpec": [
                {"type": "count", "name": "count"},
                {"type": "thetaSketch", "name": "users", "fieldName": "user", "size": "16384"},
                {"type": "doubleSum", "name": "sum", "fieldName": "added"},
            ],
        },
        {},
        {},
        ("dataSchema", "metricsSpec", 2, "fieldName"),
        "deleted",
        "deleted",
    ),
    "input in JSON, flattened": Case(
        PLAIN,
        {
            "inputFormat": {
                "type": "json",
                "flattenSpec": {"fields": ["a", {"type": "path", "name": "b", "expr": "$.c.d"}]},
                "featureSpec": {"ALLOW_COMMENTS": True},
            }
        },
        {},
        ("ioConfig", "inputFormat", "flattenSpec", "fields", 1, "expr"),
        "$.c.e",
        "$.c.e",
    ),
    "input in CSV": Case(
        PLAIN,
        {"inputFormat": {"type": "csv", "columns": ["ts", "page", "x"], "skipHeaderRows": "1"}},
        {},
        ("ioConfig", "inputFormat", "columns", 2),
        "y",
        "y",
    ),
    "strict parsing": Case(
        PLAIN,
        {},
        {"reportParseExceptions": True, "maxParseExceptions": 5, "maxSavedParseExceptions": 10, "numPersistThreads": 0},
        ("tuningConfig", "chatRetries"),
        3,
        3,
    ),
    "how segments are stored": Case(
        PLAIN,
        {},
        {
            "indexSpec": {"bitmap": {"type": "roaring"}, "dimensionCompression": "lzf"},
            "appendableIndexSpec": {"type": "onheap"},
        },
        ("tuningConfig", "maxRowsPerSegment"),
        1000000,
        1000000,
    ),
    "an autoscaler": Case(
        PLAIN,
        {
            "taskCount": 2,
            "autoScalerConfig": {
                "enableTaskAutoScaler": True,
                "taskCountMin": 1,
                "taskCountMax": "4",
                "autoScalerStrategy": "lagBased",
                "lagCollectionIntervalMillis": "30000",
            },
        },
        {},
        ("ioConfig", "autoScalerConfig", "taskCountMax"),
        5,
        5,
    ),
    "many topics": Case(
        PLAIN,
        {"topic": None, "topicPattern": "wiki-.*", "idleConfig": {"enabled": True, "inactiveAfterMillis": 600000}},
        {},
        ("ioConfig", "idleConfig", "inactiveAfterMillis"),
        700000,
        700000,
    ),
    "a moment": Case(
        PLAIN,
        {"lateMessageRejectionStartDateTime": "2026-01-01T01:00+01:00"},
        {},
        ("ioConfig", "lateMessageRejectionStartDateTime"),
        "2026-02-01",
        "2026-02-01T00:00:00.000Z",
    ),
    "a parser of old": Case(
        {**DAY, "parser": OLD_PARSER},
        {"inputFormat": None},
        {},
        ("dataSchema", "parser", "parseSpec", "dimensionsSpec", "dimensions", 0),
        "user",
        "user",
        until=36,
    ),
    "a context": Case(
        PLAIN,
        {},
        {},
        ("ioConfig", "period"),
        "PT2M",
        "PT120S",
        {"context": {"priority": 75, "tags": {"a": ["x", 1, None]}, "useConcurrentLocks": True, "text": "1"}},
    ),
}


def cases_of(release: str) -> dict[str, Case]:
    """Return those that this release of Druid takes."""
    return {name: case for name, case in CASES.items() if int(release.partition(".")[0]) <= case.until}
