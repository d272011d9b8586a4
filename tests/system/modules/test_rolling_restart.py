# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook rolling_restart, on a Druid each of whose servers is a process of its own.

It ingests from Kafka, by an Indexer and a MiddleManager, and an application queries it all the time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import Answers, querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import Rows, produced_continuously
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.system.support.restarted_servers import Restarts
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid_spread

__all__ = ["druid_spread"]

pytestmark = campaign("the same playbook, for the servers of one process, whose restart changes nothing")

# Clients have one Router.
SERVERS = ("historical", "historical-2", "middleManager", "indexer", "broker", "broker-2", "coordinator")
V1 = "/druid/indexer/v1"


class Application:
    """Rows that arrive from Kafka, and a query whose answer never gets smaller."""

    def __init__(self, druid: Druid) -> None:
        self.rows = Rows(druid, f"r{secrets.token_hex(4)}", partitions=2)
        self.last = 0
        # each of the two workers reads a task group
        spec = kafka_spec(self.rows, taskCount=2, taskDuration="PT1H")
        druid.request("POST", f"{V1}/supervisor", {"type": "kafka", **spec})
        self.rows.produce(20)
        eventually(self.rows.has_all, timeout=180)
        # segments for the Historicals
        handoff = f"{V1}/supervisor/{self.rows.name}/taskGroups/handoff"
        druid.request("POST", handoff, {"taskGroupIds": [0, 1]})
        eventually(self.is_loaded, timeout=180)

    def is_loaded(self) -> bool:
        found = f"SELECT num_replicas FROM sys.segments WHERE is_published = 1 AND datasource = '{self.rows.name}'"
        return {row["num_replicas"] for row in self.rows.druid.query(found)} == {2}

    def ask(self) -> Any:
        return self.rows.druid.query(f'SELECT COUNT(*) AS "rows" FROM "{self.rows.name}"')[0]["rows"]

    def is_right(self, found: int) -> bool:
        self.last, before = found, self.last
        return found >= before


@pytest.fixture
def application(druid_spread: Druid) -> Iterator[Application]:
    found = Application(druid_spread)
    yield found
    druid_spread.request("POST", f"{V1}/supervisor/{found.rows.name}/terminate")


def restarts(druid: Druid, directory: Path, core: str = "2.19", servers: tuple[str, ...] = SERVERS) -> Restarts:
    return Restarts(druid, Ansible(CORES[core], None, "", directory), servers, druid.restart)


def used(application: Application, run: Callable[[], Any]) -> Answers:
    """Run something while rows arrive, and are queried."""
    with querying(application.ask, application.is_right) as answers:
        with produced_continuously(application.rows):
            run()
        eventually(application.rows.has_all, timeout=180)
    return answers


def test_no_query_fails_and_no_row_is_lost(
    druid_spread: Druid,
    application: Application,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    playbook = restarts(druid_spread, tmp_path)
    answers = used(application, playbook.run)
    record_property("measurement", f"{dict(answers.number)} queries, {application.rows.produced} rows")
    assert answers.problems == []
    assert sorted(playbook.done) == sorted(SERVERS)
    assert playbook.done[-1] == "coordinator"
    workers = druid_spread.request("GET", f"{V1}/workers")
    assert [bool(each["worker"]["version"]) for each in workers] == [True, True]
