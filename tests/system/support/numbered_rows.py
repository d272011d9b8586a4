# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rows from their topic to what a query finds: numbered, so that one that is lost or doubled is noticed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from testbed.druid.kafka import Kafka

# The dimension that rows are known by. COUNT(DISTINCT) would only estimate.
NUMBER: dict[str, Any] = {"type": "long", "name": "number"}
# Milliseconds after which a Kafka that does not respond is considered lost: the default is a minute.
SHORT_TIMEOUT = {"default.api.timeout.ms": 2000, "request.timeout.ms": 1000}


class Queried(Protocol):
    """A Druid, wherever it runs, and the Kafka that it reads."""

    @property
    def kafka(self) -> Kafka | None: ...

    def query(self, sql: str) -> list[dict[str, Any]]: ...


class Rows:
    """The rows of a topic, and what has become of them in the datasource of the same name."""

    def __init__(self, druid: Queried, name: str, partitions: int = 1) -> None:
        assert druid.kafka is not None
        self.druid, self.kafka, self.name = druid, druid.kafka, name
        self.produced = 0
        self.kafka.make_topic(name, partitions)

    def produce(self, count: int) -> None:
        """Append so many rows, numbered on."""
        numbers = range(self.produced, self.produced + count)
        self.kafka.produce(self.name, [{"ts": "2026-01-01T00:00:00Z", "number": number} for number in numbers])
        self.produced += count

    @property
    def numbers(self) -> list[int]:
        """The numbers of the rows that a query finds, in order."""
        return sorted(map(int, column(self.druid, self.name, "number")))

    def has_all(self, times: int = 1) -> bool:
        """Whether each row that was produced is there, and so many times."""
        return self.numbers == sorted([*range(self.produced)] * times)


@contextmanager
def produced_continuously(rows: Rows) -> Iterator[None]:
    """Append more rows as long as the block runs."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(0.5):
            rows.produce(5)

    producer = threading.Thread(target=run, daemon=True)
    producer.start()
    try:
        yield
    finally:
        ended.set()
        producer.join()


def column(druid: Queried, datasource: str, name: str) -> list[Any]:
    """Return what the rows of a datasource have in a column; there are none while it is unknown."""
    # the Broker lists a datasource some time before SQL knows it as a table
    if not druid.query(f"SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = '{datasource}'"):
        return []
    return [row[name] for row in druid.query(f'SELECT "{name}" FROM "{datasource}"')]
