# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can be created after a read from the operator's cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.creation import (
    can_create,
    judged_before,
    only_creates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs, inputs_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

BUDGET = {"podDisruptionBudgetSpec": {"maxUnavailable": 1}, "services": [{"spec": {"type": "ClusterIP"}}]}


def resource(**node: Any) -> dict[str, Any]:
    """Return a resource of one group with a budget."""
    return druid.resource({**BUDGET, **node})


def steps_of(found: Inputs) -> tuple[Step, ...]:
    """Return the changes."""
    return changed_objects(found.cluster, found.desired, found.live)


PROBLEM = {"status": {"conditions": [{"type": "Degraded", "status": "True", "reason": "NameConflict", "message": "m"}]}}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"check_mode": True}, False),
        ({"resource": {**resource(), **PROBLEM}}, False),
    ],
)
def test_creates_unless_the_plan_is_shown_or_a_problem_is_known(more: dict[str, Any], expected: bool) -> None:
    found = inputs_of(resource())
    assert can_create(replace(found, **more)) == expected


CHANGES = [{"paused": True}, {"dynamicConfig": {"coordinator": {"maxSegmentsToMove": 4}}}]


@pytest.mark.parametrize("changed", CHANGES, ids=["paused", "in Druid"])
def test_creates_nothing_while_paused_or_with_changes_in_druid(changed: dict[str, Any]) -> None:
    whole = resource(nodeType="coordinator")
    assert not can_create(inputs_of({**whole, "spec": {**whole["spec"], **changed}}))


def test_first_object_of_a_group_and_leaves_are_not_judged_before() -> None:
    steps = steps_of(inputs_of(resource()))
    judged = [*judged_before(steps)]
    own = [step for step in steps if step.group == "brokers" and not step.is_leaf]
    shared = [step for step in steps if step.group is None]
    assert [step.key for step in judged] == [step.key for step in (*shared[1:], *own[1:])]
    assert {step.key.kind for step in judged} >= {"Service", "StatefulSet"}


def test_workload_with_pods_or_with_replicas_of_others_is_not_created() -> None:
    found = inputs_of(resource())
    assert only_creates(found, steps_of(found))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": []},
        "metadata": {"name": "p", "namespace": "ns", "labels": {"nodeSpecUniqueStr": _unique_name(found.cluster)}},
    }
    with_pod = inputs(found.cluster, Observed().with_objects([pod]), resource=found.resource)
    assert not only_creates(with_pod, steps_of(with_pod))
    autoscaled = inputs_of(resource(replicas=None))
    assert not only_creates(autoscaled, steps_of(autoscaled))


def _unique_name(cluster: Cluster) -> str:
    [group] = cluster.groups
    return group.unique_name


def test_changes_of_existing_objects_are_not_creations() -> None:
    found = inputs_of(resource())
    live = stored({**found.desired.common[0], "data": {"a": "b"}})
    changed = inputs(found.cluster, Observed().with_objects([live]), resource=found.resource)
    assert not only_creates(changed, steps_of(changed))
