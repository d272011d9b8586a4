# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plans, and what decisions depend on, are data; deciding needs nothing else."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import Inputs, SupervisorState, TaskState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe_druid
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Plan, Reset, Submit, Terminate
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    KAFKA,
    ingestion,
    rules_change,
    supervisor_change,
)

ON, SUSPENDED = {**KAFKA, "suspended": False}, {**KAFKA, "suspended": True}
NEW = SupervisorState(supervisor_change(None, ON))
RESUMED = SupervisorState(supervisor_change(SUSPENDED, ON), {"detailedState": "SUSPENDED"})
RESUMING = {"suspend": False, "resumePolicy": "Reset"}
TASK = batch.job(ingestion("native-batch", BATCH))
FAILED = SubmittedTask(TASK.task_id(1), 1, "ended", "FAILED")
INPUTS: Mapping[str, Inputs] = {
    "a new supervisor": Inputs(ingestion(metadata={"finalizers": []}), LastApplied(), NEW),
    "another supervisor": Inputs(ingestion(), LastApplied({}, "old"), NEW, is_recorded=True, siblings=(ingestion(),)),
    "a reset": Inputs(ingestion(**RESUMING), LastApplied(ingestion(suspend=True).specified, "pages"), RESUMED),
    "drift": Inputs(
        ingestion(driftPolicy="Report"),
        LastApplied(ingestion().specified, "pages"),
        RESUMED,
        (rules_change({"rules": []}, {"rules": [1]}),),
    ),
    "an older owner": Inputs(ingestion(), LastApplied(), NEW, older_owner="a"),
    "a paused ingestion": Inputs(ingestion(paused=True), LastApplied(), NEW),
    "a new batch": Inputs(
        ingestion("native-batch", BATCH),
        LastApplied(),
        TaskState(TASK, batch.Attempt(SubmittedTask(TASK.task_id(1)), "submit")),
    ),
    "a failed batch": Inputs(
        ingestion("native-batch", BATCH), LastApplied(), TaskState(TASK, batch.Attempt(FAILED, "none"), {}, "no disk")
    ),
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail at each use of the network."""

    def refuse(*arguments: Any, **_options: Any) -> Any:
        raise AssertionError(arguments)

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


def foreign(value: Any) -> list[Any]:
    """Return everything in a value that is not plain, immutable at the level of our own types."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = [each for field in fields(value) for each in foreign(getattr(value, field.name))]
        return inner if value.__dataclass_params__.frozen else [value]  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return [each for pair in value.items() for part in pair for each in foreign(part)]
    if isinstance(value, list | tuple | frozenset):
        return [each for part in value for each in foreign(part)]
    return [] if value is None or isinstance(value, str | int | float) else [value]


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", INPUTS)
def test_a_decision(name: str) -> None:
    inputs = INPUTS[name]
    stored = pickle.dumps(inputs)
    plan = decide(pickle.loads(stored))
    assert plan == decide(inputs)
    assert inputs == pickle.loads(stored)
    assert (foreign(inputs), foreign(plan)) == ([], [])
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert [step.title for step in pickle.loads(pickle.dumps(plan)).steps] == [step.title for step in plan.steps]


def test_the_decisions_contain_each_kind_of_step() -> None:
    kinds = {type(step) for inputs in INPUTS.values() for step in decide(inputs).steps}
    assert {Reset, Submit, Terminate, type(NEW.change)} < kinds


PATH = "/druid/indexer/v1/supervisor"


@pytest.mark.parametrize("is_there", [False, True])
def test_what_is_read_from_druid(is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    described = ingestion(ingestion={"rules": [{"type": "loadForever"}], "compaction": {}})
    current = {**KAFKA, "spec": {**KAFKA["spec"], "ioConfig": {"topic": "pages", "taskCount": 1}}}
    there = {f"{PATH}/pages": current, f"{PATH}/pages/status": {"payload": {"state": "RUNNING"}}}
    client: Any = FakeDruid({PATH: [], "/druid/coordinator/v1/rules/pages": [], **(there if is_there else {})})
    record = to_config_map(LastApplied(described.specified, "pages"), described)
    inputs = observe_druid(client, described, Observed(record=record, siblings=(ingestion(name="other"),)))
    # whoever keeps the client has lost it
    monkeypatch.setattr(client, "get", None)
    assert foreign(inputs) == []
    plan = decide(pickle.loads(pickle.dumps(inputs)))
    assert plan == decide(inputs)
    assert [step.title for step in plan.steps] == [
        f"{'update' if is_there else 'create'} supervisor pages",
        "create compaction of pages",
        "update retention rules of pages",
    ]


def test_notices_what_is_not_data() -> None:
    for value in (object(), FakeDruid({}), lambda: None, {1: [object()]}):
        assert foreign(Plan((replace(NEW.change, desired=value),))) != []
