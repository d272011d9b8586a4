# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a resource that describes one object in Druid, and of its deletion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import (
    FINALIZER,
    Identity,
    Note,
    are_same,
    decide,
    decide_deletion,
    note_of,
    older_owner,
    text_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.lookup import LOOKUP
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reads import DruidReads
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION, DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import ObjectState, Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

FACTORY: dict[str, Any] = {"type": "map", "map": {}}
HERE, THERE = "druidCluster c", "druidCluster d"
OWN: Identity = ("__default", "i")
FORMER: Identity = ("__default", "former")


def resource(name: str = "i", note: Note | None = None, *, created: str = "2026", **spec: Any) -> DruidObject:
    """Return a DruidLookup with the finalizer, which has submitted what the note names."""
    annotations = {} if note is None else {NOTE_ANNOTATION: text_of(note, f"uid-{name}")}
    metadata = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "finalizers": [FINALIZER],
        "creationTimestamp": created,
        "annotations": annotations,
    }
    content = {"druidCluster": "c", "lookupExtractorFactory": FACTORY, **spec}
    return DruidObject.from_resource({"metadata": metadata, "spec": content})


def state(before: Any, after: Any) -> ObjectState:
    return ObjectState(DruidChange("lookup", "i", "lookup i of tier __default", None, before, after))


CREATED, SAME = state(None, {}), state({}, {})
RECORD, WRITE, REMOVE = (
    "record what is submitted",
    "create lookup i of tier __default",
    "remove lookup former of tier __default",
)

PLANS: list[tuple[str, DruidObject, ObjectState, tuple[DruidObject, ...], list[str]]] = [
    ("a new one", resource(), CREATED, (), [RECORD, WRITE]),
    ("what exists is taken over", resource(), SAME, (), [RECORD]),
    ("nothing to do", resource(note=Note(HERE, (OWN,))), SAME, (), []),
    ("drift", resource(note=Note(HERE, (OWN,))), CREATED, (), [WRITE]),
    ("renamed", resource(note=Note(HERE, (FORMER,))), CREATED, (), [RECORD, WRITE, REMOVE, RECORD]),
    ("renamed, after a crash", resource(note=Note(HERE, (FORMER, OWN))), SAME, (), [REMOVE, RECORD]),
    (
        "renamed, but another resource has the former one",
        resource(note=Note(HERE, (FORMER,))),
        CREATED,
        (resource("former"),),
        [RECORD, WRITE],
    ),
    (
        "renamed, and the former one is retained",
        resource(note=Note(HERE, (FORMER,)), deletionPolicy="Retain"),
        CREATED,
        (),
        [RECORD, WRITE],
    ),
    ("another Druid", resource(note=Note(THERE, (FORMER,))), CREATED, (), [RECORD, WRITE]),
    (
        "a note of another resource",
        replace(resource(note=Note(HERE, (FORMER,))), uid="new"),
        CREATED,
        (),
        [RECORD, WRITE],
    ),
]


@pytest.mark.parametrize(
    ("item", "found", "siblings", "titles"), [row[1:] for row in PLANS], ids=[row[0] for row in PLANS]
)
def test_plan(item: DruidObject, found: ObjectState, siblings: tuple[DruidObject, ...], titles: list[str]) -> None:
    plan = decide(LOOKUP, item, siblings, found)
    assert plan.titles == titles
    assert any("names another Druid" in text for text in plan.warnings) == (note_of(item).druid == THERE)


def test_finalizer_is_set_before_anything_is_sent() -> None:
    assert decide(LOOKUP, replace(resource(), finalizers=()), (), CREATED).titles == [
        "set the finalizer",
        RECORD,
        WRITE,
    ]


def test_a_paused_resource_plans_only() -> None:
    plan = decide(LOOKUP, resource(paused=True), (), CREATED)
    assert plan.titles == []
    assert [each.reason for each in plan.findings] == [reasons.PAUSED, reasons.CHANGES_PENDING]


@pytest.mark.parametrize(
    "text", ["", "[]", "5", '{"uid": "uid-i"}', '{"uid": "uid-i", "druid": "d", "ids": 5}', "[" * 9**5]
)
def test_an_edited_note_names_nothing(text: str) -> None:
    assert note_of(replace(resource(), annotations={NOTE_ANNOTATION: text})) == Note()


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("t", "i"), ("t", "i"), True),
        (("t", "i"), ("u", "i"), False),
        (("", "i"), ("u", "i"), True),
        (("t", "i"), ("i",), False),
    ],
)
def test_are_same(one: Identity, other: Identity, expected: bool) -> None:
    assert are_same(one, other) == are_same(other, one) == expected


@pytest.mark.parametrize(
    ("other", "owner"),
    [
        (resource("o", id="i", created="2025"), "o"),
        (resource("o", id="i", created="2027"), None),
        (resource("o", created="2025"), None),
        (resource("o", id="i", tier="t", created="2025"), None),
        (resource("o", id="i", druidCluster="d", created="2025"), None),
        (replace(resource("o", id="i", created="2025"), is_terminating=True), None),
        # an invalid specification
        (resource("o", id=5, tier=["t"], created="2025"), None),
    ],
)
def test_older_owner(other: DruidObject, owner: str | None) -> None:
    assert older_owner(LOOKUP, resource(), [other]) == owner


class Answers(DruidReads):
    """What is read, as a table; an error is raised by the connection. A read without an answer fails the test."""

    def __init__(
        self, found: Surroundings[DruidObject] | None = None, error: DruidError | None = None, is_deleted: bool = False
    ) -> None:
        self.found, self.error, self.is_deleted = found, error, is_deleted

    def observe(self) -> Surroundings[DruidObject]:
        assert self.found is not None
        return self.found

    def connect(self) -> None:
        if self.error is not None:
            raise self.error

    def is_namespace_terminating(self, _namespace: str | None = None) -> bool:
        return self.is_deleted


class Case(NamedTuple):
    """A deletion, what is read, the titles of the steps, the problems, and the warnings."""

    name: str
    item: DruidObject
    reads: Answers
    steps: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: Finding | None = None


SUBMITTED = resource(note=Note(HERE, (OWN,)))
ALONE: Surroundings[DruidObject] = Surroundings()
SILENT = ConnectionUnavailable(reasons.DRUID_UNREACHABLE, "No response.")
NO_CLUSTER = ConnectionUnavailable(reasons.CLUSTER_NOT_FOUND, "No cluster.")
DELETED: Surroundings[DruidObject] = Surroundings({"metadata": {"deletionTimestamp": "2026"}})
REMOVED, RELEASED = "remove lookup i of tier __default", "remove the finalizer"
REMEDY = "This is retried. To delete the resource without removing what it describes, set deletionPolicy Retain."
CASES = [
    Case("without our finalizer", replace(SUBMITTED, finalizers=("other",)), Answers()),
    Case("nothing was submitted", resource(), Answers(), (RELEASED,)),
    Case("what was submitted", SUBMITTED, Answers(ALONE), (REMOVED, RELEASED)),
    Case(
        "only what was submitted, whatever the spec names now",
        resource(note=Note(HERE, (OWN,)), id="other"),
        Answers(ALONE),
        (REMOVED, RELEASED),
    ),
    Case(
        "retained",
        resource(note=Note(HERE, (OWN,)), deletionPolicy="Retain"),
        Answers(),
        (RELEASED,),
        warnings=("deletionPolicy Retain: lookup i of tier __default is left in Druid.",),
    ),
    Case(
        "another resource describes it",
        SUBMITTED,
        Answers(Surroundings(siblings=(resource("o", id="i"),))),
        (RELEASED,),
        warnings=("DruidLookup o also describes lookup i of tier __default: it is not removed.",),
    ),
    Case(
        "in another Druid",
        resource(note=Note(THERE, (OWN,))),
        Answers(),
        (RELEASED,),
        warnings=(f"In another Druid ({THERE}) than the spec names, lookup i of tier __default is left as it is.",),
    ),
    Case("Druid does not respond", SUBMITTED, Answers(ALONE, SILENT), problems=(f"No response. {REMEDY}",)),
    Case(
        "a removal has failed",
        SUBMITTED,
        Answers(ALONE),
        problems=(f"Refused. {REMEDY}",),
        problem=Finding(reasons.INVALID_SPEC, "Refused."),
    ),
    Case(
        "the namespace is also being deleted",
        SUBMITTED,
        Answers(ALONE, SILENT, is_deleted=True),
        (RELEASED,),
        warnings=("No response. The namespace is also being deleted: lookup i of tier __default was not removed.",),
    ),
    Case(
        "the cluster is also being deleted",
        SUBMITTED,
        Answers(DELETED, SILENT),
        (RELEASED,),
        warnings=("No response. The cluster is also being deleted: lookup i of tier __default was not removed.",),
    ),
    Case(
        "Druid is deleted",
        SUBMITTED,
        Answers(ALONE, NO_CLUSTER),
        (RELEASED,),
        warnings=("No cluster. So lookup i of tier __default was not removed.",),
    ),
    Case("defined by variables", replace(resource(), uid=None), Answers(ALONE), (REMOVED,)),
    Case(
        "defined by variables, without Druid",
        replace(resource(), uid=None),
        Answers(ALONE, SILENT),
        problems=("No response.",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan_of_a_deletion(case: Case) -> None:
    plan = decide_deletion(LOOKUP, case.item, case.reads, case.problem)
    assert tuple(plan.titles) == case.steps
    assert tuple(each.message for each in plan.problems) == case.problems
    assert plan.warnings == case.warnings
    assert any(each.reason == reasons.DELETING for each in plan.findings) == (case.item.uid is not None)
