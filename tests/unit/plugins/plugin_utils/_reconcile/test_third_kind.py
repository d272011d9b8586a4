# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kernel is independent of the kinds: a third kind with four files and a table uses all of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import objects
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import MAX_MESSAGE_CHARACTERS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import (
    ARGUMENTS,
    Options,
    Request,
    to_request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.memory_api import MemoryApi
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.decide import FINALIZER
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._reconcile.third_kind.kind import NOTE
from hypothesis import given
from hypothesis import strategies as st

SECRET = "hunter2-of-mine"


@pytest.fixture(autouse=True)
def _kind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(objects.KINDS, dict)
    monkeypatch.setitem(objects.KINDS, "Note", objects.Kind("example.com/v1", "notes"))


def note(text: str = "Hello.", *finalizers: str) -> Manifest:
    metadata = {"name": "n", "namespace": "ns", "finalizers": [FINALIZER, *finalizers]}
    return {"apiVersion": "example.com/v1", "kind": "Note", "metadata": metadata, "spec": {"text": text}}


class Task:
    """Tasks for a Note on an API server in memory; the time advances only while a task waits."""

    def __init__(self) -> None:
        self.api, self.moment, self.progress = MemoryApi(), 0.0, list[str]()

    def run(self, check_mode: bool = False, **arguments: Any) -> Outcome[Any]:
        options = {name: option.get("default") for name, option in ARGUMENTS.items()}
        specified = {**options, "name": "n", "namespace": "ns", "wait_timeout": 5, **arguments}
        self.request: Request[Options] = to_request(
            "Note", specified, NOTE.to_options(specified, check_mode, Meter()), str
        )
        self.api.writes.clear()
        clock = Clock(lambda: self.moment, self._sleep, lambda: datetime(2026, 1, 2, tzinfo=UTC))
        return run(NOTE, self.api, self.request, self.progress.append, clock)

    def result(self, outcome: Outcome[Any]) -> dict[str, Any]:
        return of_outcome(NOTE, self.request, outcome, fail_when_blocked=True)

    def _sleep(self, seconds: float) -> None:
        self.moment += seconds

    @property
    def ready(self) -> tuple[str, str]:
        """Return status and reason of the stored condition Ready."""
        [stored] = self.api.of_kind("Note")
        ready = stored["status"]["conditions"][0]
        return ready["status"], ready["reason"]

    @property
    def events(self) -> list[str]:
        return [each["message"] for each in self.api.of_kind("Event")]


@pytest.fixture
def task() -> Task:
    return Task()


def test_writes_waits_and_reports(task: Task) -> None:
    result = task.result(task.run(resource=note(), wait=True))
    assert result["plan"] == ["create Note n", "create ConfigMap n"]
    assert (result["changed"], result["ready"], result["requeue_after"]) == (True, True, None)
    assert task.progress == ["It is being written.", "It is written."]
    assert task.ready == ("True", "UpToDate")
    assert task.events == ["Done: create ConfigMap n."]


def test_unchanged_resource_causes_no_write(task: Task) -> None:
    task.run(resource=note(), wait=True)
    result = task.result(task.run(resource=note()))
    assert (result["changed"], result["plan"], result["diff"], task.api.writes) == (False, [], [], [])


def test_change_is_requeued_soon(task: Task) -> None:
    assert task.result(task.run(resource=note()))["requeue_after"] == 2


def test_check_mode_plans_and_writes_nothing(task: Task) -> None:
    planned = task.result(task.run(resource=note(), check_mode=True, wait=True))
    assert (planned["plan"], task.api.writes, task.progress) == (["create Note n", "create ConfigMap n"], [], [])
    assert task.result(task.run(resource=note()))["plan"] == planned["plan"]


def test_missing_resource(task: Task) -> None:
    with pytest.raises(ResourceNotFound, match="or set note_resource to"):
        task.run()


@given(st.integers(3970, 4110), st.text("0123456789abcdef", min_size=16, max_size=64))
def test_no_part_of_a_secret_is_left_at_the_end_of_a_long_message(start: int, secret: str) -> None:
    task = Task()
    task.api.rejected["PATCH", "ConfigMap"] = f"{'-' * start}{secret}{'-' * 200}"
    task.run(resource={**note(), "spec": {"text": "x", "password": secret}})
    [stored] = task.api.of_kind("Note")
    messages = [each["message"] for each in stored["status"]["conditions"]]
    assert max(map(len, messages)) == MAX_MESSAGE_CHARACTERS
    assert all(each.partition("-" * 9)[2].strip("-.*") == "" for each in messages)


def test_failed_write_is_reported_everywhere_without_secrets(task: Task) -> None:
    task.api.rejected["PATCH", "ConfigMap"] = f"no: {SECRET}"
    resource = {**note(), "spec": {"text": "x", "password": SECRET}}
    outcome = task.run(resource=resource, wait=True)
    result = task.result(outcome)
    assert (outcome.timed_out, result["failed"], result["plan"]) == (True, True, ["create Note n"])
    assert task.ready == ("False", "ApplyFailed")
    assert len(task.events) == 1
    reports = (result["msg"], result["conditions"], task.events, task.api.of_kind("Note")[0]["status"], task.progress)
    assert all("no: ****" in str(each) and SECRET not in str(each) for each in reports)
    assert NOTE.telemetry.measure(outcome, Meter(), 1.0).errors == {"act": 1, "report": 0}


def test_failed_status_update_is_a_warning(task: Task) -> None:
    task.api.rejected["PATCH", "Note"] = "no"
    outcome = task.run(resource=note())
    [warning] = task.result(outcome)["warnings"]
    assert "notes.example.com" in warning
    assert NOTE.telemetry.measure(outcome, Meter(), 1.0).errors == {"act": 0, "report": 1}


def test_failed_read_is_reported_in_the_conditions(task: Task) -> None:
    task.run(resource=note(), wait=True)
    task.api.rejected["GET", "ConfigMap"] = "no"
    with pytest.raises(KubernetesError):
        task.run()
    assert task.ready == ("False", "ObserveFailed")


def test_deletion_waits_until_the_resource_is_deleted(task: Task) -> None:
    task.run(resource=note(), wait=True)
    result = task.result(task.run(state="absent", wait=True))
    assert result["plan"] == ["delete Note n", "delete ConfigMap n", "finalize Note n"]
    # what is deleted has none, such as "is being deleted"
    assert result["conditions"] == []
    assert (task.api.of_kind("Note"), task.api.of_kind("ConfigMap")) == ([], [])
    assert not task.run(state="absent", wait=True).changed


def test_remaining_finalizer_is_reported(task: Task) -> None:
    task.run(resource=note("Hello.", "example.com/other"), wait=True)
    task.progress.clear()
    outcome = task.run(state="absent", wait=True)
    assert (outcome.timed_out, task.moment) == (True, 2 + 5)
    assert task.progress == ["Waiting for the deletion of Note n (finalizers: example.com/other)."]
    assert task.result(outcome)["msg"] == (
        "Note ns/n: timed out waiting for the deletion of Note n (finalizers: example.com/other) after 5 s."
    )


def test_recreated_resource_ends_the_wait(task: Task) -> None:
    task.run(resource=note("Hello.", "example.com/other"), wait=True)

    def recreated(_seconds: float) -> None:
        [stored] = task.api.of_kind("Note")
        task.api.objects["Note", "n"] = {**stored, "metadata": {**stored["metadata"], "uid": "another"}}

    task._sleep = recreated  # type: ignore[method-assign]
    assert not task.run(state="absent", wait=True).timed_out


def test_deletion_in_check_mode(task: Task) -> None:
    task.run(resource=note(), wait=True)
    result = task.result(task.run(state="absent", wait=True, check_mode=True))
    assert (result["plan"], task.api.writes) == (["delete Note n"], [])
    assert replace(task.request, absent=False).waits is False


def test_deletion_is_reported_as_a_change_once(task: Task) -> None:
    task.run(resource=note("Hello.", "example.com/other"), wait=True)
    task.run(state="absent")
    for check_mode in (True, False):
        result = task.result(task.run(state="absent", check_mode=check_mode))
        assert (result["changed"], result["plan"], "DELETE Note" in task.api.writes) == (False, [], False)
    assert [each["metadata"]["finalizers"] for each in task.api.of_kind("Note")] == [["example.com/other"]]


def delete(task: Task) -> None:
    """Delete the Note as kubectl does; its finalizer has not run yet."""
    task.api.delete("Note", "ns", "n", task.api.of_kind("Note")[0]["metadata"]["uid"])


def test_wait_for_a_terminating_resource_ends_with_its_deletion(task: Task) -> None:
    task.run(resource=note(), wait=True)
    delete(task)
    result = task.result(task.run(wait=True))
    assert (result["plan"], "failed" in result) == (["delete ConfigMap n", "finalize Note n"], False)
    assert task.api.of_kind("Note") == []
    with pytest.raises(ResourceNotFound):
        task.run(wait=True)


def test_resource_that_is_deleted_during_a_wait(task: Task) -> None:
    task.api.rejected["PATCH", "ConfigMap"] = "no"

    def deleted(_seconds: float) -> None:
        if task.api.of_kind("Note") and not task.api.of_kind("Note")[0]["metadata"].get("deletionTimestamp"):
            delete(task)

    task._sleep = deleted  # type: ignore[method-assign]
    assert not task.run(resource=note(), wait=True).timed_out
    assert task.api.of_kind("Note") == []


def test_wait_for_a_terminating_resource_times_out_with_what_holds_it(task: Task) -> None:
    task.run(resource=note("Hello.", "example.com/other"), wait=True)
    delete(task)
    outcome = task.run(wait=True)
    assert outcome.timed_out
    assert "the deletion of Note n (finalizers: example.com/other)" in task.result(outcome)["msg"]
