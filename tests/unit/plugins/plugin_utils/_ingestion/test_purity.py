# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans and their inputs are data, and planning depends on nothing else."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    Inputs,
    Observed,
    Plan,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Write
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    KAFKA,
    asking,
    ingestion,
    inputs_of,
    noting,
    rules_change,
    supervisor_change,
)

ON, SUSPENDED = {**KAFKA, "suspended": False}, {**KAFKA, "suspended": True}
NEW = SupervisorState(supervisor_change(None, ON))
RESUMED = SupervisorState(supervisor_change(SUSPENDED, ON), {"detailedState": "SUSPENDED"})
RESUMING = {"suspend": False, "resumePolicy": "Reset"}
TASK = batch.job(ingestion("native-batch", BATCH), 1)
FAILED = SubmittedTask(TASK.task_id(1), 1, "ended", "FAILED")
INPUTS: Mapping[str, Inputs] = {
    "a new supervisor": inputs_of(ingestion(metadata={"finalizers": []}), LastApplied(), NEW),
    "another supervisor": inputs_of(
        ingestion(), LastApplied({}, "old"), NEW, siblings=(ingestion(name="b", document={}),)
    ),
    "a reset": inputs_of(ingestion(**RESUMING), LastApplied(ingestion(suspend=True).specified, "pages"), RESUMED),
    "drift": inputs_of(
        ingestion(driftPolicy="Report"),
        LastApplied(ingestion().specified, "pages"),
        RESUMED,
        (rules_change({"rules": []}, {"rules": [1]}),),
    ),
    "an older owner": inputs_of(ingestion(), LastApplied(), NEW, siblings=(ingestion(name="a"),)),
    "a paused ingestion": inputs_of(ingestion(paused=True), LastApplied(), NEW),
    "a new batch": inputs_of(
        ingestion("native-batch", BATCH),
        LastApplied(),
        TaskState(TASK, batch.Attempt(SubmittedTask(TASK.task_id(1)), "submit")),
    ),
    "a failed batch": inputs_of(
        ingestion("native-batch", BATCH), LastApplied(), TaskState(TASK, batch.Attempt(FAILED, "none"), {}, "no disk")
    ),
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at each use of the network."""

    def fail(*arguments: Any, **_options: Any) -> Any:
        raise AssertionError(arguments)

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, fail)


def not_plain(value: Any) -> list[Any]:
    """Return all parts of a value that are not plain data; our own types must be frozen."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = [each for field in fields(value) for each in not_plain(getattr(value, field.name))]
        return inner if value.__dataclass_params__.frozen else [value]  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return [each for pair in value.items() for part in pair for each in not_plain(part)]
    if isinstance(value, list | tuple | frozenset):
        return [each for part in value for each in not_plain(part)]
    return [] if value is None or isinstance(value, str | int | float) else [value]


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", INPUTS)
def test_decide_is_pure(name: str) -> None:
    inputs = INPUTS[name]
    stored = pickle.dumps(inputs)
    plan = decide(pickle.loads(stored))
    assert plan == decide(inputs)
    assert inputs == pickle.loads(stored)
    assert not_plain([inputs.specified, inputs.observed, plan]) == []
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert [step.title for step in pickle.loads(pickle.dumps(plan)).steps] == [step.title for step in plan.steps]


def test_plans_contain_each_kind_of_step() -> None:
    planned = {step.operation.reason for inputs in INPUTS.values() for step in decide(inputs).steps}
    assert {
        reasons.OFFSETS_RESET,
        reasons.TASK_SUBMITTED,
        reasons.SUPERVISOR_TERMINATED,
        reasons.SUPERVISOR_UPDATED,
    } < planned


PATH = "/druid/indexer/v1/supervisor"


@pytest.mark.parametrize("exists", [False, True])
def test_what_is_read_is_plain_data(exists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    specified = {"rules": [{"type": "loadForever"}], "compaction": {}}
    record = to_config_map(LastApplied(ingestion(ingestion=specified).specified, "pages"), ingestion())
    parsed = ingestion(ingestion=specified, metadata=noting(record, "pages"))
    current = {**KAFKA, "spec": {**KAFKA["spec"], "ioConfig": {"topic": "pages", "taskCount": 1}}}
    objects = {f"{PATH}/pages": current, f"{PATH}/pages/status": {"payload": {"state": "RUNNING"}}}
    client: Any = FakeDruid({PATH: [], "/druid/coordinator/v1/rules/pages": [], **(objects if exists else {})})
    inputs = Inputs(parsed, Observed(record=record, siblings=(ingestion(name="other"),)), asking(client))
    plan = decide(inputs)
    # everything was read once
    monkeypatch.setattr(client, "get", None)
    assert decide(inputs) == plan
    assert not_plain([inputs.druid_state, inputs.datasource, inputs.record, plan]) == []
    assert [step.title for step in plan.steps] == [
        f"{'update' if exists else 'create'} supervisor pages",
        "create compaction of pages",
        "update retention rules of pages",
    ]


def test_detects_values_that_are_not_plain_data() -> None:
    for value in (object(), FakeDruid({}), lambda: None, {1: [object()]}):
        assert not_plain(Plan((Write(replace(NEW.change, desired=value)),))) != []
