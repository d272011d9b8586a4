# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a deletion whose turn has not come steps aside, and none is lost; a new resource does not wait for them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import runner as runs
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.runner import Ended, Runner
from testbed.operator.events import Events
from testbed.operator.go_duration import seconds
from testbed.operator.http_servers import Request, Response
from testbed.operator.resident import DIRECTORY
from testbed.operator_plugin import StartOperator

SHOW: dict[str, Any] = {"name": "Show", "ansible.builtin.debug": {"msg": "shown"}}
# When the turn of the next deletion begins, in seconds.
LATER = 4
DELETED = 6
APART = 2


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with runs.runner(tmp_path, MAX_CONCURRENT_RECONCILES="2") as started:
        # it starts the resident process
        started.run(started.playbook("show", [SHOW]))
        yield started


def variables(uid: str, *, is_marked: bool = True) -> Mapping[str, Any]:
    """Return the variables of a run for a terminating resource; watches.yaml has markUnsafe."""
    metadata = {"uid": uid, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    marked = {name: {"__ansible_unsafe": text} for name, text in metadata.items()}
    return {"_group_kind": {"metadata": marked if is_marked else metadata}}


def postpone(runner: Runner) -> Path:
    """Have the turn of the next deletion begin later; return the file of the turns."""
    file = runner.resident_directory / "deletions-kind.group"
    file.write_text(json.dumps([time.monotonic() + LATER, 0.3, {}]))
    return file


def kinds(ended: Ended) -> Sequence[str]:
    """Return the kinds of its events."""
    return [event["event"] for event in ended.events]


@pytest.mark.parametrize("is_marked", [True, False])
def test_run_before_its_turn_requests_another_one(runner: Runner, is_marked: bool) -> None:
    playbook, deletion = runner.playbook("show", [SHOW]), variables("a", is_marked=is_marked)
    postpone(runner)
    aside = runner.run(playbook, variables=deletion)

    assert (aside.status, aside.output, aside.artifacts) == (0, "", {"rc": "0", "status": "successful", "stdout": ""})
    (event,) = aside.events
    assert (event["event"], event["event_data"]["task_action"]) == ("runner_on_ok", "requeue_after")
    wait = seconds(event["event_data"]["res"]["period"])
    assert 0 < wait <= LATER

    time.sleep(wait)
    ended = runner.run(playbook, variables=deletion)
    assert kinds(ended)[-1] == "playbook_on_stats"
    assert "shown" in ended.output
    assert runner.reports == []


def test_variables_of_the_resource_are_removed(runner: Runner) -> None:
    postpone(runner)
    runner.run(runner.playbook("show", [SHOW]), variables=variables("a"))
    (file,) = runner.directory.glob("group/*/*/*/*/env/extravars")
    assert [*json.loads(file.read_text())] == ["ansible_operator_meta"]


def test_other_runs_have_no_turn(runner: Runner, tmp_path: Path) -> None:
    playbook, other = runner.playbook("show", [SHOW]), tmp_path / "other.yml"
    other.write_text(playbook.read_text())
    postpone(runner)
    for run in (
        runner.run(playbook, variables={"_group_kind": {"metadata": {"uid": "a"}}}),
        runner.run(other, variables=variables("a")),
        runner.run(playbook, variables=variables("a"), is_warm=False),
    ):
        assert kinds(run)[-1] == "playbook_on_stats"


def test_turns_that_cannot_be_kept_delay_nothing(runner: Runner) -> None:
    postpone(runner).unlink()
    (runner.resident_directory / "deletions-kind.group").mkdir()
    ended = runner.run(runner.playbook("show", [SHOW]), variables=variables("a"))
    assert kinds(ended)[-1] == "playbook_on_stats"


def _refuse(self: Events, request: Request) -> Response:
    """Accept no result of a task."""
    event = json.loads(request.body)
    if event["event"] == "runner_on_ok":
        return Response(500)
    self._queue.put(event)
    return Response(204)


def test_run_without_its_requeue_is_not_complete(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """ansible-operator would take it for a success, and removes the finalizer of a terminating resource."""
    monkeypatch.setattr(Events, "_receive", _refuse)
    playbook = runner.playbook("requeue", [{"requeue_after": {"seconds": 5}}])
    ended = runner.run(playbook)
    assert "playbook_on_stats" not in kinds(ended)
    assert "The event runner_on_ok was not sent to ansible-operator" in ended.output

    postpone(runner)
    aside = runner.run(playbook, variables=variables("a"))
    assert (aside.status, aside.events) == (1, ())


def test_new_resource_does_not_wait_for_deletions(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    warm = tmp_path / "warm-runner"
    started = start(operator, live, tmp_path, MAX_CONCURRENT_RECONCILES="2", **{DIRECTORY: str(warm)})
    names = [f"c{number}" for number in range(DELETED)]
    for name in names:
        live.create(small_cluster.resource(name, small_cluster.spec(replicas=1)))
    started.wait_until_settled(*names)

    # far enough apart for a busy machine
    (warm / "deletions-druid.druid.apache.org").write_text(json.dumps([0, APART, {}]))
    mark = live.mark()
    for name in names:
        live.delete("Druid", name)
    live.create(small_cluster.resource("new", small_cluster.spec(replicas=1)))
    eventually(lambda: all(live.find("Druid", name) is None for name in names))
    started.wait_until_ready("new")

    events = [each for each in started.events(mark) if each.code < 300 and not each.dry_run]
    created = min(each.received for each in events if each.verb == "create" and "new" in each.name)
    begun = {each.name: each.received for each in reversed(events) if (each.verb, each.resource) == ("patch", "druids")}
    assert sum(begun[name] < created for name in names) < DELETED - 1
    eventually(lambda: {each.split("-")[1] for each in live.names("StatefulSet")} == {"new"})
