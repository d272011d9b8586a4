# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of the last applied spec is read as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    is_elsewhere,
    is_ours,
    is_own,
    of_status,
    read_last_applied,
    resource_of,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion, record_name
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    KAFKA,
    ingestion,
    resource,
)

TASK = SubmittedTask("t", 2, "ended", "FAILED", "once")


@pytest.mark.parametrize(
    "record",
    [
        LastApplied(ingestion().specified, "pages"),
        LastApplied(ingestion(suspend=True).specified, "pages"),
        LastApplied({}, "t", TASK),
        LastApplied({}, "t", TASK, revision=3),
        LastApplied({}, "new", None, ("old",)),
    ],
)
def test_record_round_trip(record: LastApplied) -> None:
    assert read_last_applied(to_config_map(record, ingestion()), ingestion()) == record


@pytest.mark.parametrize("text", ["[" * 100_000, '{"id": "pages", "revision": Infinity}', "null", "{"])
def test_a_document_that_others_have_written_is_a_lost_one(text: str) -> None:
    stored = to_config_map(LastApplied({}, "pages"), ingestion())
    edited = {**stored, "data": {**stored["data"], "state.json": text}}
    assert read_last_applied(edited, ingestion()) == LastApplied()


def test_record_of_an_older_version_has_no_former_supervisors() -> None:
    stored = to_config_map(LastApplied({}, "pages"), ingestion())
    data = {**stored["data"], "state.json": '{"id": "pages", "task": null}'}
    assert read_last_applied({**stored, "data": data}, ingestion()) == LastApplied({}, "pages")


@pytest.mark.parametrize(("task", "revision"), [(None, 0), ({"id": "t"}, 1)])
def test_record_of_an_older_version_has_the_first_revision(task: Any, revision: int) -> None:
    data = {"spec.json": "{}", "state.json": json.dumps({"id": "t", "task": task, "former": [], "druid": ""})}
    stored = {**to_config_map(LastApplied({}, "t"), ingestion()), "data": data}
    assert read_last_applied(stored, ingestion()).revision == revision


@pytest.mark.parametrize(
    ("record", "supervisors"),
    [
        (LastApplied(), ()),
        (LastApplied({}, "a"), ("a",)),
        (LastApplied({}, "b", None, ("a",)), ("a", "b")),
        (LastApplied({}, "t", TASK), ()),
        (LastApplied({}, "t", TASK, ("a",)), ("a",)),
    ],
)
def test_supervisors_of_a_record(record: LastApplied, supervisors: tuple[str, ...]) -> None:
    assert record.supervisors == supervisors


@pytest.mark.parametrize("data", [None, {}, {"spec.json": "{"}, {"spec.json": "{}", "state.json": "[]"}])
def test_edited_record_is_ignored(data: Any) -> None:
    assert read_last_applied({"metadata": {}, "data": data}, ingestion()) == LastApplied()


def test_status_of_the_go_operator_is_adopted() -> None:
    status = {"taskId": "pages", "currentIngestionSpec.json": json.dumps(KAFKA)}
    adopted = read_last_applied(None, Ingestion.from_resource({**resource(), "status": status}))
    assert adopted == LastApplied({"type": "kafka", "spec": KAFKA}, "pages")
    stored = {**resource("native-batch", BATCH), "status": {**status, "currentIngestionSpec.json": json.dumps(BATCH)}}
    adopted = read_last_applied(None, Ingestion.from_resource(stored))
    assert adopted.task == SubmittedTask("pages", phase="submitted")
    for other in ({**status, "currentIngestionSpec.json": "{"}, {"taskId": "", "currentIngestionSpec.json": ""}):
        unusable = Ingestion.from_resource({**resource(), "status": other})
        assert read_last_applied(None, unusable) == LastApplied()


@pytest.mark.parametrize(
    ("kind", "status", "record"),
    [
        ("kafka", {"taskId": "pages", "appliedHash": "h"}, LastApplied({}, "pages")),
        (
            "native-batch",
            {"taskId": "t", "appliedHash": "h"},
            LastApplied({}, "t", SubmittedTask("t", phase="submitted"), revision=1),
        ),
        (
            "native-batch",
            {"taskId": "t", "appliedHash": "h", "appliedRevision": 3},
            LastApplied({}, "t", SubmittedTask("t", phase="submitted"), revision=3),
        ),
        # observed, never applied
        ("kafka", {"taskId": "pages"}, LastApplied()),
        ("kafka", {}, LastApplied()),
        ("kafka", None, LastApplied()),
    ],
)
def test_record_from_the_status(kind: str, status: Any, record: LastApplied) -> None:
    assert of_status(Ingestion.from_resource({**resource(kind), "status": status})) == record


def test_record_belongs_to_the_resource_of_its_name() -> None:
    ours = to_config_map(LastApplied(), ingestion())
    assert is_ours(ours, ingestion())
    assert not is_ours(ours, ingestion(name="other"))
    assert not is_ours({"metadata": {"name": "i-ingestion"}}, ingestion())
    without_resource = Ingestion.from_resource({"metadata": {"name": "i", "namespace": "ns"}})
    assert is_ours(to_config_map(LastApplied(), without_resource), without_resource)
    assert is_ours(to_config_map(LastApplied(), without_resource), ingestion())
    assert not is_ours(ours, without_resource)
    assert [resource_of(each) for each in (ours, to_config_map(LastApplied(), without_resource))] == ["i", None]


def test_recreated_resource_ignores_the_record_of_the_former() -> None:
    """Kubernetes' garbage collector deletes the record of the former resource later."""
    stored = to_config_map(LastApplied(ingestion().specified, "t", TASK), ingestion())
    recreated = ingestion(metadata={"uid": "another"})
    assert is_ours(stored, recreated)
    assert not is_own(stored, recreated)
    assert read_last_applied(stored, recreated) == LastApplied()
    assert read_last_applied(stored, ingestion(metadata={"uid": None})) == LastApplied()


@pytest.mark.parametrize("name", ["a", "a" * 243, "a" * 244, "a" * 253])
def test_record_name_is_valid_and_unique(name: str) -> None:
    assert len(record_name(name)) <= 253
    assert record_name(name) != record_name(name[:-1] + "b")


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({}, True),
        ({"druidCluster": "other"}, False),
        ({"druidCluster": None, "endpoint": {"url": "http://druid:8888"}}, False),
        # the target is unknown: the record is assumed to be of the same Druid
        ({"druidCluster": None}, True),
    ],
)
def test_record_of_another_druid_keeps_only_the_batch_task(more: dict[str, Any], counts: bool) -> None:
    target = ingestion().target
    supervisor = LastApplied({"type": "kafka", "rules": []}, "a", None, ("b",), target)
    batch = LastApplied({"type": "native-batch", "spec": {}, "rules": [{}]}, "a", SubmittedTask("a"), ("b",), target)
    found = read_last_applied(to_config_map(supervisor, ingestion(**more)), ingestion(**more))
    assert (found.id, found.supervisors, bool(found.specified)) == (
        ("a", ("b", "a"), True) if counts else ("", (), False)
    )
    now = ingestion("native-batch", **more)
    found = read_last_applied(to_config_map(batch, now), now)
    assert (found.task, found.supervisors, "rules" in found.specified) == (
        SubmittedTask("a"),
        ("b",) if counts else (),
        counts,
    )


@pytest.mark.parametrize("task", [None, SubmittedTask("a")])
def test_revision_is_kept_in_another_druid(task: SubmittedTask | None) -> None:
    record = LastApplied({"type": "native-batch", "spec": {}}, "a", task, (), ingestion().target, 2)
    moved = ingestion("native-batch", druidCluster="other")
    assert read_last_applied(to_config_map(record, moved), moved).revision == 2


def test_record_from_the_status_has_a_target() -> None:
    status = {"taskId": "a", "appliedHash": "x", "appliedTo": ingestion().target}
    parsed = Ingestion.from_resource({**resource(), "status": status})
    assert not is_elsewhere(of_status(parsed), ingestion())
    assert is_elsewhere(of_status(parsed), ingestion(druidCluster="other"))
