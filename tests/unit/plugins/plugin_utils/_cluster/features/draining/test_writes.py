# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a drain survives its annotation and its StatefulSet, and a broken one does no harm."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import DruidState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.worker_groups import drains
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import (
    from_annotation,
    to_annotation,
    with_copies,
    with_drains,
    without_future,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.features.draining.planning import (
    GROUP,
    NAME,
    NOW,
    PENDING,
    SET,
    STRATEGY,
    druid,
    live,
    of_workers,
    planned,
    recorded,
    requests,
    worker,
)

FULL = Record(
    "mm-2", "uid", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:40Z", True
)


@pytest.mark.parametrize("records", [(), (Record("mm-0", "u", "s"),), (FULL, Record("mm-0", "u", "s"))])
def test_reads_what_it_has_written(records: tuple[Record, ...]) -> None:
    assert from_annotation(to_annotation(records)) == records


def test_a_time_in_the_future_does_not_prolong_a_limit() -> None:
    later, now = "2999-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
    found = without_future(Record("mm-0", "u", later, later, later, later), datetime.fromisoformat(now))
    assert found == Record("mm-0", "u", now, now, now, now)
    assert without_future(FULL, datetime(2026, 1, 2, tzinfo=UTC)) is FULL


def test_is_short() -> None:
    assert to_annotation([Record("mm-0", "u", "s")]) == '[{"pod":"mm-0","uid":"u","since":"s"}]'


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "1", "[1]", "[" * 100_000, '[{"pod":"mm-0"}]', '[{"pod":"mm","uid":"u","since":"s"}]', '{"a":1}'],
)
def test_ignores_what_it_cannot_read(text: str | None) -> None:
    assert from_annotation(text) == ()


CONFIG_MAP = ObjectKey("ConfigMap", f"{NAME}-config")
RECORDS = [recorded(1)]
BUSY = druid(worker(0), worker(1, "t", is_enabled=False))
ORDERED = {GROUP: {"podManagementPolicy": "OrderedReady"}}


def cluster(nodes: Any = None, **spec: Any) -> Cluster:
    return rolling.cluster(nodes=nodes, **{**STRATEGY, **spec})


def annotated(observed: Observed, key: ObjectKey, records: Any) -> Observed:
    found = observed.objects[key]
    annotations = {**(found["metadata"].get("annotations") or {}), names.DRAIN_ANNOTATION: text(records)}
    return observed.with_objects([{**found, "metadata": {**found["metadata"], "annotations": annotations}}])


def text(records: Any) -> str:
    return to_annotation(from_annotation(json.dumps(records)))


def draining(**status: Any) -> Observed:
    return annotated(live(cluster(), partition=2, **{**PENDING, **status}), SET, RECORDS)


def interrupted(records: Any = None) -> Observed:
    """Return the live state after the deletion of the StatefulSet, with a copy of these records."""
    observed = live(rolling.cluster(**STRATEGY)).without([SET])
    return observed if records is None else annotated(observed, CONFIG_MAP, records)


def steps(plan: Plan) -> list[tuple[str, str]]:
    return [(step.operation.verb, step.key.kind) for step in of_workers(plan)]


def pods(text: str) -> list[str]:
    return [each["pod"] for each in json.loads(text)]


def record_of(plan: Plan, kind: str) -> str:
    step = next(each for each in of_workers(plan) if each.key.kind == kind)
    found: str = (step.manifest["metadata"].get("annotations") or {}).get(names.DRAIN_ANNOTATION, "")
    return found


def test_the_copy_is_written_before_the_stateful_set_is_deleted() -> None:
    plan = planned(inputs(cluster(ORDERED), draining(), now=NOW), BUSY)
    assert steps(plan) == [("update", "ConfigMap"), ("recreate", "StatefulSet")]
    assert pods(record_of(plan, "ConfigMap")) == pods(record_of(plan, "StatefulSet")) == [f"{NAME}-1"]


def test_there_is_no_copy_as_long_as_the_stateful_set_stays() -> None:
    assert steps(planned(inputs(cluster(), draining(), now=NOW), BUSY)) == []
    copied = annotated(draining(), CONFIG_MAP, RECORDS)
    assert not is_annotated(objects(inputs(cluster(), copied, now=NOW, druid=DruidState(BUSY)))[CONFIG_MAP])


@pytest.mark.parametrize("records", [RECORDS, [], [recorded(1, released="2025-12-31T23:59:30Z")]])
def test_after_an_interruption_every_pod_stays(records: Any) -> None:
    plan = planned(inputs(cluster(ORDERED), interrupted(records), now=NOW), BUSY)
    assert steps(plan) == [("create", "StatefulSet")]
    spec = of_workers(plan)[0].manifest["spec"]
    assert (spec["updateStrategy"]["rollingUpdate"], spec["replicas"]) == ({"partition": 2}, 2)
    assert json.loads(record_of(plan, "StatefulSet")) == records


def test_so_it_does_if_others_have_deleted_the_stateful_set() -> None:
    plan = planned(inputs(cluster(), interrupted(), now=NOW), BUSY)
    assert steps(plan) == [("update", "ConfigMap"), ("create", "StatefulSet")]
    assert record_of(plan, "ConfigMap") == record_of(plan, "StatefulSet") == "[]"


def test_pods_that_are_about_to_be_removed_are_drained_after_an_interruption() -> None:
    plan = planned(inputs(cluster({GROUP: {"replicas": 1}}), interrupted(RECORDS), now=NOW), BUSY)
    assert [each.manifest["spec"]["replicas"] for each in of_workers(plan) if each.key == SET] == [2]


def test_workers_are_enabled_again_if_draining_is_not_requested_any_more() -> None:
    plan = planned(inputs(rolling.cluster(), interrupted(RECORDS), now=NOW), BUSY)
    assert requests(plan) == [f"enable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"]
    assert pods(record_of(plan, "StatefulSet")) == [f"{NAME}-1"]


def test_a_group_without_pods_is_created_as_specified() -> None:
    which = cluster()
    found = Observed().with_objects(each for each in live(which).objects.values() if each["kind"] == "ConfigMap")
    desired = objects(inputs(which, found, now=NOW))
    assert not is_annotated(desired[SET])
    assert not is_annotated(desired[CONFIG_MAP])


def is_annotated(manifest: Any) -> bool:
    return names.DRAIN_ANNOTATION in (manifest["metadata"].get("annotations") or {})


@pytest.mark.parametrize("records", [RECORDS, []])
def test_a_stateful_set_that_is_being_deleted_has_the_record_itself(records: Any) -> None:
    observed = live(cluster(), records, partition=2, **PENDING)
    workload = observed.objects[SET]
    metadata = {**workload["metadata"], "deletionTimestamp": "2025-12-31T23:59:59Z"}
    older = annotated(observed.with_objects([{**workload, "metadata": metadata}]), CONFIG_MAP, [recorded(0)])
    found = objects(inputs(cluster(), older, now=NOW, druid=DruidState(BUSY)))
    for key in (SET, CONFIG_MAP):
        assert json.loads(found[key]["metadata"]["annotations"][names.DRAIN_ANNOTATION]) == records
    assert found[SET]["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 2}


def objects(which: Inputs) -> dict[ObjectKey, Any]:
    """Return the desired objects of the group, as they are compared with the live ones."""
    found = drains(which)
    desired = with_copies(with_drains(which.desired, found), found, which.observed)
    return {ObjectKey(each["kind"], each["metadata"]["name"]): each for each in desired.groups[GROUP]}


def test_the_workers_of_a_new_stateful_set_are_known_before_anything_is_replaced() -> None:
    """The controller has yet to adopt the pods: nothing is sent to Druid, and no pod goes."""
    plan = planned(
        inputs(cluster(), draining(observedGeneration=0), now=NOW),
        {questions.WORKERS: (worker(0), worker(1, is_enabled=False))},
    )
    assert of_workers(plan) == ()
