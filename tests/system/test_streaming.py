# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rows from Kafka to SQL: suspended, resumed and changed without losing or doubling one; what was down comes back."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from testbed.druid.druid import Druid
from testbed.druid.kafka import Kafka
from testbed.druid_plugin import druid, druid_apart, share_druid

__all__ = ["druid", "druid_apart", "share_druid"]

# a task that is suspended before it reads is killed, and what it would have published is read by the next one
READING = "payload.activeTasks[0].startTime"


class Stream:
    """A topic, the supervisor that ingests it, and what has become of its rows."""

    def __init__(self, direct: Direct, kafka: Kafka) -> None:
        self.direct, self.kafka = direct, kafka
        self.name = f"e{secrets.token_hex(4)}"
        self.produced = 0
        kafka.make_topic(self.name)

    def spec(self, **tuning: Any) -> dict[str, Any]:
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
                    "consumerProperties": {"bootstrap.servers": self.kafka.address},
                    "useEarliestOffset": True,
                    "taskDuration": "PT1M",
                    "startDelay": "PT0S",
                    "period": "PT1S",
                },
                "tuningConfig": {"type": "kafka", "shutdownTimeout": "PT2S", **tuning},
            },
        }

    def produce(self, count: int) -> None:
        numbers = range(self.produced, self.produced + count)
        self.kafka.produce(self.name, [{"ts": "2026-01-01T00:00:00Z", "number": number} for number in numbers])
        self.produced += count

    @property
    def numbers(self) -> list[int]:
        """The numbers of the rows that a query finds, in order: COUNT(DISTINCT) would only estimate."""
        if self.name not in self.direct.druid.request("GET", "/druid/v2/datasources"):
            return []
        return sorted(int(row["number"]) for row in self.direct.druid.query(f'SELECT "number" FROM "{self.name}"'))

    def has_all(self) -> bool:
        """Whether each row that was produced is there, and once."""
        return self.numbers == list(range(self.produced))


@pytest.fixture
def stream(druid: Druid) -> Iterator[Stream]:
    assert druid.kafka is not None
    with direct_on(druid) as direct:
        found = Stream(direct, druid.kafka)
        yield found
        direct.supervisor(id=found.name, state="absent")


def test_no_row_is_lost_or_doubled(stream: Stream) -> None:
    direct = stream.direct
    stream.produce(100)
    assert direct.supervisor(spec=stream.spec(), wait=True, wait_for=READING)["changed"]
    eventually(stream.has_all)

    assert direct.supervisor(id=stream.name, suspended=True, wait=True)["changed"]
    suspended = direct.supervisor(id=stream.name, wait=True, wait_for="!(payload.publishingTasks)")
    assert suspended["supervisors"][0]["status"]["payload"]["activeTasks"] == []
    eventually(stream.has_all)
    stream.produce(50)
    assert len(stream.numbers) == 100

    assert direct.supervisor(id=stream.name, suspended=False, wait=True)["changed"]
    eventually(stream.has_all)

    stream.produce(25)
    assert direct.supervisor(spec=stream.spec(maxRowsInMemory=1000), wait=True)["changed"]
    stream.produce(25)
    eventually(stream.has_all)

    assert not direct.supervisor(spec=stream.spec(maxRowsInMemory=1000), wait=True)["changed"]
    assert direct.supervisor(id=stream.name, state="absent")["changed"]
    assert stream.has_all()


def test_waits_for_what_is_asked(stream: Stream) -> None:
    stream.produce(10)

    result = stream.direct.supervisor(
        spec=stream.spec(), wait=True, wait_for="payload.activeTasks[0].id && payload.aggregateLag == `0`"
    )

    assert result["supervisors"][0]["status"]["payload"]["aggregateLag"] == 0


def test_an_overlord_that_is_killed_and_comes_back_is_waited_for(druid_apart: Druid) -> None:
    assert druid_apart.kafka is not None
    with direct_on(druid_apart, retry_timeout=120) as direct:
        stream = Stream(direct, druid_apart.kafka)
        stream.produce(10)
        direct.supervisor(spec=stream.spec(), wait=True)
        eventually(stream.has_all)
        druid_apart.kill("coordinator")
        answers: list[dict[str, Any]] = []
        asking = threading.Thread(target=lambda: answers.append(direct.supervisor(spec=stream.spec())))

        asking.start()
        druid_apart.revive("coordinator")
        asking.join()

        assert [answer["changed"] for answer in answers] == [False]
        stream.produce(10)
        eventually(stream.has_all)


def test_kafka_that_is_down_is_told_and_come_back_goes_on(druid_apart: Druid) -> None:
    assert druid_apart.kafka is not None
    with direct_on(druid_apart) as direct:
        stream = Stream(direct, druid_apart.kafka)
        stream.produce(10)
        direct.supervisor(spec=stream.spec(), wait=True)
        eventually(stream.has_all)
        druid_apart.kill("kafka")

        assert not direct.supervisor(spec=stream.spec())["changed"]
        druid_apart.revive("kafka")

        stream.produce(10)
        eventually(stream.has_all)
        assert direct.supervisor(id=stream.name, state="absent")["changed"]
