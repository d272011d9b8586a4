# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a deletion, their order, and the cases in which it completes although Druid cannot be reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import (
    Deletion,
    decide_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    Answers,
    ingestion,
    recorded,
)

SUPERVISOR = ingestion()
TASK = ingestion("native-batch", BATCH)
PAGES, BATCH_RECORD = LastApplied({}, "pages"), LastApplied({}, "t1", SubmittedTask("t1"))
DISALLOWED = Finding(reasons.INVALID_SPEC, "Not allowed.")
UNREACHABLE = Finding(reasons.DRUID_UNREACHABLE, "No response.")
SILENT = ConnectionUnavailable(reasons.DRUID_UNREACHABLE, "No response.")
NO_CLUSTER = ConnectionUnavailable(reasons.CLUSTER_NOT_FOUND, "No cluster.")
REMOVED, RECORD_REMOVED = "remove the finalizer", "remove ConfigMap with the applied spec"
REMEDY = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."


class Case(NamedTuple):
    """A deletion, what is read, the titles of the steps, the problems, and the warnings."""

    name: str
    deletion: Deletion
    reads: Answers
    steps: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def deleted(parsed: Ingestion, record: LastApplied | None = PAGES, **more: Any) -> tuple[Deletion, Answers]:
    """Return a deletion of an ingestion with this record (None: nothing is read), and what is read."""
    known = {name: more.pop(name) for name in ("has_resource", "refusal", "failure") if name in more}
    if record is None:
        return Deletion(parsed, **known), Answers(**more)
    observed = {name: more.pop(name) for name in ("siblings", "cluster", "secrets") if name in more}
    confirming, found = recorded(parsed, record, **observed)
    return Deletion(confirming, **known), Answers(found, **more)


def supervisor(record: LastApplied | None = PAGES, **more: Any) -> tuple[Deletion, Answers]:
    return deleted(more.pop("parsed", SUPERVISOR), record, **more)


def task(code: str) -> tuple[Deletion, Answers]:
    return deleted(TASK, BATCH_RECORD, tasks={"t1": {"statusCode": code}})


def reported(document: Any) -> tuple[Deletion, Answers]:
    """Return the deletion of a batch without a record, whose status names a running task."""
    parsed = replace(
        ingestion("native-batch", document), status={"taskId": "t1", "appliedHash": "h", "appliedRevision": 1}
    )
    return deleted(parsed, LastApplied(), tasks={"t1": {"statusCode": "RUNNING", "dataSource": "pages"}})


CASES = [
    Case("without our finalizer", *supervisor(None, parsed=ingestion(metadata={"finalizers": ["other"]}))),
    Case(
        "retained",
        *supervisor(None, parsed=ingestion(deletionPolicy="Retain")),
        (REMOVED,),
        warnings=("deletionPolicy Retain: the supervisor of DruidIngestion i is left running.",),
    ),
    Case(
        "retained, without a resource",
        *supervisor(None, parsed=ingestion(deletionPolicy="Retain"), has_resource=False),
        (RECORD_REMOVED,),
    ),
    Case("nothing was applied", *supervisor(LastApplied()), (REMOVED,)),
    Case("nothing was applied, without a resource", *supervisor(LastApplied(), has_resource=False), (RECORD_REMOVED,)),
    Case("a supervisor", *supervisor(), ("terminate supervisor pages", REMOVED)),
    Case(
        "two supervisors, the current one last",
        *supervisor(LastApplied({}, "pages", former=("old",))),
        ("terminate supervisor old", "terminate supervisor pages", REMOVED),
    ),
    Case(
        "a supervisor of a resource that exists",
        *supervisor(siblings=(ingestion(name="other"),)),
        (REMOVED,),
        warnings=("DruidIngestion other also specifies supervisor pages: it is not terminated.",),
    ),
    Case(
        "without a resource",
        *supervisor(has_resource=False),
        ("terminate supervisor pages", RECORD_REMOVED),
    ),
    Case("a running task", *task("RUNNING"), ("shut down task t1", REMOVED)),
    Case("a completed task", *task("SUCCESS"), (REMOVED,)),
    Case("a task that only the status names", *reported(BATCH), ("shut down task t1", REMOVED)),
    Case(
        "a task that only the status names, of another datasource",
        *reported({"spec": {"dataSchema": {"dataSource": "other"}}}),
        (REMOVED,),
        warnings=("Only the status names task t1, which the resource does not specify: it is not terminated.",),
    ),
    Case(
        "in another Druid",
        *supervisor(LastApplied({}, "pages", druid="druidCluster d")),
        (REMOVED,),
        warnings=(
            "The supervisor of DruidIngestion i runs in another Druid (druidCluster d) than the spec names, and is "
            "left running.",
        ),
    ),
    Case(
        "in another Druid, without a resource",
        *supervisor(LastApplied({}, "pages", druid="druidCluster d"), has_resource=False),
        problems=(
            "spec: the ingestion runs in another Druid (druidCluster d). Specify that one, or set deletionPolicy "
            "Retain to leave it running.",
        ),
    ),
    Case(
        "Druid does not respond",
        *supervisor(error=SILENT, is_deleted=False),
        problems=(f"No response. {REMEDY}",),
    ),
    Case(
        "Druid does not respond, without a resource",
        *supervisor(error=SILENT, has_resource=False),
        problems=(f"No response. {REMEDY}",),
    ),
    Case(
        "the namespace is also being deleted",
        *supervisor(error=SILENT, is_deleted=True),
        (REMOVED,),
        warnings=("No response. The namespace is also being deleted: pages was not terminated and may still run.",),
    ),
    Case(
        "Druid is deleted",
        *supervisor(error=NO_CLUSTER),
        (REMOVED,),
        warnings=("No cluster. So the supervisor of DruidIngestion i was not terminated: pages may still run.",),
    ),
    Case(
        "the Secret is not allowed",
        *supervisor(refusal=DISALLOWED, is_deleted=False),
        problems=(f"Not allowed. {REMEDY}",),
    ),
    Case(
        "the Secret is not allowed, without a resource",
        *supervisor(refusal=DISALLOWED, has_resource=False),
        problems=("Not allowed.",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan(case: Case) -> None:
    plan = decide_deletion(case.deletion, case.reads)
    assert tuple(step.title for step in plan.steps) == case.steps
    assert tuple(each.message for each in plan.problems) == case.problems
    assert plan.warnings == case.warnings
    is_reported = any(each.reason == reasons.DELETING for each in plan.findings)
    assert is_reported == case.deletion.has_resource


@pytest.mark.parametrize("is_deleted", [False, True])
def test_druid_is_not_asked_again_after_a_failure(is_deleted: bool) -> None:
    cluster = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}} if is_deleted else None
    deletion, reads = supervisor(failure=UNREACHABLE, cluster=cluster, is_deleted=False)
    plan = decide_deletion(deletion, reads)
    assert plan.titles == ([REMOVED] if is_deleted else [])
    assert bool(plan.problems) != is_deleted


def test_a_record_that_others_have_written_is_not_believed() -> None:
    deletion, reads = supervisor()
    plan = decide_deletion(
        replace(deletion, ingestion=SUPERVISOR), Answers(Observed(config_map=reads.found.config_map))
    )
    assert plan.titles == [REMOVED]
    assert "is not as this resource has written it" in plan.warnings[0]
