# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Histories of edits, crashes and lost records: no document runs twice in a row, and the current one has run last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    is_own,
    read_last_applied,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe_druid
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import SaveLastApplied, Submit
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import status
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._druid_api.fake_druid import FakeDruid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import BATCH, resource
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = 99


@dataclass
class World:
    """A resource, its ConfigMap and status, and a Druid in which each task succeeds immediately.

    `runs` are the documents of all tasks, in order. `uid` is that of the resource.
    """

    document: str = "a"
    suspend: bool = False
    retry: str = ""
    uid: str = "first"
    config_map: dict[str, Any] | None = None
    status: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        return list(self.tasks.values())

    @property
    def reason(self) -> str:
        return str(self.status.get("reason"))

    def reconcile(self, crash: int = NEVER) -> None:
        """Reconcile once; `crash` is the number of steps that are completed before the process is killed."""
        ingestion = self._ingestion()
        documents = {f"/druid/indexer/v1/task/{each}/status": {"status": _SUCCESS} for each in self.tasks}
        client: Any = FakeDruid(documents)
        inputs = observe_druid(client, ingestion, Observed(record=self.config_map))
        plan = decide(inputs)
        for number, step in enumerate(plan.steps):
            if number == crash:
                return
            if isinstance(step, SaveLastApplied):
                assert step.record is not None
                self.config_map = to_config_map(step.record, ingestion)
            if isinstance(step, Submit):
                # Druid does not accept an id twice
                self.tasks.setdefault(step.job.task_id(step.attempt), ingestion.document["context"]["document"])
        if crash == len(plan.steps):
            return
        found = self.config_map
        record = read_last_applied(found, ingestion) if found is not None and is_own(found, ingestion) else None
        self.status = status(ingestion, inputs.druid_state, plan.findings, self.status, NOW, str, record)

    def settle(self) -> None:
        for _each in range(4):
            self.reconcile()

    def _ingestion(self) -> Ingestion:
        annotations = {"druid.apache.org/retry": self.retry} if self.retry else {}
        document = {**BATCH, "context": {"document": self.document}}
        metadata = {"uid": self.uid, "annotations": annotations}
        stored = resource("native-batch", document, metadata=metadata, suspend=self.suspend)
        return Ingestion.from_resource({**stored, "status": self.status})


_SUCCESS: Mapping[str, str] = {"statusCode": "SUCCESS"}
DOCUMENTS, CRASHES = st.sampled_from("abc"), st.integers(0, 5)
EDITS = st.one_of(
    st.tuples(st.just("document"), DOCUMENTS),
    st.tuples(st.just("suspend"), st.booleans()),
    st.tuples(st.just("crash"), CRASHES),
)
LOSSES = st.tuples(st.just("lose"), st.sampled_from([None, {}, {"spec.json": "{"}]))


def replay(world: World, history: Iterable[tuple[str, Any]]) -> None:
    for what, value in history:
        if what == "crash":
            world.reconcile(value)
        elif what == "lose" and world.config_map is not None:
            world.config_map = None if value is None else {**world.config_map, "data": value}
        elif what in ("document", "suspend"):
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
    if world.reason == "RecordLost":
        before = world.runs
        world.retry = "again"
        world.settle()
        assert world.runs[-1] == document
        assert len(world.runs) <= len(before) + 1
        assert world.reason == "Succeeded"


@pytest.mark.parametrize("crash", range(4))
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
