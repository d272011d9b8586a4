# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The texts of events."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import ChangeFinalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import MAX_CHANGES, changed_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.events import (
    done_texts,
    new_warnings,
    problem_texts,
    rollout_texts,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import MAX_HIDDEN, digest_of_warning
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText, StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited, masked_excerpts
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.steps_of import step_of

Manifest = dict[str, Any]


def config_map(**data: Any) -> Manifest:
    metadata = {"name": "n", "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def update(**data: Any) -> Step:
    return Apply(
        manifest=config_map(**data), group="g", live=stored(config_map(a="1")), after=stored(config_map(**data))
    )


def test_event_of_a_change_in_druid() -> None:
    step = druid.in_druid({"a": 1, "b": ["x", "y"], "password": "one"}, {"a": 1, "b": ["x"], "password": "two"})
    [text] = done_texts([StepResult(step)])
    assert text.reason == "DruidOperatorUpdateSuccess"
    assert text.message.startswith("Done in Druid: update dynamic configuration of the Coordinator. b[1]: y -> (none);")
    assert "two" not in text.message
    [more] = done_texts([StepResult(druid.in_druid({}, {str(number): number for number in range(MAX_CHANGES + 2)}))])
    assert more.message.endswith(" and 2 more")


def test_one_event_names_all_created_and_one_all_deleted_objects() -> None:
    services = [{**config_map(), "kind": "Service", "metadata": {"name": name, "namespace": "ns"}} for name in "ab"]
    steps = [
        Apply(manifest=config_map()),
        *(Delete(live=each) for each in services),
        update(a="2"),
        *(Apply(manifest=each) for each in services),
    ]
    texts = done_texts([StepResult(step) for step in steps])
    assert [(text.reason, text.message) for text in texts] == [
        (
            "DruidOperatorCreateSuccess",
            "Successfully created 3 objects in namespace [ns]: n:*v1.ConfigMap, a:*v1.Service, b:*v1.Service",
        ),
        (
            "DruidOperatorDeleteSuccess",
            "Successfully deleted 2 objects in namespace [ns]: a:*v1.Service, b:*v1.Service",
        ),
        ("DruidOperatorUpdateSuccess", "Updated [n:*v1.ConfigMap]. data.a: 1 -> 2"),
    ]


def recorded(annotations: dict[str, str]) -> Step:
    live, after = config_map(), config_map()
    live["metadata"]["annotations"] = dict.fromkeys(annotations.keys() - {"a"}, "[{}]")
    after["metadata"]["annotations"] = annotations
    return Apply(manifest=after, live=live, after=after)


DONE = [
    (
        StepResult(Apply(manifest=config_map())),
        "DruidOperatorCreateSuccess",
        "Successfully created object [n:*v1.ConfigMap] in namespace [ns]",
    ),
    (StepResult(update(a="2")), "DruidOperatorUpdateSuccess", "Updated [n:*v1.ConfigMap]. data.a: 1 -> 2"),
    (
        StepResult(recorded({"druid.apache.org/drain": '[{"pod":"mm-0"}]'})),
        "DruidOperatorUpdateSuccess",
        "Updated [n:*v1.ConfigMap]. Only the record of the drain.",
    ),
    (
        StepResult(recorded({"druid.apache.org/drain": "[]", "druid.apache.org/decommission": "[]", "a": "b"})),
        "DruidOperatorUpdateSuccess",
        "Updated [n:*v1.ConfigMap]. metadata.annotations.a: (none) -> b",
    ),
    (
        StepResult(update(a="1")),
        "DruidOperatorUpdateSuccess",
        "Updated [n:*v1.ConfigMap]. Field ownership only.",
    ),
    (
        StepResult(update(a="1", b="2")),
        "DruidOperatorUpdateSuccess",
        "Updated [n:*v1.ConfigMap]. data.b: (none) -> 2",
    ),
    (
        StepResult(Delete(live=stored(config_map()))),
        "DruidOperatorDeleteSuccess",
        "Successfully deleted object [n:*v1.ConfigMap] in namespace [ns]",
    ),
]


@pytest.mark.parametrize(("result", "reason", "message"), DONE)
def test_event_of_a_completed_step(result: StepResult[Step], reason: str, message: str) -> None:
    assert done_texts([result]) == (EventText("Normal", reason, message),)
    assert problem_texts([result], ()) == ()


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ("create", "DruidOperatorCreateFail"),
        ("update", "DruidOperatorUpdateFail"),
        ("recreate", "DruidOperatorUpdateFail"),
        ("delete", "DruidOperatorDeleteFail"),
    ],
)
def test_event_of_a_failed_step(operation: Any, reason: str) -> None:
    result = StepResult(step_of(operation, config_map()), error="It is so.")
    assert problem_texts([result], ()) == (EventText("Warning", reason, "It is so."),)
    assert done_texts([result]) == ()


def test_no_event_of_untried_steps_and_of_the_finalizer() -> None:
    not_tried = StepResult(Apply(manifest=config_map()), error="x", was_tried=False)
    finalizer = StepResult(ChangeFinalizer(live=druid.resource(), patch=[]))
    stuck = StepResult(ChangeFinalizer(live=druid.resource(), patch=[]), error="x")
    assert done_texts([not_tried, finalizer, stuck]) == ()
    assert problem_texts([not_tried, finalizer, stuck], ()) == ()


def test_events_of_problems() -> None:
    findings = [Finding("InvalidSpec", "It is so."), Finding("Paused", "Requested by the user.", is_problem=False)]
    # a failed write has its own event
    findings.append(Finding("ApplyFailed", "It was not written."))
    assert problem_texts((), findings) == (EventText("Warning", "InvalidSpec", "It is so."),)


def test_number_of_changed_fields_is_limited() -> None:
    [text] = done_texts([StepResult(update(**{str(index): "x" for index in range(9)}))])
    assert text.message.count("->") == MAX_CHANGES
    assert text.message.endswith(" and 5 more")


CHANGES: list[tuple[str, Any, Any, list[tuple[str, str, str]]]] = [
    ("equal", {"a": 1}, {"a": 1}, []),
    ("deep", {"spec": {"a": {"b": 1}}}, {"spec": {"a": {"b": 2}}}, [("spec.a.b", "1", "2")]),
    ("removed", {"spec": {"a": 1}}, {"spec": {}}, [("spec.a", "1", "(none)")]),
    ("by name", {"l": [{"name": "a", "v": 1}, {"name": "b"}]}, {"l": [{"name": "b"}, {"name": "a", "v": 2}]},
     [("l[a].v", "1", "2")]),
    ("a new element", {"l": [{"name": "a"}]}, {"l": [{"name": "b"}, {"name": "a"}]},
     [("l[b]", "(none)", "{'name': 'b'}")]),
    ("by position", {"l": ["a", "b"]}, {"l": ["a", "c"]}, [("l[1]", "b", "c")]),
    ("a duplicate name", {"l": [{"name": "v", "path": "1"}, {"name": "v", "path": "2"}]},
     {"l": [{"name": "v", "path": "3"}, {"name": "v", "path": "2"}]}, [("l[0].path", "1", "3")]),
    ("another type", {"a": [1]}, {"a": {"b": 1}}, [("a", "[1]", "{'b': 1}")]),
    ("fields of the server", {"metadata": {"generation": 1, "managedFields": [1], "uid": "a"}, "status": {"a": 1}},
     {"metadata": {"generation": 2, "managedFields": [2], "uid": "b"}, "status": {"a": 2}}, []),
    ("a nested status", {"spec": {"status": 1}}, {"spec": {"status": 2}}, [("spec.status", "1", "2")]),
    ("a line", {"f": "x\n" * 99 + "b=1\nc=1\n"}, {"f": "x\n" * 99 + "b=2\nc=1\n"}, [("f", "b=1", "b=2")]),
    ("a new line", {"f": "a\nb\n"}, {"f": "a\nb\nc\n"}, [("f", "(none)", "c")]),
    ("another order of lines", {"f": "a\nb"}, {"f": "b\na"}, [("f", "a b", "b a")]),
    ("long", {"f": "a"}, {"f": "b" * 99}, [("f", "a", "b" * 77 + "...")]),
    ("long and late", {"f": "a" * 99 + "b"}, {"f": "a" * 99 + "c"}, [("f", f"...{'a' * 20}b", f"...{'a' * 20}c")]),
    ("a secret", {"f": "a.password=hunter2\nb=1"}, {"f": "a.password=hunter3\nb=1"},
     [("f", "a.password=********", "a.password=******** (changed)")]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "changes"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_changed_fields(before: Any, after: Any, changes: list[tuple[str, str, str]]) -> None:
    kept = deepcopy((before, after))
    found = [(path, masked_excerpts(change, str)) for path, change in changed_fields(before, after)]
    assert found == [(path, f"{old} -> {new}") for path, old, new in changes]
    assert (before, after) == kept


def status(
    *warnings: str, rollout: tuple[str, ...] = (), generation: int = 1, hidden: tuple[str, ...] | None = None
) -> Manifest:
    """Return a status with conditions about warnings; by default, it has the digests of all that they only count."""
    found = (("Warnings", warnings), ("RolloutWarnings", rollout))
    conditions = [{"type": kind, "message": join_limited(texts, " | ")} for kind, texts in found if texts]
    counted = (*warnings[5:], *rollout[5:]) if hidden is None else hidden
    digests = {"hiddenWarnings": [digest_of_warning(text) for text in counted[:MAX_HIDDEN]]} if counted else {}
    ready = {"type": "Ready", "message": ""}
    return {"observedGeneration": generation, "conditions": [ready, *conditions], **digests}


MANY = tuple("abcdefg")
MORE = tuple(str(number) for number in range(200))
WRITES, NOTHING = Plan((update(a="2"),)), Plan()
ROLLS = Plan((update(a="2"),), rollout_warnings=("r",))
# (what, status before, status after, warnings of the reconcile, plan, reasons of events by warning)
WARNED: list[tuple[str, Manifest, Manifest, tuple[str, ...], Plan, dict[str, str]]] = [
    ("a new one", status(), status("a"), ("a",), NOTHING, {"a": "SpecWarning"}),
    ("a lasting one", status("a"), status("a"), ("a",), NOTHING, {}),
    ("a lasting one, and a write", status("a"), status("a"), ("a",), WRITES, {}),
    ("another one", status("a"), status("a", "b"), ("a", "b"), NOTHING, {"b": "SpecWarning"}),
    ("one that ends", status("a", "b"), status("a"), ("a",), NOTHING, {}),
    ("about a write", status(), status(rollout=("r",)), ("r",), ROLLS, {"r": "RolloutWarning"}),
    ("about a write before", status(rollout=("r",)), status(rollout=("r",)), (), NOTHING, {}),
    ("the same about two writes", status(rollout=("r",)), status(rollout=("r",)), ("r",), ROLLS, {}),
    ("of the server, with a write", status(), status(), ("s",), WRITES, {"s": "SpecWarning"}),
    ("of the server, with another generation", status(), status(generation=2), ("s",), NOTHING, {"s": "SpecWarning"}),
    ("of the server, in each reconcile", status(), status(), ("s",), NOTHING, {}),
    ("the first status", {}, status("a"), ("a",), NOTHING, {"a": "SpecWarning"}),
    ("the Go operator's CRD", {"reason": "x"}, status("a"), ("a",), NOTHING, {}),
    ("part of another one", status("a b"), status("a b", "a"), ("a b", "a"), NOTHING, {"a": "SpecWarning"}),
    ("more than a condition has, and a write", status(*MANY), status(*MANY), MANY,
     replace(WRITES, warnings=MANY), {}),
    ("one more than a condition has", status(*MANY[:6]), status(*MANY), MANY, replace(WRITES, warnings=MANY),
     {"g": "SpecWarning"}),
    ("another one that the condition only counts", status(*MANY), status(*MANY[:6], "x"), (*MANY[:6], "x"),
     replace(NOTHING, warnings=(*MANY[:6], "x")), {"x": "SpecWarning"}),
    ("one that the condition shows now", status(*MANY), status(*MANY[1:]), MANY[1:],
     replace(NOTHING, warnings=MANY[1:]), {}),
    ("one that the condition shows no more", status(*MANY[1:]), status(*MANY), MANY,
     replace(NOTHING, warnings=MANY), {"a": "SpecWarning"}),
    ("another one about a write that the condition only counts", status(rollout=MANY[:6]),
     status(rollout=(*MANY[:5], "x")), (*MANY[:5], "x"), replace(WRITES, rollout_warnings=(*MANY[:5], "x")),
     {"x": "RolloutWarning"}),
    ("without digests, as of an earlier version", status(*MANY, hidden=()), status(*MANY), MANY,
     replace(WRITES, warnings=MANY), {}),
    ("more than have a digest", status(*MORE), status(*MORE), MORE, replace(WRITES, warnings=MORE), {}),
    ("more than a condition has, and one of the server", status(*MANY), status(*MANY), (*MANY, "s"),
     replace(WRITES, warnings=MANY), {"s": "SpecWarning"}),
    ("a message of another condition", status(), status(), ("f",),
     Plan((), (Finding(reasons.CHANGES_PENDING, "f", is_problem=False),)), {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "warnings", "plan", "expected"), [row[1:] for row in WARNED], ids=[row[0] for row in WARNED]
)
def test_each_new_warning_is_one_event(
    before: Manifest, after: Manifest, warnings: tuple[str, ...], plan: Plan, expected: dict[str, str]
) -> None:
    found = new_warnings(StatusChange(before, after, warnings), plan)
    assert {text.message: text.reason for text in found} == expected
    assert {text.kind for text in found} <= {"Warning"}


ENDS, STARTS = "Rollout of group a is completed.", "Rollout of group b (1 pod) has started: Secret db changed."
# By id: the group in the rollout before and after, complete groups, and the expected events.
ROLLOUTS: dict[str, tuple[str, str, tuple[str, ...], list[str]]] = {
    "nothing": ("", "", ("a", "b"), []),
    "it goes on": ("a", "a", (), []),
    "the next group": ("a", "b", ("a",), [ENDS, STARTS]),
    "the last group": ("a", "", ("a", "b"), [ENDS]),
    "stopped or removed": ("a", "", ("b",), []),
    "stopped or removed, and the next group": ("a", "b", (), [STARTS]),
    "it starts": ("", "b", ("a",), [STARTS]),
    "a group that others only wait for": ("", "-b", ("a",), []),
    "it is available": ("-a", "b", ("a",), [STARTS]),
    "it restarts": ("-b", "b", (), [STARTS]),
    "between two groups": ("a", "-b", ("a",), [ENDS]),
}


@pytest.mark.parametrize(("before", "after", "complete", "expected"), ROLLOUTS.values(), ids=ROLLOUTS)
def test_a_rollout_that_starts_and_one_that_is_completed(
    before: str, after: str, complete: tuple[str, ...], expected: list[str]
) -> None:
    """A dash marks a group that others only wait for."""
    more = {"pods": 1, "cause": "Secret db changed"}
    found = ({"group": each.strip("-"), "onlyBlocks": each.startswith("-"), **more} for each in (before, after))
    documents = ({"rollout": each} if each["group"] else {} for each in found)
    assert [each.message for each in rollout_texts(StatusChange(*documents), complete)] == expected


@pytest.mark.parametrize(("before", "expected"), [({}, ["It is stalled."]), ({"stalled": "Earlier."}, [])])
def test_a_rollout_that_stalls_is_one_event(before: Manifest, expected: list[str]) -> None:
    """Also if the condition Degraded has the reason of another problem."""
    documents = ({"rollout": {"group": "a", **each}} for each in (before, {"stalled": "It is stalled."}))
    assert [each.message for each in rollout_texts(StatusChange(*documents), ())] == expected
