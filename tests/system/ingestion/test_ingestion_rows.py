# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rows from Kafka to SQL by a DruidIngestion: suspended, resumed, changed and deleted, none lost or duplicated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import Ingesting, done, ingesting
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec, kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import Rows
from testbed.druid.druid import Druid


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def test_rows_of_the_topic_are_queryable(ingestion: Ingesting) -> None:
    rows = Rows(ingestion.druid, ingestion.name)
    rows.produce(100)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion)))
    ingestion.settled()
    eventually(rows.has_all)

    suspend(ingestion)
    # the Broker may see the Historical later than the Coordinator does
    eventually(rows.has_all)
    rows.produce(50)
    assert rows.numbers == [*range(100)]
    ingestion.change(suspend=False)
    eventually(rows.has_all)
    assert ingestion.condition("Ready") == ("True", "Running")

    rows.produce(25)
    eventually(ingestion.is_reading)
    changed = kafka_spec(ingestion, taskCount=2)
    # a supervisor that is terminated has to have the time to request of its task to publish
    changed["spec"]["tuningConfig"]["shutdownTimeout"] = "PT60S"
    ingestion.change(ingestion={"nativeSpec": changed})
    rows.produce(25)
    eventually(rows.has_all)

    eventually(ingestion.is_reading)
    ingestion.one_pass(absent=True)
    eventually(rows.has_all)


def test_reset_on_resume_reads_the_topic_again(ingestion: Ingesting) -> None:
    rows = Rows(ingestion.druid, ingestion.name)
    rows.produce(100)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), resumePolicy="Reset"))
    ingestion.settled()
    eventually(rows.has_all)
    suspend(ingestion)
    eventually(rows.has_all)

    ingestion.change(suspend=False)

    eventually(lambda: rows.has_all(times=2))
    assert not done(ingestion.one_pass())


def test_batch_is_ingested_once(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion)))
    ingestion.settled()
    while done(ingestion.one_pass()):
        continue
    eventually(lambda: pages(ingestion) == ["a"])


def pages(ingestion: Ingesting) -> list[str]:
    """Return what a query finds of the batch."""
    known = f"SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = '{ingestion.name}'"
    if not ingestion.druid.query(known):
        return []
    return [row["page"] for row in ingestion.druid.query(f'SELECT "page" FROM "{ingestion.name}"')]


def suspend(ingestion: Ingesting) -> None:
    """Suspend it, and wait until what it has read is published."""
    eventually(ingestion.is_reading)
    ingestion.change(suspend=True)
    assert ingestion.condition("Ready") == ("True", "Suspended")
    eventually(ingestion.is_idle)
