# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rows from Kafka to SQL: suspended, resumed and changed without losing or doubling one."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import direct_on
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.stream import READING, Stream
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid

__all__ = ["druid", "share_druid"]


@pytest.fixture
def stream(druid: Druid) -> Iterator[Stream]:
    with direct_on(druid) as direct:
        found = Stream(direct)
        yield found
        direct.supervisor(id=found.name, state="absent")


def test_no_row_is_lost_or_duplicated(stream: Stream) -> None:
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
    changed = stream.spec(maxRowsInMemory=1000, shutdownTimeout="PT60S")
    assert direct.supervisor(spec=changed, wait=True)["changed"]
    stream.produce(25)
    eventually(stream.has_all)

    # A task that the supervisor does not know to read yet is killed by the termination, and its rows stay in Kafka.
    assert not direct.supervisor(spec=changed, wait=True, wait_for=READING)["changed"]
    assert direct.supervisor(id=stream.name, state="absent")["changed"]
    # The tasks end when the Coordinator sees the segments on a Historical, which the Broker may see a little later.
    eventually(stream.has_all)


def test_waits_for_the_specified_condition(stream: Stream) -> None:
    stream.produce(10)

    result = stream.direct.supervisor(
        spec=stream.spec(), wait=True, wait_for="payload.activeTasks[0].id && payload.aggregateLag == `0`"
    )

    assert result["supervisors"][0]["status"]["payload"]["aggregateLag"] == 0


def test_rows_have_the_columns_of_the_new_schema(stream: Stream) -> None:
    """With schema discovery, what Druid derived from the old schema excludes no column of the new one."""
    direct, (row, time) = stream.direct, ({"when": "2026-01-01T00:00:00Z", "ts": "x", "bytes": 5, "page": "a"}, "when")
    first = stream.spec()
    schema = first["spec"]["dataSchema"]
    schema["dimensionsSpec"] = {"useSchemaDiscovery": True}
    schema["metricsSpec"] = [{"type": "longSum", "name": "sum", "fieldName": "bytes"}]
    second = copy.deepcopy(first)
    second["spec"]["dataSchema"] |= {"metricsSpec": [], "timestampSpec": {"column": time, "format": "iso"}}
    created = direct.supervisor(spec=first, suspended=True)["spec"]

    stream.kafka.produce(stream.name, [row])
    assert direct.supervisor(spec=second, suspended=False, wait=True, wait_for=READING)["changed"]
    assert not direct.supervisor(spec=second)["changed"]
    eventually(lambda: columns(stream) == {"__time", "ts", "bytes", "page"})

    assert direct.supervisor(spec=first, suspended=True)["spec"] == created
    assert not direct.supervisor(spec=first)["changed"]


def columns(stream: Stream) -> set[str]:
    """Return the columns that a query finds."""
    known = f"SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '{stream.name}'"
    return {row["COLUMN_NAME"] for row in stream.druid.query(known)}
