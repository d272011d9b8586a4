# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Specifications for the tests of ingestions."""

from __future__ import annotations

from typing import Any, Protocol

from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import Ingesting
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import NUMBER, SHORT_TIMEOUT
from testbed.druid.kafka import Kafka


class Topic(Protocol):
    """A topic of a Kafka, and the datasource of the same name."""

    @property
    def name(self) -> str: ...

    @property
    def kafka(self) -> Kafka: ...


def kafka_spec(topic: Topic, **io: Any) -> dict[str, Any]:
    """Return the specification of a supervisor of the topic that has the name."""
    return {
        "spec": {
            "dataSchema": _schema(topic.name, NUMBER),
            "ioConfig": {
                "topic": topic.name,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": topic.kafka.address, **SHORT_TIMEOUT},
                "useEarliestOffset": True,
                "taskDuration": "PT1M",
                "startDelay": "PT0S",
                "period": "PT1S",
                **io,
            },
            "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S"},
        },
    }


def batch_spec(ingestion: Ingesting, data: str = "2026-01-01T00:00:00Z,a") -> dict[str, Any]:
    """Return the specification of a task that ingests inline rows."""
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": _schema(ingestion.name, "page"),
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "inline", "data": data},
                "inputFormat": {"type": "csv", "columns": ["ts", "page"]},
            },
            "tuningConfig": {"type": "index_parallel"},
        },
    }


def _schema(datasource: str, dimension: Any) -> dict[str, Any]:
    return {
        "dataSource": datasource,
        "timestampSpec": {"column": "ts", "format": "iso"},
        "dimensionsSpec": {"dimensions": [dimension]},
        "granularitySpec": {"segmentGranularity": "day", "rollup": False},
    }
