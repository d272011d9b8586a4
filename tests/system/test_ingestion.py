# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An ingestion from its resource to Druid and back: on a real control plane, with a real Druid and a real Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.ingestion_in_process import KIND, Ingesting, ingesting
from ansible_collections.druidops.druid.tests.system.live import Live
from testbed.druid.druid import Druid

FINALIZER = "druidingestion.datainfra.io/finalizer"


@pytest.fixture
def ingestion(live: Live, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def kafka_spec(ingestion: Ingesting, **io: Any) -> dict[str, Any]:
    """Return the specification of a supervisor of a topic that is there, and empty."""
    kafka = ingestion.druid.kafka
    assert kafka is not None
    kafka.make_topic(ingestion.name)
    return {
        "spec": {
            "dataSchema": {
                "dataSource": ingestion.name,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {
                "topic": ingestion.name,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": kafka.address},
                "useEarliestOffset": True,
                "startDelay": "PT0S",
                "period": "PT1S",
                **io,
            },
            "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S"},
        },
    }


def batch_spec(ingestion: Ingesting, data: str = "2026-01-01T00:00:00Z,a") -> dict[str, Any]:
    """Return the specification of a task that ingests some rows of its own."""
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": ingestion.name,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "inline", "data": data},
                "inputFormat": {"type": "csv", "columns": ["ts", "page"]},
            },
            "tuningConfig": {"type": "index_parallel"},
        },
    }


def test_a_supervisor_is_made_kept_and_ended(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion)))

    ingestion.settled()

    stored = ingestion.stored
    assert stored["metadata"]["finalizers"] == [FINALIZER]
    assert (stored["status"]["taskId"], stored["status"]["detailedState"]) == (ingestion.name, "RUNNING")
    assert ingestion.condition("Ready") == ("True", "Running")
    assert ingestion.druid.request("GET", "/druid/indexer/v1/supervisor") == [ingestion.name]

    again = ingestion.one_pass()
    assert (again.done, ingestion.writes) == ((), [])

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"suspend": True}})
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Suspended")
    assert ingestion.condition("Suspended") == ("True", "Suspended")

    ingestion.live.merge(KIND, ingestion.name, {"spec": {"suspend": False}})
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Running")

    ingestion.one_pass(absent=True)
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.druid.request("GET", "/druid/indexer/v1/supervisor") == []


def test_a_batch_runs_once(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion)))

    first = ingestion.settled()

    assert first.report is not None
    assert ingestion.condition("Ready") == ("True", "Succeeded")
    task = ingestion.stored["status"]["taskId"]
    again = ingestion.one_pass()
    assert (again.done, ingestion.writes) == ((), [])

    changed = batch_spec(ingestion, "2026-01-02T00:00:00Z,b")
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": changed}}})
    ingestion.settled()
    assert ingestion.stored["status"]["taskId"] != task
