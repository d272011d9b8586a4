# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Servers that are taken out of use, on a Druid that no other test uses, whose processes are not restarted.

test_rolling_restart.py has one with a process for each server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.modules.test_examples import (
    ROOT,
    SERVERS,
    documented,
    examples,
    run_in_order,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.system.support.restarted_servers import Restarts
from testbed.druid.druid import Druid
from testbed.druid_plugin import release

V1 = "/druid/indexer/v1"
RESTARTED = ("historical", "indexer", "broker")


@pytest.fixture(scope="module")
def druid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Druid]:
    """A Druid without Kafka, for the tests of this file."""
    with Druid.start(tmp_path_factory.mktemp("servers") / "druid", release(), kafka=False) as started:
        yield started


def test_examples(druid: Druid, tmp_path: Path) -> None:
    tasks = [task for module in SERVERS for task in examples(module)]
    run_in_order(druid, tmp_path, [*tasks, *documented(ROOT / "docs" / "rolling-restart.md")])


@pytest.fixture
def playbook(druid: Druid, tmp_path: Path) -> Restarts:
    return Restarts(druid, Ansible(CORES["2.18"], None, "", tmp_path), RESTARTED, lambda _server: None)


def workers(druid: Druid) -> list[bool]:
    """Whether each of the workers is enabled."""
    return [bool(each["worker"]["version"]) for each in druid.request("GET", f"{V1}/workers")]


def test_rolling_restart(druid: Druid, playbook: Restarts) -> None:
    """A restart that is skipped leaves the worker disabled, so that the playbook has to enable it."""
    predicted = playbook.run("--check", "--diff", "--limit", "indexer")
    assert (playbook.done, workers(druid)) == ([], [True])
    assert '-    "enabled": true' in predicted.output
    playbook.run()
    assert (playbook.done, workers(druid)) == ([*RESTARTED], [True])


def submit(druid: Druid, milliseconds: int) -> str:
    """Submit a task that runs for so long, and wait until it does."""
    task = {"type": "noop", "runTime": milliseconds}
    submitted: dict[str, Any] = druid.request("POST", f"{V1}/task", task)
    return str(submitted["task"])


def test_worker_that_is_busy_stops_the_play_and_a_second_run_goes_on(druid: Druid, playbook: Restarts) -> None:
    task = submit(druid, 60_000)
    failed = playbook.run("--limit", "indexer,broker", status=2, druid_vm_drain_timeout=3)
    assert f"It still runs {task}. It stays disabled" in " ".join(failed.output.split())
    # neither this server nor a later one
    assert (playbook.done, workers(druid)) == ([], [False])
    druid.request("POST", f"{V1}/task/{task}/shutdown")
    playbook.run("--limit", "indexer")
    assert (playbook.done, workers(druid)) == (["indexer"], [True])


def test_name_that_druid_does_not_have(druid: Druid, playbook: Restarts) -> None:
    failed = playbook.run("--limit", "broker", status=2, druid_vm_host="localhost")
    expected = f"Druid knows no broker localhost:{druid.address('broker').rpartition(':')[2]}, only 127.0.0.1:"
    assert expected in failed.output
    assert playbook.done == []
