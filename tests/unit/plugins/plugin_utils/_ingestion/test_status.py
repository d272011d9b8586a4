# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions tell the truth about what Druid says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import (
    DruidState,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import (
    requeue_after,
    status,
    with_last_update,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    ingestion,
    supervisor_change,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
THERE, SUSPENDED = {"suspended": False}, {"suspended": True}


def supervisor(*states: Any, **payload: Any) -> SupervisorState:
    """`states`: what Druid has, and what is wanted where that is something else."""
    before, after = (states[0], states[-1]) if states else (THERE, THERE)
    return SupervisorState(supervisor_change(before, after), payload)


def task(status: Any, phase: Any = "submitted", code: str = "", action: Any = "none", **more: Any) -> TaskState:
    described = ingestion("native-batch", BATCH)
    return TaskState(batch.job(described), Attempt(SubmittedTask("t", 1, phase, code), action), status, **more)


def document(
    seen: DruidState | None,
    *findings: Finding,
    described: Ingestion | None = None,
    previous: Any = None,
    record: LastApplied | None = None,
) -> dict[str, Any]:
    return status(described or ingestion(), seen, findings, previous or {}, NOW, lambda text: text, record)


def told(found: dict[str, Any]) -> tuple[str, ...]:
    """Return Ready with its reason, then the kinds of conditions that are true besides."""
    ready, *others = found["conditions"]
    return (ready["status"], ready["reason"], *(each["type"] for each in others if each["status"] == "True"))


REFUSED, DRIFTED = Finding("RejectedByDruid", "No."), Finding("DriftDetected", "Drift of it.")
DELETING = Finding("Deleting", "The resource is being deleted.", is_problem=False)
WAITS = Finding("ChangesPending", "Paused.", is_problem=False)

TABLE: list[tuple[DruidState | None, tuple[Finding, ...], tuple[str, ...]]] = [
    (supervisor(healthy=True, detailedState="RUNNING"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="IDLE"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="PENDING"), (), ("False", "Starting", "Progressing")),
    (supervisor(), (), ("False", "Starting", "Progressing")),
    (supervisor(healthy=False, detailedState="UNHEALTHY_TASKS"), (), ("False", "SupervisorUnhealthy", "Degraded")),
    (supervisor(healthy=False, detailedState="INVALID_SPEC"), (), ("False", "SupervisorUnhealthy", "Degraded")),
    # suspension is judged by what Druid has as its spec, whatever the state is
    (
        supervisor(SUSPENDED, healthy=False, detailedState="UNABLE_TO_CONNECT_TO_STREAM"),
        (),
        ("True", "Suspended", "Suspended"),
    ),
    # what somebody has done in Druid, and is only reported
    (supervisor(SUSPENDED, THERE), (DRIFTED,), ("False", "Suspended", "Suspended", "Degraded")),
    (supervisor(THERE, SUSPENDED, healthy=True, detailedState="RUNNING"), (DRIFTED,), ("True", "Running", "Degraded")),
    (supervisor(None, THERE), (DRIFTED,), ("False", "DriftDetected", "Degraded")),
    (supervisor(None, THERE), (), ("False", "Starting", "Progressing")),
    # of other types each version tells something else
    (supervisor(scheduleStatus="RUNNING", dataSource="pages"), (), ("True", "Running")),
    (supervisor(healthy=True, detailedState="RUNNING"), (DRIFTED,), ("True", "Running", "Degraded")),
    (supervisor(healthy=True, detailedState="RUNNING"), (REFUSED,), ("False", "RejectedByDruid", "Degraded")),
    (supervisor(healthy=True, detailedState="RUNNING"), (WAITS,), ("False", "ChangesPending")),
    (None, (REFUSED,), ("False", "RejectedByDruid", "Degraded")),
    (None, (DELETING,), ("False", "Deleting")),
    (task(None, "submitting", action="submit"), (), ("False", "Running", "Progressing")),
    (task({"statusCode": "RUNNING", "runnerStatusCode": "PENDING"}), (), ("False", "Running", "Progressing")),
    (task({"statusCode": "SUCCESS"}, "ended", "SUCCESS"), (), ("True", "Succeeded")),
    (task(None, "ended", "SUCCESS"), (), ("True", "Succeeded")),
    (task(None, action="lost"), (Finding("TaskStatusUnknown", "?"),), ("False", "TaskStatusUnknown", "Degraded")),
    (task(None, "ended", "FAILED"), (Finding("TaskFailed", "?"),), ("False", "TaskFailed", "Degraded")),
]


@pytest.mark.parametrize(("seen", "findings", "expected"), TABLE)
def test_tells(seen: DruidState | None, findings: tuple[Finding, ...], expected: tuple[str, ...]) -> None:
    assert told(document(seen, *findings)) == expected


def test_a_suspended_batch_has_not_begun() -> None:
    described = ingestion("native-batch", BATCH, suspend=True)
    found = document(task(None, "submitting", action="submit"), described=described)
    assert told(found) == ("False", "Suspended", "Suspended")
    assert requeue_after(found["conditions"], NOW) is None


def test_what_druid_says_is_beside_the_conditions() -> None:
    errors = [{"message": "x" * 1000}, {"exceptionClass": "E"}] * 3
    found = document(
        supervisor(healthy=True, state="RUNNING", detailedState="RUNNING", aggregateLag=7, recentErrors=errors)
    )
    fields = ("taskId", "state", "detailedState", "suspended", "lag", "observedGeneration")
    assert [found[name] for name in fields] == ["pages", "RUNNING", "RUNNING", False, 7, 3]
    assert len(found["recentErrors"]) == 3
    assert max(len(error) for error in found["recentErrors"]) == 500


def test_what_the_go_operator_keeps_is_kept_true() -> None:
    previous = {"currentIngestionSpec.json": "{}", "rules": [{"old": 1}], "foreign": 1, "type": "x"}
    running = supervisor(healthy=True, detailedState="RUNNING")
    found = document(running, previous=previous, record=LastApplied(ingestion().specified, "pages"))
    assert "currentIngestionSpec.json" not in found
    assert (found["foreign"], found["status"], found["reason"]) == (1, "True", "Running")
    deed = with_last_update(found, ingestion(ingestion={"rules": [{"new": 1}]}), is_created=True, now=NOW)
    assert (deed["type"], deed["rules"]) == ("DruidIngestionControllerCreateSuccess", [{"new": 1}])
    assert deed["lastUpdateTime"] == "2026-01-01T00:00:00Z"
    assert "rules" not in with_last_update(found, ingestion(), is_created=False, now=NOW)


@pytest.mark.parametrize("seen", [None, supervisor(healthy=True, detailedState="RUNNING")])
def test_what_the_go_operator_remembers_stays_until_it_is_put_down(seen: DruidState | None) -> None:
    """With the id that belongs to it, which need not be the one of what is described now."""
    left = {"taskId": "of the Go operator", "currentIngestionSpec.json": "{}"}
    found = document(seen, WAITS, previous=left)
    assert {name: found[name] for name in left} == left
    assert "currentIngestionSpec.json" not in document(seen, WAITS, previous={**left, "currentIngestionSpec.json": ""})


APPLIED = LastApplied(ingestion().specified, "pages")


@pytest.mark.parametrize(
    ("record", "previous", "expected"),
    [
        (APPLIED, {}, APPLIED.hash),
        (APPLIED, {"appliedHash": "older"}, APPLIED.hash),
        # made, perhaps, and not told yet
        (LastApplied({}, "pages"), {}, None),
        # nobody has looked, or somebody has edited the record
        (None, {"appliedHash": "older"}, "older"),
        (LastApplied(), {"appliedHash": "older"}, "older"),
    ],
)
def test_the_hash_is_that_of_the_record(record: LastApplied | None, previous: Any, expected: str | None) -> None:
    found = document(supervisor(healthy=True, detailedState="RUNNING"), previous=previous, record=record)
    assert found.get("appliedHash") == expected


def test_the_last_answer_stays_while_druid_is_not_asked() -> None:
    before = document(supervisor(healthy=True, detailedState="RUNNING", aggregateLag=7))
    found = document(None, REFUSED, previous=before)
    assert (found["lag"], found["detailedState"]) == (7, "RUNNING")


def test_what_druid_does_not_say_any_more_is_over() -> None:
    before = document(supervisor(healthy=True, detailedState="RUNNING", aggregateLag=7))
    assert "lag" not in document(supervisor(healthy=True, detailedState="RUNNING"), previous=before)
    succeeded = document(task({"statusCode": "SUCCESS"}, "ended", "SUCCESS"), previous=before)
    assert not {"lag", "suspended", "recentErrors"} & succeeded.keys()


def test_what_is_suspended_stays_so_while_druid_is_not_asked() -> None:
    before = document(supervisor(SUSPENDED))
    assert told(document(None, REFUSED, previous=before)) == ("False", "RejectedByDruid", "Suspended", "Degraded")


@pytest.mark.parametrize(
    ("seen", "findings", "seconds"),
    [
        (supervisor(healthy=True, detailedState="RUNNING"), (), None),
        (supervisor(SUSPENDED), (), None),
        (supervisor(healthy=True, detailedState="PENDING"), (), 5),
        (supervisor(healthy=False), (), 5),
        (None, (REFUSED,), 5),
        (supervisor(healthy=True, detailedState="RUNNING"), (WAITS,), None),
    ],
)
def test_when_to_look_again(seen: DruidState | None, findings: tuple[Finding, ...], seconds: int | None) -> None:
    assert requeue_after(document(seen, *findings)["conditions"], NOW) == seconds
