# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Invalid values that the CRD accepts are reported with their field, or Druid rejects them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.address import path
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import (
    merged_compaction,
    specified_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.retention_rules import canonical_rules, merged_rules
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical, merged_spec
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    described_supervisors,
    desired_supervisor,
    specify_ids,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion, problems, warnings
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import ingestion

# more digits than Python converts between numbers and strings, and more levels than it parses
LONG = ("9" * 5000, f"P{'9' * 5000}D", "[" * 100_000)
ODD: tuple[Any, ...] = (None, True, 5, 1.5, "", "x", [], [1], {}, {"a": {}}, "0001-01-01T00:00:00+05:00/2020", *LONG)

KAFKA: dict[str, Any] = {
    "type": "kafka",
    "id": "pages",
    "suspended": False,
    "context": {"priority": 1},
    "spec": {
        "dataSchema": {
            "dataSource": "pages",
            "timestampSpec": {"column": "ts"},
            "dimensionsSpec": {"dimensions": ["page"], "dimensionExclusions": ["x"]},
            "granularitySpec": {"segmentGranularity": "HOUR", "queryGranularity": "NONE"},
            "metricsSpec": [{"type": "count", "name": "n"}],
            "transformSpec": {"filter": {"type": "in", "dimension": "page", "values": ["a"]}},
        },
        "ioConfig": {
            "topic": "pages",
            "taskCount": 2,
            "taskDuration": "PT1H",
            "lateMessageRejectionStartDateTime": "2026-01-01",
            "inputFormat": {"type": "json", "flattenSpec": {"fields": ["a"]}},
            "autoScalerConfig": {"enableTaskAutoScaler": True},
            "consumerProperties": {"bootstrap.servers": "kafka:9092"},
        },
        "tuningConfig": {
            "reportParseExceptions": True,
            "maxSavedParseExceptions": 1,
            "numPersistThreads": 1,
            "indexSpec": {"bitmap": {"type": "roaring"}},
        },
    },
}
WITHOUT_SPEC_FIELD: dict[str, Any] = {"type": "kafka", **KAFKA["spec"]}
BATCH: dict[str, Any] = {
    "type": "index_parallel",
    "id": "nightly",
    "context": {"priority": 1},
    "spec": {**KAFKA["spec"], "ioConfig": {"type": "index_parallel", "inputSource": {"type": "inline", "data": "a"}}},
}
QUERY: dict[str, Any] = {
    "query": "INSERT INTO pages SELECT 1",
    "context": {"sqlQueryId": "nightly", "maxNumTasks": 2},
    "parameters": [{"type": "VARCHAR", "value": "x"}],
}
COMPACTION: dict[str, Any] = {
    "dataSource": "pages",
    "taskPriority": 25,
    "skipOffsetFromLatest": "P1D",
    "tuningConfig": {"maxRowsInMemory": 1},
    "granularitySpec": {"segmentGranularity": "DAY"},
    "dimensionsSpec": {"dimensions": ["page"]},
    "metricsSpec": [{"type": "count", "name": "n"}],
    "transformSpec": {"filter": {"type": "in", "values": ["a"]}},
}
RULE: dict[str, Any] = {
    "type": "loadByInterval",
    "interval": "2020/2021",
    "tieredReplicants": {"_default_tier": 2},
    "useDefaultTierForNull": True,
    "includeFuture": True,
}
DOCUMENTS = {"kafka": KAFKA, "autocompact": {"spec": COMPACTION}, "native-batch": BATCH, "sql": QUERY}


def odd(document: Any, levels: int) -> Iterator[Any]:
    """Yield the document with each odd value in place of each part of it, down to this number of levels."""
    parts = document.items() if isinstance(document, dict) and levels else ()
    for name, value in parts:
        for other in (*ODD, *odd(value, levels - 1)):
            yield {**document, name: other}


def evaluate(parsed: Ingestion) -> None:
    """Compute everything that precedes the first write to Druid; an invalid value raises a DruidError."""
    with suppress(DruidError):
        if parsed.is_supervisor:
            evaluate_supervisor(parsed)
        else:
            job = batch.job(parsed, 1)
            path(batch.attempt(parsed, job, None, None).task.id)
            job.submission(2)


def evaluate_supervisor(parsed: Ingestion) -> None:
    usual = DOCUMENTS[parsed.type]
    for record in (
        LastApplied({"type": parsed.type, "spec": usual}, "pages"),
        LastApplied(parsed.specified, "pages"),
    ):
        for has_own_ids in (True, False):
            with suppress(DruidError):
                desired = desired_supervisor(parsed, record, has_own_ids=has_own_ids)
                path(desired.id)
                merged_spec(None, desired)
                merged_spec(canonical({"type": parsed.type, **usual}), desired)


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("kafka", KAFKA),
        ("kafka", WITHOUT_SPEC_FIELD),
        ("autocompact", {"spec": COMPACTION}),
        ("native-batch", BATCH),
        ("sql", QUERY),
    ],
)
def test_odd_value_in_a_spec(kind: str, document: dict[str, Any]) -> None:
    for each in odd(document, 4):
        found = ingestion(kind, each)
        warnings(found)
        if not problems(found):
            evaluate(found)
        sibling = ingestion(kind, each, name="other")
        described_supervisors(ingestion(), [sibling])
        specify_ids([sibling])


def test_odd_value_in_the_datasource_configuration() -> None:
    for rule in (*ODD, *odd(RULE, 2)):
        problems(ingestion(ingestion={"rules": [rule]}))
        merged_rules(canonical_rules([RULE]), "pages", canonical_rules([rule]))
    for config in odd(COMPACTION, 4):
        found = ingestion(ingestion={"compaction": config})
        with suppress(DruidError):
            if not problems(found):
                desired = specified_compaction(datasource_of(found.document), config)
                merged_compaction(None, desired)
                merged_compaction(specified_compaction("pages", COMPACTION), desired)
