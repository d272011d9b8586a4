# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The info modules return what Druid reports, only of the selected supervisors and tasks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.supervisor import supervisor_info
from ansible_collections.druidops.druid.plugins.module_utils._operations.task import task_info
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import KEY, Marker
from ansible_collections.druidops.druid.tests.system.support.druid_in_process import Direct, direct_on
from ansible_collections.druidops.druid.tests.system.support.supervisor_specs import CASES
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid, share_druid

__all__ = ["druid", "share_druid"]

ALL_SUPERVISORS: dict[str, Any] = {"id": None, "datasource": None, "state": None, "status": True, "history": 0}
ALL_TASKS: dict[str, Any] = {
    "id": None,
    "datasource": None,
    "state": None,
    "type": None,
    "limit": 100,
    "spec": False,
    "report": False,
}


@pytest.fixture
def direct(druid: Druid) -> Iterator[Direct]:
    with direct_on(druid) as found:
        yield found


@pytest.fixture
def name(direct: Direct) -> Iterator[str]:
    """A suspended supervisor that was changed once, with a password in it."""
    name = f"i{secrets.token_hex(4)}"
    assert direct.druid.kafka is not None
    spec = CASES["hardly anything"].spec(name, direct.druid.kafka.address)
    spec["spec"]["ioConfig"]["consumerProperties"]["ssl.key.password"] = "hunter-2"
    direct.supervisor(spec=spec)
    spec["spec"]["ioConfig"]["taskDuration"] = "PT2H"
    direct.supervisor(spec=spec)
    yield name
    direct.supervisor(id=name, state="absent")


@pytest.mark.parametrize("by", ["id", "datasource"])
def test_supervisors(direct: Direct, name: str, by: str) -> None:
    (found,) = supervisor_info(direct.client, {**ALL_SUPERVISORS, by: name, "history": 5})

    assert (found["id"], found["type"], found["datasource"], found["suspended"]) == (name, "kafka", name, True)
    assert (found["lag"], found["status"]["suspended"]) == (0, True)
    durations = [each["spec"]["spec"]["ioConfig"]["taskDuration"] for each in found["history"]]
    assert durations == ["PT7200S", "PT3600S"]
    assert "hunter" not in str(found)


def test_supervisors_by_state(direct: Direct, name: str) -> None:
    (known,) = supervisor_info(direct.client, {**ALL_SUPERVISORS, "id": name, "status": False})

    there = supervisor_info(direct.client, {**ALL_SUPERVISORS, "state": known["detailed_state"], "status": False})
    elsewhere = supervisor_info(direct.client, {**ALL_SUPERVISORS, "state": "UNHEALTHY_TASKS", "status": False})

    assert name in [each["id"] for each in there]
    assert name not in [each["id"] for each in elsewhere]
    assert "status" not in known


def test_missing_supervisor_and_task(direct: Direct) -> None:
    assert supervisor_info(direct.client, {**ALL_SUPERVISORS, "id": "nobody"}) == []
    assert task_info(direct.client, {**ALL_TASKS, "id": "nobody"}) == []


def test_tasks(direct: Direct) -> None:
    name = f"i{secrets.token_hex(4)}"
    # as Druid copies it to the tasks of a supervisor
    context = {"priority": 5, KEY: Marker("a", "b", "", "").text}
    done = direct.task(spec={"type": "noop", "dataSource": name, "runTime": 1, "context": context}, wait=True)

    (by_id,) = task_info(direct.client, {**ALL_TASKS, "id": done["id"], "spec": True, "report": True})
    (by_source,) = task_info(direct.client, {**ALL_TASKS, "datasource": name, "state": "complete", "type": "noop"})

    assert (by_id["statusCode"], by_id["spec"]["runTime"]) == ("SUCCESS", 1)
    assert (by_id["spec"]["context"]["priority"], KEY in by_id["spec"]["context"]) == (5, False)
    assert "report" in by_id
    assert by_source["id"] == done["id"]
    assert task_info(direct.client, {**ALL_TASKS, "datasource": name, "state": "running"}) == []
