# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a deletion, their order, and the cases in which it completes although Druid cannot be reached."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import (
    Deletion,
    Found,
    Task,
    Unreached,
    decide_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import DeletionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import BATCH, ingestion

SUPERVISOR = ingestion()
TASK = ingestion("native-batch", BATCH)
PAGES, BATCH_RECORD = LastApplied({}, "pages"), LastApplied({}, "t1", SubmittedTask("t1"))
DISALLOWED = Finding(reasons.INVALID_SPEC, "Not allowed.")
UNREACHABLE = Finding(reasons.DRUID_UNREACHABLE, "No response.")
REMOVED, RECORD_REMOVED = "remove the finalizer", "remove ConfigMap with the applied spec"
REMEDY = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."


class Table(DeletionReads):
    """What is read in a case; a read without an answer is not expected."""

    def __init__(self, record: LastApplied | None, **answers: Any) -> None:
        self.siblings = answers.pop("siblings", ())
        self.record, self.answers = record, answers

    def found(self) -> Found:
        assert self.record is not None
        return Found(self.record, self.siblings, ("Others have written it.",))

    def task(self, found: Found) -> Task | Unreached:
        assert found.record == self.record
        answer: Task | Unreached = self.answers["task"]
        return answer

    def parent(self) -> str:
        return str(self.answers["parent"])


class Case(NamedTuple):
    """A deletion, what is read, the titles of the steps, the problems, and the warnings."""

    name: str
    deletion: Deletion
    reads: Table
    steps: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def supervisor(record: LastApplied | None = PAGES, **more: Any) -> tuple[Deletion, Table]:
    known = {name: more.pop(name) for name in ("has_resource", "refusal", "failure") if name in more}
    return Deletion(more.pop("parsed", SUPERVISOR), **known), Table(record, **more)


def task(is_running: bool) -> tuple[Deletion, Table]:
    return Deletion(TASK), Table(BATCH_RECORD, task=Task(is_running))


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
    Case("a supervisor", *supervisor(task=Task()), ("terminate supervisor pages", REMOVED)),
    Case(
        "two supervisors, the current one last",
        *supervisor(LastApplied({}, "pages", former=("old",)), task=Task()),
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
        *supervisor(has_resource=False, task=Task()),
        ("terminate supervisor pages", RECORD_REMOVED),
    ),
    Case("a running task", *task(True), ("shut down task t1", REMOVED)),
    Case("a completed task", *task(False), (REMOVED,)),
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
        *supervisor(task=Unreached(UNREACHABLE), parent=""),
        problems=(f"No response. {REMEDY}",),
    ),
    Case(
        "Druid does not respond, without a resource",
        *supervisor(task=Unreached(UNREACHABLE), has_resource=False),
        problems=(f"No response. {REMEDY}",),
    ),
    Case(
        "the namespace is also being deleted",
        *supervisor(task=Unreached(UNREACHABLE), parent="namespace"),
        (REMOVED,),
        warnings=("No response. The namespace is also being deleted: pages was not terminated and may still run.",),
    ),
    Case(
        "Druid is deleted",
        *supervisor(task=Unreached(UNREACHABLE, is_lasting=True)),
        (REMOVED,),
        warnings=("No response. So the supervisor of DruidIngestion i was not terminated: pages may still run.",),
    ),
    Case("the Secret is not allowed", *supervisor(refusal=DISALLOWED, parent=""), problems=(f"Not allowed. {REMEDY}",)),
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
    # those about the record are repeated while something is done about it
    assert plan.warnings == (*case.warnings, *(["Others have written it."] if plan.steps and case.reads.record else []))
    is_reported = any(each.reason == reasons.DELETING for each in plan.findings)
    assert is_reported == case.deletion.has_resource


@pytest.mark.parametrize("parent", ["", "cluster"])
def test_druid_is_not_asked_again_after_a_failure(parent: str) -> None:
    deletion, reads = supervisor(failure=UNREACHABLE, parent=parent)
    plan = decide_deletion(deletion, reads)
    assert [step.title for step in plan.steps] == ([REMOVED] if parent else [])
    assert bool(plan.problems) != bool(parent)
