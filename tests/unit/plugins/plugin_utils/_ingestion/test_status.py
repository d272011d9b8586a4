# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status reports the state of Druid."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import (
    status,
    with_last_update,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import with_short_messages
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import Masking
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    supervisor_change,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUNNING, SUSPENDED = {"suspended": False}, {"suspended": True}


def supervisor(*states: Any, **payload: Any) -> SupervisorState:
    """`states`: the current state in Druid, and the desired state if that differs."""
    before, after = (states[0], states[-1]) if states else (RUNNING, RUNNING)
    return SupervisorState(supervisor_change(before, after), payload)


def task(status: Any, phase: Any = "submitted", code: str = "", action: Any = "none", **more: Any) -> TaskState:
    parsed = ingestion("native-batch", BATCH)
    return TaskState(batch.job(parsed, 1), Attempt(SubmittedTask("t", 1, phase, code), action), status, **more)


SECRET = "hunter2-hunter2-hunter2"


def document(
    state: DruidState | None,
    *findings: Finding,
    parsed: Ingestion | None = None,
    previous: Any = None,
    record: LastApplied | None = None,
) -> dict[str, Any]:
    found = status(parsed or ingestion(), state, findings, previous or {}, NOW, record)
    return Masking(lambda: Masker((SECRET,))).status(found, INGESTION.texts)


def summary(found: dict[str, Any]) -> tuple[str, ...]:
    """Return status and reason of Ready, then the types of the other conditions that are true."""
    ready, *others = found["conditions"]
    return (ready["status"], ready["reason"], *(each["type"] for each in others if each["status"] == "True"))


REJECTED, DRIFTED = Finding("RejectedByDruid", "No."), Finding("DriftDetected", "Drift of it.")
DELETING = Finding("Deleting", "The resource is being deleted.", is_problem=False)
PENDING = Finding("ChangesPending", "Paused.", is_problem=False)

TABLE: list[tuple[DruidState | None, tuple[Finding, ...], tuple[str, ...]]] = [
    (supervisor(healthy=True, detailedState="RUNNING"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="IDLE"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="PENDING"), (), ("False", "Starting", "Progressing")),
    (supervisor(), (), ("False", "Starting", "Progressing")),
    (supervisor(healthy=False, detailedState="UNHEALTHY_TASKS"), (), ("False", "SupervisorUnhealthy", "Degraded")),
    (supervisor(healthy=False, detailedState="INVALID_SPEC"), (), ("False", "SupervisorUnhealthy", "Degraded")),
    # the spec in Druid determines the suspension, regardless of the state
    (
        supervisor(SUSPENDED, healthy=False, detailedState="UNABLE_TO_CONNECT_TO_STREAM"),
        (),
        ("True", "Suspended", "Suspended"),
    ),
    # drift that is only reported
    (supervisor(SUSPENDED, RUNNING), (DRIFTED,), ("False", "Suspended", "Suspended", "Degraded", "Stalled")),
    (
        supervisor(RUNNING, SUSPENDED, healthy=True, detailedState="RUNNING"),
        (DRIFTED,),
        ("True", "Running", "Degraded"),
    ),
    (supervisor(None, RUNNING), (DRIFTED,), ("False", "DriftDetected", "Degraded", "Stalled")),
    (supervisor(None, RUNNING), (), ("False", "Starting", "Progressing")),
    # the fields of other types depend on the Druid version
    (supervisor(scheduleStatus="RUNNING", dataSource="pages"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="RUNNING"), (DRIFTED,), ("True", "Running", "Degraded")),
    (
        supervisor(healthy=True, detailedState="RUNNING"),
        (REJECTED,),
        ("False", "RejectedByDruid", "Degraded", "Stalled"),
    ),
    (supervisor(healthy=True, detailedState="RUNNING"), (PENDING,), ("False", "ChangesPending", "Stalled")),
    (None, (REJECTED,), ("False", "RejectedByDruid", "Degraded", "Stalled")),
    (None, (DELETING,), ("False", "Deleting")),
    (task(None, "submitting", action="submit"), (), ("False", "Running", "Progressing")),
    (task({"statusCode": "RUNNING", "runnerStatusCode": "PENDING"}), (), ("False", "Running", "Progressing")),
    (task({"statusCode": "SUCCESS"}, "ended", "SUCCESS"), (), ("True", "Succeeded")),
    (task(None, "ended", "SUCCESS"), (), ("True", "Succeeded")),
    (
        task(None, action="lost"),
        (Finding("TaskStatusUnknown", "?"),),
        ("False", "TaskStatusUnknown", "Degraded", "Stalled"),
    ),
    (task(None, "ended", "FAILED"), (Finding("TaskFailed", "?"),), ("False", "TaskFailed", "Degraded", "Stalled")),
]


@pytest.mark.parametrize(("state", "findings", "expected"), TABLE)
def test_conditions(state: DruidState | None, findings: tuple[Finding, ...], expected: tuple[str, ...]) -> None:
    assert summary(document(state, *findings)) == expected


def test_suspended_batch_is_not_submitted() -> None:
    parsed = ingestion("native-batch", BATCH, suspend=True)
    found = document(task(None, "submitting", action="submit"), parsed=parsed)
    assert summary(found) == ("False", "Suspended", "Suspended", "Stalled")
    assert INGESTION.requeue_after(found, NOW, False) is None


def test_fields_from_druid() -> None:
    errors = [{"message": "x" * 1000}, {"exceptionClass": "E"}] * 3
    found = document(
        supervisor(healthy=True, state="RUNNING", detailedState="RUNNING", aggregateLag=7, recentErrors=errors)
    )
    fields = ("taskId", "state", "detailedState", "suspended", "lag", "observedGeneration")
    assert [found[name] for name in fields] == ["pages", "RUNNING", "RUNNING", False, 7, 3]
    assert len(found["recentErrors"]) == 3
    assert max(len(error) for error in found["recentErrors"]) == 500


@pytest.mark.parametrize("position", range(485, 501))
def test_no_part_of_a_secret_is_left_at_the_end_of_a_long_error(position: int) -> None:
    errors = [{"message": f"{'x' * position}{SECRET}{'x' * 99}"}]
    state = supervisor(healthy=False, state="UNHEALTHY_SUPERVISOR", recentErrors=errors)
    found = document(state)
    assert not [text for text in (*found["recentErrors"], found["message"]) if "hu" in text]


def test_fields_of_the_go_operator_are_updated() -> None:
    previous = {"currentIngestionSpec.json": "{}", "rules": [{"old": 1}], "foreign": 1, "type": "x"}
    running = supervisor(healthy=True, detailedState="RUNNING")
    found = document(running, previous=previous, record=LastApplied(ingestion().specified, "pages"))
    assert "currentIngestionSpec.json" not in found
    assert (found["foreign"], found["status"], found["reason"]) == (1, "True", "Running")
    updated = with_last_update(found, ingestion(ingestion={"rules": [{"new": 1}]}), is_created=True, now=NOW)
    assert (updated["type"], updated["rules"]) == ("DruidIngestionControllerCreateSuccess", [{"new": 1}])
    assert updated["lastUpdateTime"] == "2026-01-01T00:00:00Z"
    assert "rules" not in with_last_update(found, ingestion(), is_created=False, now=NOW)


@pytest.mark.parametrize("state", [None, supervisor(healthy=True, detailedState="RUNNING")])
def test_spec_of_the_go_operator_is_kept_until_it_is_recorded(state: DruidState | None) -> None:
    """Together with its id, which may differ from the id of the current spec."""
    legacy = {"taskId": "of the Go operator", "currentIngestionSpec.json": "{}"}
    found = document(state, PENDING, previous=legacy)
    assert {name: found[name] for name in legacy} == legacy
    assert "currentIngestionSpec.json" not in document(
        state, PENDING, previous={**legacy, "currentIngestionSpec.json": ""}
    )


APPLIED = LastApplied(ingestion().specified, "pages")


@pytest.mark.parametrize(
    ("record", "previous", "expected"),
    [
        (APPLIED, {}, APPLIED.hash),
        (APPLIED, {"appliedHash": "older"}, APPLIED.hash),
        # possibly created, but not recorded as applied yet
        (LastApplied({}, "pages"), {}, None),
        # the record has not been read, or it has been edited
        (None, {"appliedHash": "older"}, "older"),
        (LastApplied(), {"appliedHash": "older"}, "older"),
    ],
)
def test_hash_is_that_of_the_record(record: LastApplied | None, previous: Any, expected: str | None) -> None:
    found = document(supervisor(healthy=True, detailedState="RUNNING"), previous=previous, record=record)
    assert found.get("appliedHash") == expected


def test_fields_from_druid_are_kept_while_druid_is_not_contacted() -> None:
    before = document(supervisor(healthy=True, detailedState="RUNNING", aggregateLag=7))
    found = document(None, REJECTED, previous=before)
    assert (found["lag"], found["detailedState"]) == (7, "RUNNING")


def test_fields_that_druid_no_longer_reports_are_removed() -> None:
    before = document(supervisor(healthy=True, detailedState="RUNNING", aggregateLag=7))
    assert "lag" not in document(supervisor(healthy=True, detailedState="RUNNING"), previous=before)
    succeeded = document(task({"statusCode": "SUCCESS"}, "ended", "SUCCESS"), previous=before)
    assert not {"lag", "suspended", "recentErrors"} & succeeded.keys()


def test_suspended_condition_is_kept_while_druid_is_not_contacted() -> None:
    before = document(supervisor(SUSPENDED))
    assert summary(document(None, REJECTED, previous=before)) == (
        "False",
        "RejectedByDruid",
        "Suspended",
        "Degraded",
        "Stalled",
    )


@pytest.mark.parametrize(
    ("state", "findings", "seconds"),
    [
        (supervisor(healthy=True, detailedState="RUNNING"), (), None),
        (supervisor(SUSPENDED), (), None),
        (supervisor(healthy=True, detailedState="PENDING"), (), 2),
        (supervisor(healthy=False), (), 2),
        (None, (REJECTED,), 2),
        (supervisor(healthy=True, detailedState="RUNNING"), (PENDING,), None),
    ],
)
def test_requeue_after(state: DruidState | None, findings: tuple[Finding, ...], seconds: int | None) -> None:
    assert INGESTION.requeue_after(document(state, *findings), NOW, False) == seconds


def test_conditions_list_the_first_problems() -> None:
    problems = [Finding("InvalidSpec", f"field {number}") for number in range(7)]
    shown = "field 0 | field 1 | field 2 | field 3 | field 4 | and 2 more"
    messages = {each["type"]: each["message"] for each in document(None, *problems)["conditions"]}
    assert messages["Ready"] == messages["Degraded"] == shown


def test_the_status_is_small_whatever_the_answers_are() -> None:
    huge, number = "x" * 1_000_000, 10**30
    payload = {"detailedState": huge, "state": huge, "healthy": False, "aggregateLag": number}
    errors = [{"message": huge}, {"message": {"a": huge}}, {"exceptionClass": [huge]}]
    for state in (
        supervisor(**payload, recentErrors=errors),
        task({"statusCode": huge}),
        task({"statusCode": "RUNNING", "runnerStatusCode": huge}),
    ):
        found = with_short_messages(document(state))
        assert len(json.dumps(found)) < 20_000
        assert "lag" not in found
