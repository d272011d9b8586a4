# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No reconcile of an earlier version of the resource stops pods."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import outdated_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    answers_of,
    draft,
    inputs,
    with_answers,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

Manifest = dict[str, Any]

OUTDATED = Finding(
    reasons.APPLY_FAILED, "Druid c was modified concurrently, so nothing was written. Retry.", group=None
)


def scaling(before: int | None, after: int | None, operation: str = "update", kind: str = "StatefulSet") -> Step:
    """Return the write of a workload with another number of replicas."""
    live = stored(druid.rendered(kind, {"kind": kind, "replicas": before}))
    if before is None:
        live["spec"].pop("replicas", None)
    manifest = druid.rendered(kind, {"kind": kind, "replicas": after})
    if operation == "delete":
        return Delete(group="brokers", live=live)
    return (Recreate if operation == "recreate" else Apply)(manifest=manifest, group="brokers", live=live)


CONFIG_MAP = stored(druid.rendered("ConfigMap"))
# (step, does it stop pods)
STEPS: dict[str, tuple[Step, bool]] = {
    "fewer replicas": (scaling(3, 1), True),
    "fewer replicas of a Deployment": (scaling(3, 1, kind="Deployment"), True),
    "stopped": (scaling(1, 0), True),
    "the default is stopped": (scaling(None, 0), True),
    "recreated with fewer": (scaling(3, 1, "recreate"), True),
    "a workload is deleted": (scaling(3, 3, "delete"), True),
    "the same": (scaling(3, 3), False),
    "more replicas": (scaling(1, 3), False),
    "kept replicas": (scaling(3, None), False),
    "created": (Apply(manifest=druid.rendered("StatefulSet"), group="brokers"), False),
    "another kind is deleted": (Delete(live=CONFIG_MAP), False),
}


def reads_the_resource(step: Step) -> bool:
    found = draft(druid.cluster(), steps=[step])
    assert outdated_resource(found) == ()
    return answers_of(found.inputs).asked == [("Druid", "c")]


@pytest.mark.parametrize("has_owner", [True, False])
def test_the_latest_resource_is_read_before_an_object_gets_an_owner(has_owner: bool) -> None:
    """A deletion with `--cascade=orphan` removes the owners."""
    manifest = druid.rendered("ConfigMap")
    metadata = {} if has_owner else {"ownerReferences": []}
    live = {**CONFIG_MAP, "metadata": {**CONFIG_MAP["metadata"], **metadata}}
    step = Apply(manifest=manifest, live=live)
    assert reads_the_resource(step) is not has_owner


@pytest.mark.parametrize(("step", "stops"), STEPS.values(), ids=STEPS)
def test_the_latest_resource_is_read_where_pods_would_be_stopped(step: Step, stops: bool) -> None:
    assert reads_the_resource(step) is stops


@pytest.mark.parametrize("step", [step for step, _stops in STEPS.values()], ids=STEPS)
def test_no_version_is_outdated_in_check_mode(step: Step) -> None:
    """The generation that a dry run of the resource returns is not stored."""
    assert outdated_resource(DraftPlan(inputs(druid.cluster(), check_mode=True), (step,))) == ()


@pytest.mark.parametrize(
    "name", [name for name, (step, stops) in STEPS.items() if stops and step.operation.verb == "update"]
)
def test_fewer_replicas_are_written_only_to_the_version_that_was_read(name: str) -> None:
    step, _stops = STEPS[name]
    assert step.bound_manifest["metadata"]["resourceVersion"] == "1"


@pytest.mark.parametrize("replicas", [3, 1])
def test_other_replicas_are_written_only_to_that_version_too(replicas: int) -> None:
    """An autoscaler may have raised them since."""
    assert scaling(1, replicas).bound_manifest["metadata"]["resourceVersion"] == "1"


# (metadata of the latest resource that differ, is it the same version)
LATEST: dict[str, tuple[Manifest | None, bool]] = {
    "unchanged": ({}, True),
    "only its status or annotations changed": ({"resourceVersion": "9", "annotations": {"a": "b"}}, True),
    "its spec changed": ({"generation": 2}, False),
    "it was replaced": ({"uid": "other"}, False),
    "it was deleted": (None, False),
    "it is being deleted": ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, False),
}


@pytest.mark.parametrize(("changed", "is_same"), LATEST.values(), ids=LATEST)
def test_only_the_latest_version_stops_pods(changed: Manifest | None, is_same: bool) -> None:
    resource = druid.resource()
    latest = None if changed is None else {**resource, "metadata": {**resource["metadata"], **changed}}
    based_on = inputs(Cluster.from_resource(resource), resource=resource)
    based_on = with_answers(based_on, latest=latest)
    assert outdated_resource(DraftPlan(based_on, (scaling(3, 1),))) == (() if is_same else (OUTDATED,))


def test_a_cluster_without_a_resource_has_no_other_version() -> None:
    resource = druid.resource()
    del resource["metadata"]["uid"]
    assert outdated_resource(DraftPlan(inputs(Cluster.from_resource(resource)), (scaling(3, 1),))) == ()
