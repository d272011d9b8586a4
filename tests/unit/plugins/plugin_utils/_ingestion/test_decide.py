# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is done in which order, given what is described, what was put down, and what Druid says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide, without_steps
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import (
    DruidState,
    Inputs,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Plan,
    SaveLastApplied,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import pause_finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    rules_change,
    supervisor_change,
)

THERE, SUSPENDED = {"a": 1, "suspended": False}, {"a": 1, "suspended": True}
MADE, CHANGED, SAME = (supervisor_change(before, THERE) for before in (None, {"a": 0}, THERE))
RESUMED, GONE, KEPT = supervisor_change(SUSPENDED, THERE), MADE, LastApplied()


def decided(
    described: Ingestion, record: LastApplied, what: DruidState, extras: tuple[DruidChange, ...] = (), **more: Any
) -> Plan:
    return decide(Inputs(described, record, what, extras, **{"is_recorded": True, **more}))


def titles(
    described: Ingestion, record: LastApplied, what: DruidState, extras: tuple[DruidChange, ...] = ()
) -> list[str]:
    return [step.title for step in decided(described, record, what, extras, is_recorded=bool(record.id)).steps]


PUT, PUT_NEW = "update ConfigMap with the applied spec", "create ConfigMap with the applied spec"
RESETTING = {"resumePolicy": "Reset"}
ON_WITH_RESET = {**RESETTING, "suspend": False}
APPLIED = LastApplied(ingestion().specified, "pages")
PAUSED, ON = (LastApplied(ingestion(suspend=suspend).specified, "pages") for suspend in (True, False))
OTHER = LastApplied({**ingestion().specified, "spec": {}}, "pages")
IN_SPEC = LastApplied({**ingestion().specified, "spec": {"suspended": True}}, "pages")


@pytest.mark.parametrize(
    ("more", "record", "change", "steps"),
    [
        # what a crash leaves behind is known by the record, so that comes first
        ({}, LastApplied(), MADE, [PUT_NEW, "create supervisor pages", PUT]),
        ({}, LastApplied({}, "pages"), MADE, ["create supervisor pages", PUT]),
        ({}, LastApplied({}, "pages"), SAME, [PUT]),
        ({}, LastApplied(), SAME, [PUT_NEW, PUT]),
        ({}, APPLIED, SAME, []),
        ({}, OTHER, CHANGED, ["update supervisor pages", PUT]),
        # drift is put right, and nothing new is put down
        ({}, APPLIED, CHANGED, ["update supervisor pages"]),
        ({}, APPLIED, GONE, ["create supervisor pages"]),
        ({"driftPolicy": "Report"}, APPLIED, CHANGED, []),
        ({"driftPolicy": "Report"}, OTHER, CHANGED, ["update supervisor pages", PUT]),
        # to suspend and to resume is a change of the resource, and no drift
        ({"driftPolicy": "Report", "suspend": False}, PAUSED, RESUMED, ["update supervisor pages", PUT]),
        ({"driftPolicy": "Report", "suspend": False}, ON, RESUMED, []),
        # a reset comes before the supervisor is resumed; nothing is reset because of drift
        (ON_WITH_RESET, PAUSED, RESUMED, ["reset the offsets of supervisor pages", "update supervisor pages", PUT]),
        (RESETTING, IN_SPEC, RESUMED, ["reset the offsets of supervisor pages", "update supervisor pages", PUT]),
        # somebody had suspended it, and the resource changes in another way
        (RESETTING, OTHER, RESUMED, ["update supervisor pages", PUT]),
        (ON_WITH_RESET, OTHER, RESUMED, ["update supervisor pages", PUT]),
        (RESETTING, OTHER, CHANGED, ["update supervisor pages", PUT]),
        (RESETTING, APPLIED, RESUMED, ["update supervisor pages"]),
        ({"resumePolicy": "Resume"}, OTHER, RESUMED, ["update supervisor pages", PUT]),
        # the resource describes another supervisor than before
        ({}, LastApplied({}, "old"), MADE, [PUT, "create supervisor pages", "terminate supervisor old", PUT]),
        ({"deletionPolicy": "Retain"}, LastApplied({}, "old"), MADE, [PUT, "create supervisor pages", PUT]),
    ],
)
def test_of_a_supervisor(more: dict[str, Any], record: LastApplied, change: DruidChange, steps: list[str]) -> None:
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
        # two that have swapped their supervisors end neither
        ({}, LastApplied({}, "old"), ["old"], ()),
        ({"deletionPolicy": "Retain"}, LastApplied({}, "old"), [], ()),
        ({}, FROM_BATCH, [], ()),
    ],
)
def test_both_supervisors_are_put_down_before_the_new_one_is_made(
    more: dict[str, Any], record: LastApplied, others: list[str], former: tuple[str, ...]
) -> None:
    siblings = tuple(ingestion(document={"spec": {"dataSchema": {"dataSource": other}}}, name="b") for other in others)
    plan = decided(ingestion(**more), record, SupervisorState(MADE), siblings=siblings)
    put_down, made, *ended, final = plan.steps
    assert put_down == SaveLastApplied(LastApplied(record.specified, "pages", None, former))
    assert isinstance(made, DruidChange)
    assert ended == [Terminate("supervisor", each) for each in former]
    assert final == SaveLastApplied(LastApplied(ingestion(**more).specified, "pages"))


def test_what_is_left_to_drift_is_said() -> None:
    plan = decided(ingestion(driftPolicy="Report"), APPLIED, SupervisorState(CHANGED))
    [finding] = plan.findings
    assert finding.reason == "DriftDetected"
    assert "supervisor pages in Druid: it differs in a, suspended." in finding.message


def test_what_is_kept_beside_it_is_changed_with_it() -> None:
    extra, same = rules_change({"rules": []}, {"rules": [1]}), rules_change(1, 1)
    assert titles(ingestion(), APPLIED, SupervisorState(SAME), (extra, same)) == ["update retention rules of pages"]
    plan = decided(ingestion(driftPolicy="Report"), APPLIED, SupervisorState(SAME), (extra,))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["DriftDetected"])


def of_batch(described: Ingestion, task: SubmittedTask, action: Any, **more: Any) -> TaskState:
    return TaskState(batch.job(described), batch.Attempt(task, action), **more)


def test_of_a_batch() -> None:
    described = ingestion("native-batch", BATCH)
    first = batch.job(described).task_id(1)
    begun, on = SubmittedTask(first), SubmittedTask(first, phase="submitted")
    assert titles(described, LastApplied(), of_batch(described, begun, "submit")) == [
        PUT_NEW,
        f"submit task {first}",
        PUT,
    ]
    put_down = LastApplied(described.specified, first, begun)
    assert titles(described, put_down, of_batch(described, begun, "submit")) == [f"submit task {first}", PUT]
    assert titles(described, put_down, of_batch(described, on, "note")) == [PUT]
    assert titles(described, replace(put_down, task=on), of_batch(described, on, "none")) == []


def test_a_batch_that_is_suspended_has_not_begun() -> None:
    described = ingestion("native-batch", BATCH, suspend=True)
    assert titles(described, LastApplied(), of_batch(described, SubmittedTask("t"), "submit")) == []


@pytest.mark.parametrize(
    ("action", "how", "more", "reason"),
    [
        ("lost", {}, {}, "TaskStatusUnknown"),
        ("none", {"phase": "ended", "status": "FAILED"}, {"failure": "no disk"}, "TaskFailed"),
        # Druid has forgotten the task, and why
        ("none", {"phase": "ended", "status": "FAILED"}, {}, "TaskFailed"),
        ("taken", {}, {}, "TaskIdConflict"),
    ],
)
def test_a_batch_that_has_not_gone_well_is_said(
    action: Any, how: dict[str, Any], more: dict[str, Any], reason: str
) -> None:
    described = ingestion("native-batch", BATCH)
    task = SubmittedTask(batch.job(described).task_id(1), **{"phase": "submitted", **how})
    record = LastApplied(described.specified, task.id, task)
    plan = decided(described, record, of_batch(described, task, action, **more))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), [reason])


BECOME = ingestion("native-batch", BATCH)
BEGUN = SubmittedTask(batch.job(BECOME).task_id(1))
BECOMING = f"submit task {BEGUN.id}"


@pytest.mark.parametrize(
    ("more", "steps"),
    [
        # ended before the record forgets it: a task that is refused, or that is not begun, leaves no supervisor behind
        ({}, ["terminate supervisor pages", PUT, BECOMING, PUT]),
        ({"suspend": True}, ["terminate supervisor pages", PUT]),
        ({"deletionPolicy": "Retain"}, [PUT, BECOMING, PUT]),
        ({"deletionPolicy": "Retain", "suspend": True}, [PUT]),
    ],
)
def test_a_supervisor_that_has_become_a_batch_is_ended(more: dict[str, Any], steps: list[str]) -> None:
    described = ingestion("native-batch", BATCH, **more)
    what = of_batch(described, BEGUN, "submit")
    plan = decided(described, APPLIED, what)
    assert [step.title for step in plan.steps] == steps
    last = plan.steps[-1]
    assert isinstance(last, SaveLastApplied)
    assert last.record is not None
    assert last.record.id == ("" if described.suspend else BEGUN.id)
    # which is the end of it
    again = decided(described, last.record, what)
    assert not [step for step in again.steps if isinstance(step, Terminate)]
    assert again.steps == () or not described.suspend


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, None),
        ({"paused": True}, "Paused"),
        ({"metadata": {"annotations": {"druid.apache.org/ignored": "true"}}}, "Ignored"),
        ({"metadata": {"annotations": {"druid.apache.org/ignored": "false"}}}, None),
    ],
)
def test_hands_off(more: dict[str, Any], reason: str | None) -> None:
    described = ingestion(**more)
    pause = pause_finding(described.annotations, described.spec)
    assert (pause.reason if pause else None) == reason
    if pause is not None:
        waiting = without_steps(Plan((SaveLastApplied(KEPT),)), pause)
        assert (waiting.steps, [each.reason for each in waiting.findings]) == ((), [reason, "ChangesPending"])
        assert waiting.problems == ()
        assert without_steps(Plan(), pause).findings == (pause,)


@pytest.mark.parametrize(
    ("metadata", "steps"),
    [
        ({"finalizers": ["other"]}, ["set the finalizer"]),
        ({"finalizers": ["druidingestion.datainfra.io/finalizer"]}, []),
        # without a resource there is nothing to set it on
        ({"finalizers": [], "uid": None}, []),
    ],
)
def test_the_finalizer_is_set_once(metadata: dict[str, Any], steps: list[str]) -> None:
    assert titles(ingestion(metadata=metadata), APPLIED, SupervisorState(SAME)) == steps


def test_an_older_resource_keeps_its_supervisor() -> None:
    plan = decided(ingestion(), LastApplied(), SupervisorState(MADE), older_owner="a")
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["DuplicateSupervisor"])
    assert "DruidIngestion a, which is older, also specifies supervisor pages." in plan.findings[0].message


def test_a_paused_ingestion_is_only_looked_at() -> None:
    plan = decided(ingestion(paused=True), LastApplied(), SupervisorState(replace(MADE, warnings=("w",))))
    assert (plan.steps, [each.reason for each in plan.findings]) == ((), ["Paused", "ChangesPending"])
    assert plan.warnings == ("w",)
