# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stream from its topic to the rows that a query finds."""

from __future__ import annotations

import secrets
from typing import Any

from ansible_collections.druidops.druid.tests.system.druid_in_process import Direct
from testbed.druid.druid import Druid
from testbed.druid.kafka import Kafka

# Milliseconds after which a Kafka that does not answer is taken for lost: the default is a minute.
IMPATIENT = {"default.api.timeout.ms": 2000, "request.timeout.ms": 1000}
# The Overlord knows of a task that reads. One that is suspended or stopped before is killed, not asked to publish, and
# what it has read is read by the next one.
READING = "payload.activeTasks[0].startTime"


class Stream:
    """A topic, the supervisor that ingests it, and what has become of its rows."""

    def __init__(self, direct: Direct, kafka: Kafka) -> None:
        self.direct, self.kafka = direct, kafka
        self.name = f"e{secrets.token_hex(4)}"
        self.produced = 0
        kafka.make_topic(self.name)

    def spec(self, **tuning: Any) -> dict[str, Any]:
        """Return the specification of the supervisor, with these tuning options."""
        return {
            "type": "kafka",
            "spec": {
                "dataSchema": {
                    "dataSource": self.name,
                    "timestampSpec": {"column": "ts", "format": "iso"},
                    "dimensionsSpec": {"dimensions": [{"type": "long", "name": "number"}]},
                    "granularitySpec": {"segmentGranularity": "day", "rollup": False},
                },
                "ioConfig": {
                    "topic": self.name,
                    "inputFormat": {"type": "json"},
                    "consumerProperties": {"bootstrap.servers": self.kafka.address, **IMPATIENT},
                    "useEarliestOffset": True,
                    "taskDuration": "PT1M",
                    "startDelay": "PT0S",
                    "period": "PT1S",
                },
                "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S", **tuning},
            },
        }

    def produce(self, count: int) -> None:
        """Append so many rows, numbered on."""
        numbers = range(self.produced, self.produced + count)
        self.kafka.produce(self.name, [{"ts": "2026-01-01T00:00:00Z", "number": number} for number in numbers])
        self.produced += count

    @property
    def numbers(self) -> list[int]:
        """The numbers of the rows that a query finds, in order: COUNT(DISTINCT) would only estimate."""
        return sorted(map(int, column(self.direct.druid, self.name, "number")))

    def has_all(self) -> bool:
        """Whether each row that was produced is there, and once."""
        return self.numbers == list(range(self.produced))


def column(druid: Druid, datasource: str, name: str) -> list[Any]:
    """Return what the rows of a datasource have in a column; there are none while it is unknown."""
    # the Broker lists a datasource some time before SQL knows it as a table
    if not druid.query(f"SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = '{datasource}'"):
        return []
    return [row[name] for row in druid.query(f'SELECT "{name}" FROM "{datasource}"')]
