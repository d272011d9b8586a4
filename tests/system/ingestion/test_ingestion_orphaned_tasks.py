# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
No task outlives its supervisor: neither when the resource is deleted, nor when it specifies another supervisor.

The end of any task makes all supervisors run, so that a task which a supervisor has not known may be known the next
moment, and is then stopped by Druid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.task_lists import active_tasks, running_tasks
from testbed.druid.druid import Druid


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def run_unknown_tasks(ingestion: Ingesting, replicas: int = 1) -> list[str]:
    """Create a supervisor, and return its tasks, which it knows only after its next run, in an hour."""
    ingestion.kafka.make_topic(ingestion.name)
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion, period="PT1H", replicas=replicas)))
    ingestion.one_pass()
    eventually(lambda: running_tasks(ingestion.druid, ingestion.name))
    eventually(lambda: len(active_tasks(ingestion.druid, ingestion.name)) == replicas)
    return active_tasks(ingestion.druid, ingestion.name)


def test_tasks_of_a_deleted_ingestion_are_shut_down(ingestion: Ingesting) -> None:
    # more replicas than slots: the others wait
    tasks = run_unknown_tasks(ingestion, replicas=8)
    deletion = ingestion.one_pass(absent=True)
    titles = [title for title in done(deletion) if "task" in title]
    assert {*titles} <= {f"shut down task {each}" for each in tasks}
    assert deletion.warnings == ()
    eventually(lambda: not active_tasks(ingestion.druid, ingestion.name))
    reported = [each["message"] for each in ingestion.live.list("Event") if each["reason"] == "TaskShutDown"]
    assert sorted(reported) == sorted(f"Done: {title}." for title in titles)


def test_tasks_of_a_former_supervisor_are_shut_down(ingestion: Ingesting) -> None:
    run_unknown_tasks(ingestion)
    new = replace(ingestion, name=f"{ingestion.name}-new")
    new.kafka.make_topic(new.name)
    changed = {"ingestion": {"nativeSpec": kafka_spec(new)}, "suspend": True}
    ingestion.live.merge(KIND, ingestion.name, {"spec": changed})
    outcome = ingestion.one_pass()
    assert outcome.warnings == ()
    assert f"terminate supervisor {ingestion.name}" in done(outcome)
    eventually(lambda: not active_tasks(ingestion.druid, ingestion.name))


def test_retained_supervisor_keeps_its_tasks(ingestion: Ingesting) -> None:
    tasks = run_unknown_tasks(ingestion)
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"deletionPolicy": "Retain"}})
    ingestion.one_pass(absent=True)
    assert active_tasks(ingestion.druid, ingestion.name) == tasks
