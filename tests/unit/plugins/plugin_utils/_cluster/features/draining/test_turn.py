# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A drained group waits for its turn: its pods go in the order of a rollout, and no two groups at the same time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import without_unrecorded
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
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
    partition_of,
    planned,
    recorded,
    requests,
    unknown,
    worker,
)

# Pods of an old revision are kept by a partition of the spec, or by its update strategy, and now are not any more.
KEPT: list[dict[str, Any]] = [{"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, {"type": "OnDelete"}]
# Another group is about to restart: historicals, which are first in the order.
OTHER = {"historicals": {"image": rolling.NEW}}


def lowered(
    before: dict[str, Any], nodes: dict[str, Any] | None = None, annotation: Any = None
) -> tuple[Cluster, Inputs]:
    which = rolling.cluster(nodes=nodes, **STRATEGY)
    observed = live(rolling.cluster(**STRATEGY), annotation, **PENDING)
    workload = observed.objects[SET]
    spec = {**workload["spec"], "updateStrategy": before}
    return which, inputs(which, observed.with_objects([{**workload, "spec": spec}]), now=NOW)


@pytest.mark.parametrize("before", KEPT)
def test_pods_that_are_not_kept_any_more_are_a_restart(before: dict[str, Any]) -> None:
    _which, found = lowered(before)
    (step,) = of_workers(planned(found, unknown()))
    assert (step.restart.pods, step.manifest["spec"]["updateStrategy"]) == (2, KEPT[0])
    assert step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION] == "[]"


@pytest.mark.parametrize("before", KEPT)
def test_pods_that_are_not_kept_any_more_wait_for_their_turn(before: dict[str, Any]) -> None:
    _which, found = lowered(before, OTHER)
    plan = planned(found, unknown())
    assert (plan.restarts, plan.pending_restarts) == (("historicals",), (GROUP,))
    assert of_workers(plan) == ()


@pytest.mark.parametrize("before", KEPT)
def test_workers_are_drained_for_fewer_replicas_while_their_group_waits_for_its_turn(before: dict[str, Any]) -> None:
    _which, found = lowered(before, {**OTHER, GROUP: {"replicas": 1}})
    plan = planned(replace(found), {**unknown(), **druid(worker(0), worker(1))})
    write, request = of_workers(plan)
    assert write.after is not None
    assert write.after["spec"]["updateStrategy"] == before
    assert request.title == f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"


def test_a_group_that_waits_for_its_turn_keeps_its_update_strategy() -> None:
    which = rolling.cluster(rolling.NEW, nodes={GROUP: {"workloadAnnotations": {"a": "b"}}}, **STRATEGY)
    plan = planned(inputs(which, live(rolling.cluster(**STRATEGY)), now=NOW), unknown())
    assert plan.pending_restarts[0] == GROUP
    (step,) = of_workers(plan)
    assert step.after is not None
    assert step.after["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}
    assert names.DRAIN_ANNOTATION not in step.after["metadata"]["annotations"]
    assert names.DRAIN_ANNOTATION not in step.manifest["metadata"]["annotations"]


def test_no_write_of_a_group_whose_pods_are_replaced_by_hand_is_a_restart() -> None:
    by_hand = KEPT[1]
    _which, found = lowered(by_hand, {**OTHER, GROUP: {"updateStrategy": by_hand, "workloadAnnotations": {"a": "b"}}})
    plan = planned(found, unknown())
    (step,) = of_workers(plan)
    assert (step.restart.pods, plan.restarts, plan.pending_restarts) == (0, ("historicals",), ())


@pytest.mark.parametrize("before", KEPT)
def test_a_drain_that_has_begun_does_not_begin_again(before: dict[str, Any]) -> None:
    _which, found = lowered(before, annotation=[])
    plan = planned(found, druid(worker(0), worker(1)))
    assert requests(plan) == [f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"]


def repair(*, breaks: bool, labels: dict[str, str] | None = None, ends: bool = False) -> Plan:
    """Return the plan while brokers are to be restarted, and a worker is drained; another one is to be drained.

    `ends`: draining is not requested any more, and all workers are to be restarted.
    """
    strategy = {"middleManagerDrainStrategy": {"maxUnavailable": 2}}
    three: dict[str, Any] = {"replicas": 3, **({"workloadAnnotations": labels} if labels else {})}
    three |= {"image": rolling.NEW} if ends else {}
    before = rolling.cluster(nodes={GROUP: {"replicas": 3}}, **strategy)
    which = rolling.cluster(nodes={GROUP: three, "brokers": {"image": rolling.NEW}}, **({} if ends else strategy))
    observed = live(before, [recorded(2, idle="2025-12-31T23:59:50Z")], partition=3, **PENDING)
    workload = observed.objects[ObjectKey("StatefulSet", "druid-c-brokers")]
    status = {**workload["status"], **({"readyReplicas": 1} if breaks else {})}
    broken = [rolling.pod("brokers", 1, waiting="CrashLoopBackOff")] if breaks else []
    observed = observed.with_objects([{**workload, "status": status}, *({"apiVersion": "v1", **pod} for pod in broken)])
    answers = {**unknown(), **druid(worker(0), worker(1), worker(2, is_enabled=False))}
    return planned(inputs(which, observed, now=NOW), answers)


def test_no_pod_is_released_while_another_group_is_repaired() -> None:
    plan = repair(breaks=True)
    assert (plan.restarts, plan.pending_restarts) == (("brokers",), (GROUP,))
    assert of_workers(plan) == ()


def test_nor_is_a_worker_disabled_that_is_not_recorded() -> None:
    (step,) = of_workers(repair(breaks=True, labels={"a": "b"}))
    found = json.loads(step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION])
    assert [(each["pod"], each.get("released")) for each in found] == [(f"{NAME}-2", None)]
    assert step.after is not None
    assert step.after["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 3}


def test_a_worker_is_enabled_while_its_group_waits_for_its_turn() -> None:
    plan = repair(breaks=True, ends=True)
    assert (plan.restarts, plan.pending_restarts) == (("brokers",), (GROUP,))
    assert requests(plan) == [f"enable worker 10.0.0.2:8091 of pod {NAME}-2 in Druid"]
    # Also if the whole write of its StatefulSet waits.
    rest = [step for step in plan.steps if step.key.kind != "StatefulSet"]
    assert [step.in_druid for step in without_unrecorded(rest, plan.later)] == [True]


def test_a_pod_is_released_while_nothing_is_broken() -> None:
    plan = repair(breaks=False)
    assert (plan.restarts, plan.pending_restarts, partition_of(plan)) == ((GROUP,), ("brokers",), 2)
    assert requests(plan) == [f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"]
