# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kafka for tests: create a topic, produce rows, delete it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer

# For a broker on this machine.
_TIMEOUT_MS = 10_000
# Length, key and version of the request Metadata, a number for the response, no client id, no topics. By hand,
# because the library leaves a socket open for every attempt that fails.
_METADATA = struct.pack(">ihhihi", 14, 3, 0, 1, -1, 0)


@dataclass(frozen=True)
class Kafka:
    """One broker, by its address: the bootstrap.servers of a Kafka supervisor."""

    address: str

    def answers(self) -> bool:
        """Whether it takes requests: it counts itself among the brokers."""
        host, _colon, port = self.address.partition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=_TIMEOUT_MS / 1000) as connection:
                connection.sendall(_METADATA)
                _length, _correlation, brokers = struct.unpack(">iii", connection.recv(12, socket.MSG_WAITALL))
        except (OSError, struct.error):
            return False
        return bool(brokers)

    def make_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic and wait until it can be written to."""
        with self._administrator() as administrator:
            options = {"num_partitions": partitions, "replication_factor": 1}
            administrator.create_topics({name: options}, timeout_ms=_TIMEOUT_MS, wait_for_metadata=True)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its rows."""
        with self._administrator() as administrator:
            administrator.delete_topics([name], timeout_ms=_TIMEOUT_MS)

    def produce(self, topic: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows as JSON; they are stored when this returns."""
        producer = KafkaProducer(bootstrap_servers=self.address, bootstrap_timeout_ms=_TIMEOUT_MS, acks="all")
        try:
            for sent in [producer.send(topic, json.dumps(row).encode()) for row in rows]:
                sent.get(_TIMEOUT_MS / 1000)
        finally:
            producer.close()

    def _administrator(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=self.address, bootstrap_timeout_ms=_TIMEOUT_MS)
