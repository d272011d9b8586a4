# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Histories of edits, crashes and lost records: no document runs twice in a row, and the current one has run last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import read_last_applied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import believed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    IngestionResult,
    Inputs,
    Observed,
    Plan,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    BATCH,
    asking,
    resource,
)
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = 99


@dataclass
class World:
    """A resource, its ConfigMap and status, and a Druid in which each task succeeds immediately.

    `runs` are the documents of all tasks, in order. `uid` is that of the resource. `former` is the data of all records.
    """

    document: str = "a"
    suspend: bool = False
    retry: str = ""
    uid: str = "first"
    note: str = ""
    config_map: dict[str, Any] | None = None
    former: list[dict[str, str]] = field(default_factory=list)
    version: int = 0
    writes_left: int = NEVER
    status: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        return list(self.tasks.values())

    @property
    def reason(self) -> str:
        return str(self.status.get("reason"))

    def reconcile(self, crash: int = NEVER) -> None:
        """Reconcile once; `crash` is the number of writes after which the process is killed."""
        self.writes_left = crash
        with suppress(Killed):
            self._reconcile()

    def _reconcile(self) -> None:
        resource = self._resource()
        ingestion = Ingestion.from_resource(resource)
        documents = {f"/druid/indexer/v1/task/{each}/status": {"status": _SUCCESS} for each in self.tasks}
        client: Any = FakeDruid(documents)
        observed = Observed(config_map=self.config_map, record=believed(self.config_map, ingestion))
        inputs = Inputs(ingestion, observed, asking(client))
        plan = decide(inputs)
        result, api = IngestionResult(resource, plan, ingestion, observed=observed), cast(KubernetesApi, self)
        for step in plan.steps:
            if step.in_druid:
                self._write()
                # Druid does not accept an id twice
                self.tasks.setdefault(step.job.task_id(step.attempt), ingestion.document["context"]["document"])
            else:
                result = act(Context(api), replace(result, plan=Plan((step,))))
                assert result.failed_step is None
        self._write()
        last = read_last_applied(observed.record, ingestion) if observed.record else None
        record = plan.saved[-1] if plan.saved else last
        self.status = status(ingestion, inputs.druid_state, plan.findings, self.status, NOW, record)

    def _write(self) -> None:
        if self.writes_left == 0:
            raise Killed
        self.writes_left -= 1

    def json_patch(self, _kind: str, _namespace: str, _name: str, operations: list[dict[str, Any]]) -> dict[str, Any]:
        self._write()
        self.note = operations[-1]["value"]
        return self._resource()

    def apply(self, manifest: dict[str, Any]) -> dict[str, Any]:
        self._write()
        self.former.append(manifest["data"])
        self.store(manifest)
        return manifest

    def store(self, manifest: dict[str, Any]) -> None:
        """Write the ConfigMap, as the API server does: with another version."""
        self.version += 1
        manifest["metadata"]["resourceVersion"] = str(self.version)
        self.config_map = manifest

    def edit(self, data: Any) -> None:
        """Write the ConfigMap as one of others."""
        if self.config_map is not None:
            self.store({**self.config_map, "metadata": {**self.config_map["metadata"]}, "data": data})

    def settle(self) -> None:
        for _each in range(4):
            self.reconcile()

    def _resource(self) -> dict[str, Any]:
        annotations = {"druid.apache.org/retry": self.retry, NOTE_ANNOTATION: self.note}
        document = {**BATCH, "context": {"document": self.document}}
        metadata = {"uid": self.uid, "annotations": annotations}
        stored = resource("native-batch", document, metadata=metadata, suspend=self.suspend)
        return {**stored, "status": self.status}


class Killed(BaseException):
    """The process was killed."""


_SUCCESS: Mapping[str, str] = {"statusCode": "SUCCESS"}
DOCUMENTS, CRASHES = st.sampled_from("abc"), st.integers(0, 7)
EDITS = st.one_of(
    st.tuples(st.just("document"), DOCUMENTS),
    st.tuples(st.just("suspend"), st.booleans()),
    st.tuples(st.just("crash"), CRASHES),
)
LOSSES = st.one_of(
    st.tuples(st.just("lose"), st.sampled_from([None, {}, {"spec.json": "{"}])),
    st.tuples(st.just("restore"), st.integers(0, 20)),
    st.tuples(st.just("forge"), DOCUMENTS),
    st.tuples(st.just("status"), st.just({})),
)


def replay(world: World, history: Iterable[tuple[str, Any]]) -> None:
    for what, value in history:
        if what == "crash":
            world.reconcile(value)
        elif what == "lose" and value is None:
            world.config_map = None
        elif what == "lose":
            world.edit(value)
        elif what == "restore":
            world.edit(world.former[value % len(world.former)])
        elif what == "forge" and world.config_map is not None:
            world.edit(world.config_map["data"] | {"spec.json": json.dumps({"type": "native-batch", "spec": value})})
        elif what in ("document", "suspend", "status"):
            setattr(world, what, value)


def has_repeated(runs: list[str]) -> bool:
    return any(one == next_one for one, next_one in pairwise(runs))


@given(st.lists(EDITS, max_size=12))
def test_each_change_of_the_document_runs_once(history: list[tuple[str, Any]]) -> None:
    world = World()
    replay(world, history)
    world.suspend = False
    world.settle()
    assert world.runs[-1] == world.document
    assert not has_repeated(world.runs)
    assert world.reason == "Succeeded"


@given(st.lists(st.one_of(EDITS, LOSSES), max_size=12), DOCUMENTS)
def test_nothing_runs_twice_after_a_loss_of_the_record(history: list[tuple[str, Any]], document: str) -> None:
    world = World()
    world.settle()
    replay(world, [*history, ("document", document)])
    world.suspend = False
    world.settle()
    assert not has_repeated(world.runs)
    assert world.reason in ("Succeeded", "RecordLost")
    assert world.reason == "RecordLost" or world.runs[-1] == document
    if world.reason == "RecordLost":
        before = world.runs
        world.retry = "again"
        world.settle()
        assert world.runs[-1] == document
        assert len(world.runs) <= len(before) + 1
        assert world.reason == "Succeeded"


@pytest.mark.parametrize("crash", range(7))
@pytest.mark.parametrize("others", ["b", "bc", "bcb"])
def test_a_document_that_was_replaced_by_others_which_did_not_reach_druid(crash: int, others: str) -> None:
    """It has run last: it does not run again."""
    world = World()
    world.settle()
    for document in others:
        world.document = document
        world.reconcile(crash)
    before = len(world.runs)
    world.document = "a"
    world.settle()
    assert world.runs[before:] == ([] if world.runs[before - 1] == "a" else ["a"])
    world.document = "b"
    world.settle()
    assert world.runs[-2:] == ["a", "b"]
    assert not has_repeated(world.runs)
    assert world.reason == "Succeeded"


@pytest.mark.parametrize("crash", range(7))
def test_a_record_is_believed_wherever_the_process_was_killed(crash: int) -> None:
    world = World()
    world.settle()
    world.document = "b"
    world.reconcile(crash)
    world.status = {}
    world.settle()
    assert (world.runs, world.reason) == (["a", "b"], "Succeeded")


@pytest.mark.parametrize("crash", range(7))
@pytest.mark.parametrize("document", "abc")
def test_without_record_and_status_nothing_runs_until_it_is_requested(document: str, crash: int) -> None:
    world = World()
    for each in "ab":
        world.document = each
        world.settle()
    world.document, world.config_map, world.status = document, None, {}
    world.reconcile(crash)
    world.settle()
    assert (world.runs, world.reason) == (["a", "b"], "RecordLost")
    world.retry = "now"
    world.settle()
    assert (world.runs, world.reason) == (["a", "b", document], "Succeeded")


def test_reverted_document_runs_again() -> None:
    world = World()
    for document in "abab":
        world.document = document
        world.settle()
    assert (world.runs, len(world.tasks)) == (list("abab"), 4)


def test_annotation_that_was_set_before_the_loss_requests_nothing() -> None:
    world = World(retry="before")
    world.settle()
    world.document, world.config_map = "b", None
    world.settle()
    assert (world.runs, world.reason) == (["a"], "RecordLost")
    world.document = "c"
    world.settle()
    assert (world.runs, world.reason) == (["a"], "RecordLost")
    # the spec of the last task has run
    world.document = "a"
    world.settle()
    assert (world.runs, world.reason) == (["a"], "Succeeded")
    world.document = "b"
    world.settle()
    assert (world.runs, world.reason) == (["a", "b"], "Succeeded")


def test_recreated_resource_runs_again() -> None:
    world = World()
    world.settle()
    world.uid, world.status = "second", {}
    world.settle()
    assert world.runs == ["a", "a"]
