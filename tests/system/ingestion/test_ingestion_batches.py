# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A batch runs once per change of its document, also if the change is reverted, and never because of anything else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import batch_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid

A, B = "2026-01-01T00:00:00Z,a", "2026-01-01T00:00:00Z,b"
RETRY = "druid.apache.org/retry"


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


def apply(ingestion: Ingesting, data: str) -> None:
    ingestion.change(ingestion={"nativeSpec": batch_spec(ingestion, data)})


def task(ingestion: Ingesting) -> str:
    return str(ingestion.stored["status"]["taskId"])


def data_of(ingestion: Ingesting, task: str) -> Any:
    """Return the inline data of a task."""
    payload = ingestion.druid.request("GET", f"/druid/indexer/v1/task/{task}")["payload"]
    return payload["spec"]["ioConfig"]["inputSource"]["data"]


def test_reverted_batch_runs_again(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion, A)))
    ingestion.settled()
    tasks = [task(ingestion)]
    for data in (B, A):
        apply(ingestion, data)
        tasks.append(task(ingestion))
    assert [data_of(ingestion, each) for each in tasks] == [A, B, A]
    assert len({*tasks}) == ingestion.times_submitted("native-batch") == 3
    assert ingestion.condition("Ready") == ("True", "Succeeded")
    assert ingestion.stored["status"]["appliedRevision"] == 3
    assert (done(ingestion.one_pass()), ingestion.writes) == ((), [])


def test_other_changes_do_not_run_it_again(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion, A)))
    ingestion.settled()
    rules = [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]
    ingestion.change(suspend=True)
    ingestion.change(ingestion={"nativeSpec": batch_spec(ingestion, B)}, suspend=True)
    # it was suspended, so it has not run
    ingestion.change(ingestion={"nativeSpec": batch_spec(ingestion, A), "rules": rules, "compaction": {}})
    ingestion.change(suspend=False, ingestion={"rules": None, "compaction": None, "retries": 3})
    ingestion.live.merge(KIND, ingestion.name, {"metadata": {"labels": {"a": "b"}, "annotations": {RETRY: "now"}}})
    ingestion.settled()
    assert ingestion.times_submitted("native-batch") == 1
    assert ingestion.condition("Ready") == ("True", "Succeeded")


def lose_record(ingestion: Ingesting, how: str) -> None:
    record = f"{ingestion.name}-ingestion"
    if how == "deleted":
        ingestion.live.delete("ConfigMap", record)
    elif how == "unreadable":
        ingestion.live.merge("ConfigMap", record, {"data": {"state.json": "{"}})
    else:
        # as if another spec had run last
        ingestion.live.merge("ConfigMap", record, {"data": {"spec.json": '{"type": "native-batch", "spec": {}}'}})


LOSSES = ["deleted", "unreadable", "edited"]


@pytest.mark.parametrize("how", LOSSES)
def test_lost_record_stops_another_spec(ingestion: Ingesting, how: str) -> None:
    first = ingestion.resource("native-batch", batch_spec(ingestion, A))
    first["metadata"]["annotations"] = {RETRY: "before"}
    ingestion.live.create(first)
    ingestion.settled()
    lose_record(ingestion, how)
    rules = [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]
    changed = {"nativeSpec": batch_spec(ingestion, B), "rules": rules}
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": changed}})
    for _each in range(2):
        ingestion.one_pass()
        assert ingestion.condition("Ready") == ("False", "RecordLost")
        assert ingestion.writes == []
    assert (done(ingestion.one_pass()), ingestion.writes) == ((), [])
    ingestion.live.merge(KIND, ingestion.name, {"metadata": {"annotations": {RETRY: "after"}}})
    ingestion.settled()
    assert data_of(ingestion, task(ingestion)) == B
    assert ingestion.times_submitted("native-batch") == 2
    apply(ingestion, A)
    assert ingestion.times_submitted("native-batch") == 3


@pytest.mark.parametrize("how", LOSSES)
def test_task_of_the_same_spec_is_taken_over_after_a_loss(ingestion: Ingesting, how: str) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion, A)))
    for data in (B, A):
        ingestion.settled()
        apply(ingestion, data)
    before = task(ingestion)
    lose_record(ingestion, how)
    ingestion.settled()
    assert (task(ingestion), ingestion.condition("Ready")) == (before, ("True", "Succeeded"))
    apply(ingestion, B)
    assert ingestion.times_submitted("native-batch") == 4


def test_a_batch_that_was_replaced_without_its_annotation_keeps_its_record(ingestion: Ingesting) -> None:
    """As by `kubectl replace`: its status confirms the record."""
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion, A)))
    ingestion.settled()
    replaced = ingestion.resource("native-batch", batch_spec(ingestion, B))
    replaced["metadata"]["resourceVersion"] = ingestion.stored["metadata"]["resourceVersion"]
    replaced["apiVersion"] = ingestion.stored["apiVersion"]
    ingestion.live.plane.request("PUT", ingestion.live.path(KIND, ingestion.name), replaced)
    ingestion.settled()
    assert (data_of(ingestion, task(ingestion)), ingestion.times_submitted("native-batch")) == (B, 2)


def test_without_record_and_status_nothing_runs_until_it_is_requested(ingestion: Ingesting) -> None:
    ingestion.live.create(ingestion.resource("native-batch", batch_spec(ingestion, A)))
    ingestion.settled()
    apply(ingestion, B)
    lose_record(ingestion, "edited")
    path = f"{ingestion.live.path(KIND, ingestion.name)}/status"
    empty = {"status": {"taskId": None, "appliedHash": None}}
    ingestion.live.plane.request("PATCH", path, empty, content_type="application/merge-patch+json")
    for _each in range(2):
        ingestion.one_pass()
        assert (ingestion.condition("Ready"), ingestion.writes) == (("False", "RecordLost"), [])
    ingestion.live.merge(KIND, ingestion.name, {"metadata": {"annotations": {RETRY: "now"}}})
    ingestion.settled()
    assert (data_of(ingestion, task(ingestion)), ingestion.times_submitted("native-batch")) == (B, 3)


def test_deletion_after_a_loss_shuts_down_the_task(ingestion: Ingesting) -> None:
    endless = {"type": "noop", "runTime": 600_000, "prefetchTime": 0, "context": {}}
    ingestion.live.create(ingestion.resource("native-batch", endless))
    ingestion.one_pass()
    running = task(ingestion)
    lose_record(ingestion, "deleted")
    ingestion.live.merge(
        KIND, ingestion.name, {"spec": {"ingestion": {"nativeSpec": {**endless, "context": {"a": 1}}}}}
    )
    ingestion.one_pass()
    assert ingestion.condition("Ready") == ("False", "RecordLost")
    assert f"shut down task {running}" in done(ingestion.one_pass(absent=True))


def test_own_id_is_never_submitted_again(ingestion: Ingesting) -> None:
    def with_id(data: str, own: str) -> dict[str, Any]:
        return {"nativeSpec": {**batch_spec(ingestion, data), "id": f"{ingestion.name}-{own}"}}

    ingestion.live.create(ingestion.resource("native-batch", with_id(A, "a")["nativeSpec"]))
    ingestion.settled()
    ingestion.change(ingestion=with_id(B, "b"))
    ingestion.live.merge(KIND, ingestion.name, {"spec": {"ingestion": with_id(A, "a")}})
    ingestion.one_pass()
    assert (ingestion.condition("Ready"), ingestion.writes) == (("False", "TaskIdConflict"), [])
    # the data is that of the last task
    ingestion.change(ingestion=with_id(B, "b"))
    assert ingestion.condition("Ready") == ("True", "Succeeded")
    assert ingestion.times_submitted("native-batch") == 2


def is_end_recorded_after_a_strict_pass(ingestion: Ingesting) -> bool:
    """Druid may forget the task later."""
    ingestion.one_pass(settings=Options(is_strict=True))
    [record] = [each for each in ingestion.live.list("ConfigMap") if ingestion.name in each["metadata"]["name"]]
    return bool(json.loads(record["data"]["state.json"])["task"]["status"] == "SUCCESS")


def test_an_unknown_field_of_a_task_is_a_problem_as_long_as_it_is_specified(ingestion: Ingesting) -> None:
    """If the task requires it. Druid shows it once it has the task."""
    spec = batch_spec(ingestion, A)
    spec["spec"]["ioConfig"]["inputFormat"]["lstDelimiter"] = "|"
    ingestion.live.create(ingestion.resource("native-batch", spec))
    for _repeated in range(2):
        [problem] = ingestion.one_pass(settings=Options(is_strict=True)).problems
        assert "spec.ioConfig.inputFormat.lstDelimiter" in problem.message
        assert problem.message.endswith("(unknown_fields: fail).")
    assert ingestion.times_submitted("native-batch") == 1
    eventually(lambda: is_end_recorded_after_a_strict_pass(ingestion))
    # it is still a problem then
    [problem] = ingestion.one_pass(settings=Options(is_strict=True)).problems
    assert "lstDelimiter" in problem.message
    ingestion.settled()
    assert ingestion.condition("Ready") == ("True", "Succeeded")
