# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a plan and their order, from the spec, the record of the last applied spec, and the state in Druid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    size_of,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    Inputs,
    Observed,
    Plan,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import SaveLastApplied, Terminate, Write
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import pause_finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    Answers,
    ingestion,
    inputs_of,
    recorded,
    rules_change,
    supervisor_change,
)

DESIRED, SUSPENDED = {"a": 1, "suspended": False}, {"a": 1, "suspended": True}
CREATED, CHANGED, SAME = (supervisor_change(before, DESIRED) for before in (None, {"a": 0}, DESIRED))
RESUMED, DELETED, EMPTY = supervisor_change(SUSPENDED, DESIRED), CREATED, LastApplied()


def plan_of(
    parsed: Ingestion,
    record: LastApplied,
    state: DruidState,
    extras: tuple[DruidChange, ...] = (),
    siblings: tuple[Ingestion, ...] = (),
) -> Plan:
    return decide(inputs_of(parsed, record, state, extras, siblings))


def titles(
    parsed: Ingestion, record: LastApplied, state: DruidState, extras: tuple[DruidChange, ...] = ()
) -> list[str]:
    return plan_of(parsed, record, state, extras).titles


UPDATE_RECORD, CREATE_RECORD = "update ConfigMap with the applied spec", "create ConfigMap with the applied spec"
RESETTING = {"resumePolicy": "Reset"}
ON_WITH_RESET = {**RESETTING, "suspend": False}
APPLIED = LastApplied(ingestion().specified, "pages")
PAUSED, ON = (LastApplied(ingestion(suspend=suspend).specified, "pages") for suspend in (True, False))
OTHER = LastApplied({**ingestion().specified, "spec": {}}, "pages")
IN_SPEC = LastApplied({**ingestion().specified, "spec": {"suspended": True}}, "pages")


@pytest.mark.parametrize(
    ("more", "record", "change", "steps"),
    [
        # the record is written first, so that it covers objects that a crash leaves
        ({}, LastApplied(), CREATED, [CREATE_RECORD, "create supervisor pages", UPDATE_RECORD]),
        ({}, LastApplied({}, "pages"), CREATED, ["create supervisor pages", UPDATE_RECORD]),
        ({}, LastApplied({}, "pages"), SAME, [UPDATE_RECORD]),
        ({}, LastApplied(), SAME, [CREATE_RECORD, UPDATE_RECORD]),
        ({}, APPLIED, SAME, []),
        ({}, OTHER, CHANGED, ["update supervisor pages", UPDATE_RECORD]),
        # drift is reverted, and the record does not change
        ({}, APPLIED, CHANGED, ["update supervisor pages"]),
        ({}, APPLIED, DELETED, ["create supervisor pages"]),
        ({"driftPolicy": "Report"}, APPLIED, CHANGED, []),
        ({"driftPolicy": "Report"}, OTHER, CHANGED, ["update supervisor pages", UPDATE_RECORD]),
        # suspending and resuming are changes of the resource, not drift
        ({"driftPolicy": "Report", "suspend": False}, PAUSED, RESUMED, ["update supervisor pages", UPDATE_RECORD]),
        ({"driftPolicy": "Report", "suspend": False}, ON, RESUMED, []),
        # a reset comes before the supervisor is resumed; nothing is reset because of drift
        (
            ON_WITH_RESET,
            PAUSED,
            RESUMED,
            ["reset the offsets of supervisor pages", "update supervisor pages", UPDATE_RECORD],
        ),
        (
            RESETTING,
            IN_SPEC,
            RESUMED,
            ["reset the offsets of supervisor pages", "update supervisor pages", UPDATE_RECORD],
        ),
        # another client has suspended it, and another field of the resource changes
        (RESETTING, OTHER, RESUMED, ["update supervisor pages", UPDATE_RECORD]),
        (ON_WITH_RESET, OTHER, RESUMED, ["update supervisor pages", UPDATE_RECORD]),
        (RESETTING, OTHER, CHANGED, ["update supervisor pages", UPDATE_RECORD]),
        (RESETTING, APPLIED, RESUMED, ["update supervisor pages"]),
        ({"resumePolicy": "Resume"}, OTHER, RESUMED, ["update supervisor pages", UPDATE_RECORD]),
        # the supervisor id of the resource has changed
        (
            {},
            LastApplied({}, "old"),
            CREATED,
            [UPDATE_RECORD, "create supervisor pages", "terminate supervisor old", UPDATE_RECORD],
        ),
        (
            {"deletionPolicy": "Retain"},
            LastApplied({}, "old"),
            CREATED,
            [UPDATE_RECORD, "create supervisor pages", UPDATE_RECORD],
        ),
    ],
)
def test_steps_of_a_supervisor(
    more: dict[str, Any], record: LastApplied, change: DruidChange, steps: list[str]
) -> None:
    assert titles(ingestion(**more), record, SupervisorState(change)) == steps


FROM_BATCH = LastApplied({"type": "native-batch"}, "t", SubmittedTask("t"))


@pytest.mark.parametrize(
    ("more", "record", "others", "former"),
    [
        ({}, LastApplied({}, "old"), [], ("old",)),
        # after a crash, and renamed once more
        ({}, LastApplied({}, "old", None, ("older",)), [], ("older", "old")),
        # and renamed back
        ({}, LastApplied({}, "old", None, ("pages",)), [], ("old",)),
        # two resources that have swapped their supervisors terminate neither
        ({}, LastApplied({}, "old"), ["old"], ()),
        ({"deletionPolicy": "Retain"}, LastApplied({}, "old"), [], ()),
        ({}, FROM_BATCH, [], ()),
    ],
)
def test_both_supervisors_are_recorded_before_the_new_one_is_created(
    more: dict[str, Any], record: LastApplied, others: list[str], former: tuple[str, ...]
) -> None:
    siblings = tuple(ingestion(document={"spec": {"dataSchema": {"dataSource": other}}}, name="b") for other in others)
    plan = plan_of(ingestion(**more), record, SupervisorState(CREATED), siblings=siblings)
    first, created, *terminated, final = plan.steps
    assert first == SaveLastApplied(LastApplied(record.specified, "pages", None, former))
    assert created == Write(CREATED)
    assert terminated == [Terminate("supervisor", each) for each in former]
    assert final == SaveLastApplied(LastApplied(ingestion(**more).specified, "pages"))


def test_drift_that_is_not_reverted_is_reported() -> None:
    plan = plan_of(ingestion(driftPolicy="Report"), APPLIED, SupervisorState(CHANGED))
    [finding] = plan.findings
    assert finding.reason == "DriftDetected"
    assert "supervisor pages in Druid: it differs in a, suspended." in finding.message


def test_datasource_configuration_is_updated_too() -> None:
    extra, same = rules_change({"rules": []}, {"rules": [1]}), rules_change(1, 1)
    assert titles(ingestion(), APPLIED, SupervisorState(SAME), (extra, same)) == ["update retention rules of pages"]
    plan = plan_of(ingestion(driftPolicy="Report"), APPLIED, SupervisorState(SAME), (extra,))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["DriftDetected"])


def batch_state(parsed: Ingestion, task: SubmittedTask, action: Any, **more: Any) -> TaskState:
    return TaskState(batch.job(parsed, 1), batch.Attempt(task, action), **more)


def test_steps_of_a_batch() -> None:
    parsed = ingestion("native-batch", BATCH)
    first = batch.job(parsed, 1).task_id(1)
    submitting, submitted = SubmittedTask(first), SubmittedTask(first, phase="submitted")
    assert titles(parsed, LastApplied(), batch_state(parsed, submitting, "submit")) == [
        CREATE_RECORD,
        f"submit task {first}",
        UPDATE_RECORD,
    ]
    recorded = LastApplied(parsed.specified, first, submitting)
    assert titles(parsed, recorded, batch_state(parsed, submitting, "submit")) == [
        f"submit task {first}",
        UPDATE_RECORD,
    ]
    assert titles(parsed, recorded, batch_state(parsed, submitted, "note")) == [UPDATE_RECORD]
    assert titles(parsed, replace(recorded, task=submitted), batch_state(parsed, submitted, "none")) == []


def test_a_record_that_is_restored_in_its_config_map_is_an_update() -> None:
    parsed = ingestion("native-batch", BATCH)
    task = SubmittedTask(batch.job(parsed, 1).task_id(1), phase="submitted")
    record = LastApplied(parsed.specified, task.id, task, revision=1)
    shown = {"taskId": task.id, "appliedHash": record.hash, "appliedRevision": 1}
    confirming, observed = recorded(replace(parsed, status=shown), record)
    reads = Answers(observed, batch_state(parsed, task, "none"))
    others = {"kind": "ConfigMap", "metadata": {"name": "i-ingestion"}, "data": {}}
    for config_map, title in ((others, UPDATE_RECORD), (None, CREATE_RECORD)):
        assert decide(Inputs(confirming, Observed(config_map=config_map), reads)).titles == [title]


def test_suspended_batch_is_not_submitted() -> None:
    parsed = ingestion("native-batch", BATCH, suspend=True)
    assert titles(parsed, LastApplied(), batch_state(parsed, SubmittedTask("t"), "submit")) == []


@pytest.mark.parametrize(
    ("action", "changes", "more", "reason"),
    [
        ("lost", {}, {}, "TaskStatusUnknown"),
        ("none", {"phase": "ended", "status": "FAILED"}, {"failure": "no disk"}, "TaskFailed"),
        # Druid no longer knows the task, nor the error
        ("none", {"phase": "ended", "status": "FAILED"}, {}, "TaskFailed"),
        ("taken", {}, {}, "TaskIdConflict"),
    ],
)
def test_failed_batch_is_reported(action: Any, changes: dict[str, Any], more: dict[str, Any], reason: str) -> None:
    parsed = ingestion("native-batch", BATCH)
    task = SubmittedTask(batch.job(parsed, 1).task_id(1), **{"phase": "submitted", **changes})
    record = LastApplied(parsed.specified, task.id, task)
    plan = plan_of(parsed, record, batch_state(parsed, task, action, **more))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), [reason])


NEW_BATCH = ingestion("native-batch", BATCH)
NEW_TASK = SubmittedTask(batch.job(NEW_BATCH, 1).task_id(1))
SUBMIT = f"submit task {NEW_TASK.id}"


@pytest.mark.parametrize(
    ("more", "steps"),
    [
        # terminated before it is removed from the record: if the task is rejected or suspended, no supervisor remains
        ({}, ["terminate supervisor pages", UPDATE_RECORD, SUBMIT, UPDATE_RECORD]),
        ({"suspend": True}, ["terminate supervisor pages", UPDATE_RECORD]),
        ({"deletionPolicy": "Retain"}, [UPDATE_RECORD, SUBMIT, UPDATE_RECORD]),
        ({"deletionPolicy": "Retain", "suspend": True}, [UPDATE_RECORD]),
    ],
)
def test_supervisor_is_terminated_when_the_type_changes_to_batch(more: dict[str, Any], steps: list[str]) -> None:
    parsed = ingestion("native-batch", BATCH, **more)
    state = batch_state(parsed, NEW_TASK, "submit")
    plan = plan_of(parsed, APPLIED, state)
    assert [step.title for step in plan.steps] == steps
    (last,) = plan.steps[-1].saved
    assert last is not None
    assert last.id == ("" if parsed.suspend else NEW_TASK.id)
    # the next reconcile does not terminate it again
    again = plan_of(parsed, last, state)
    assert not [step for step in again.steps if step.title.startswith(("terminate ", "shut down "))]
    assert again.steps == () or not parsed.suspend


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, None),
        ({"paused": True}, "Paused"),
        ({"metadata": {"annotations": {"druid.apache.org/ignored": "true"}}}, "Ignored"),
        ({"metadata": {"annotations": {"druid.apache.org/ignored": "false"}}}, None),
    ],
)
def test_paused(more: dict[str, Any], reason: str | None) -> None:
    parsed = ingestion(**more)
    pause = pause_finding(parsed.annotations, parsed.spec)
    assert (pause.reason if pause else None) == reason
    if pause is not None:
        waiting = Plan((SaveLastApplied(EMPTY),)).paused(pause)
        assert (waiting.steps, [each.reason for each in waiting.findings]) == ((), [reason, "ChangesPending"])
        assert waiting.problems == ()
        assert Plan().paused(pause).findings == (pause,)


@pytest.mark.parametrize(
    ("metadata", "steps"),
    [
        ({"finalizers": ["other"]}, ["set the finalizer"]),
        ({"finalizers": ["druidingestion.datainfra.io/finalizer"]}, []),
        # no resource on which to set it
        ({"finalizers": [], "uid": None}, []),
    ],
)
def test_finalizer_is_set_once(metadata: dict[str, Any], steps: list[str]) -> None:
    assert titles(ingestion(metadata=metadata), APPLIED, SupervisorState(SAME)) == steps


def test_older_resource_keeps_its_supervisor() -> None:
    older = ingestion(name="a", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    own = ingestion(metadata={"creationTimestamp": "2026-01-02T00:00:00Z"})
    plan = plan_of(own, LastApplied(), SupervisorState(CREATED), siblings=(older,))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["DuplicateSupervisor"])
    assert "DruidIngestion a, which is older, also specifies supervisor pages." in plan.findings[0].message


def test_paused_ingestion_is_only_observed() -> None:
    plan = plan_of(ingestion(paused=True), LastApplied(), SupervisorState(replace(CREATED, warnings=("w",))))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["Paused", "ChangesPending"])
    assert plan.warnings == ("w", plan.findings[1].message)


def _of_size(size: int) -> Ingestion:
    """Return a resource with so many dimensions that its spec has about this number of bytes."""
    dimensions = [{"type": "string", "name": f"dimension{number:06}"} for number in range(size // 45)]
    return ingestion(document={"spec": {"dataSchema": {"dimensionsSpec": {"dimensions": dimensions}}}})


@pytest.mark.parametrize(("size", "fits"), [(900_000, True), (1_100_000, False)])
def test_a_spec_whose_record_does_not_fit_is_not_applied(size: int, fits: bool) -> None:
    plan = plan_of(_of_size(size), EMPTY, SupervisorState(CREATED))

    assert bool(plan.steps) is fits
    assert [finding.reason for finding in plan.findings] == ([] if fits else ["InvalidSpec"])
    assert all("and its record, ConfigMap i-ingestion, can have 1,032,192" in each.message for each in plan.findings)
    saved = [to_config_map(record, _of_size(size)) for record in plan.saved if record]
    assert all(size_of(each) < 2**20 for each in saved)


def test_what_is_applied_already_needs_no_new_record() -> None:
    applied = _of_size(1_100_000)
    record = LastApplied(applied.specified, "pages")
    assert titles(applied, record, SupervisorState(CHANGED)) == ["update supervisor pages"]
