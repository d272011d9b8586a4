# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The PVCs of a stopped group are retained, regardless of whenScaled in persistentVolumeClaimRetentionPolicy."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import (
    ignored_policies,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import (
    converged,
    stored,
    written_by,
)

Manifest = dict[str, Any]

FIELD = "persistentVolumeClaimRetentionPolicy"
DELETE, RETAIN = {"whenScaled": "Delete"}, {"whenScaled": "Retain"}
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "druid-c-brokers"}
AUTOSCALED = {"hpAutoscaler": {"maxReplicas": 5, "scaleTargetRef": TARGET}}


def node(policy: Manifest | None, **more: Any) -> Manifest:
    return {"replicas": 2, FIELD: policy, **more}


@pytest.mark.parametrize("where", ["group", "cluster"])
@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (None, RETAIN),
        (RETAIN, RETAIN),
        (DELETE, RETAIN),
        ({"whenDeleted": "Delete"}, {"whenDeleted": "Delete", **RETAIN}),
        ({"whenDeleted": "Delete", **DELETE}, {"whenDeleted": "Delete", **RETAIN}),
    ],
)
def test_retained_while_stopped(where: str, policy: Manifest | None, expected: Manifest) -> None:
    stopped = {"stopped": True}
    group, cluster = (stopped, {}) if where == "group" else ({}, stopped)
    spec = druid.rendered("StatefulSet", node(policy, **group), **cluster)["spec"]
    assert (spec["replicas"], spec[FIELD]) == (0, expected)


def live_set(policy: Manifest | None, number: int, **status: Any) -> Manifest:
    """Return a StatefulSet whose replicas are all ready, except for the fields in `status`."""
    live = stored(druid.rendered("StatefulSet", node(policy, replicas=number)))
    live["status"] = {"observedGeneration": 1, "replicas": number, "readyReplicas": number, **status}
    return live


# (live StatefulSet, other fields of the group, rendered policy for a specified Delete)
RESUMED: dict[str, tuple[Manifest | None, Manifest, Manifest]] = {
    "new": (None, {}, DELETE),
    "running": (live_set(DELETE, 2), {}, DELETE),
    "starting for the first time": (live_set(DELETE, 2, readyReplicas=0), {}, DELETE),
    "stopped until now": (live_set(RETAIN, 0), {}, RETAIN),
    "stopped without a policy": (live_set(None, 0), {}, RETAIN),
    "not all pods created": (live_set(RETAIN, 2, replicas=1), {}, RETAIN),
    "not all pods ready": (live_set(RETAIN, 2, readyReplicas=1), {}, RETAIN),
    "not observed by the controller": (live_set(RETAIN, 2, observedGeneration=0), {}, RETAIN),
    "pods from before the stop": (live_set(RETAIN, 0, replicas=2, readyReplicas=2), {}, RETAIN),
    "fewer replicas": (live_set(RETAIN, 3), {}, RETAIN),
    "no replicas": (live_set(RETAIN, 0), {"replicas": 0}, RETAIN),
    "ready": (live_set(RETAIN, 2), {}, DELETE),
    "autoscaled, stopped until now": (live_set(RETAIN, 0), AUTOSCALED, RETAIN),
    "autoscaled, not ready": (live_set(RETAIN, 4, readyReplicas=3), AUTOSCALED, RETAIN),
    "autoscaled, ready": (live_set(RETAIN, 4), AUTOSCALED, DELETE),
}


def rendered(live: Manifest | None, more: Manifest) -> Manifest:
    cluster = druid.cluster(node(DELETE, **more))
    observed = Observed().with_objects([live] if live else [])
    desired = render(cluster, observed.preserved(cluster)).groups["brokers"]
    [found] = [manifest for manifest in desired if manifest["kind"] == "StatefulSet"]
    return found


@pytest.mark.parametrize(("live", "more", "expected"), RESUMED.values(), ids=RESUMED)
def test_delete_is_set_again_when_all_replicas_are_ready(
    live: Manifest | None, more: Manifest, expected: Manifest
) -> None:
    assert rendered(live, more)["spec"][FIELD] == expected


@pytest.mark.parametrize(("more", "has_replicas"), [({}, True), (AUTOSCALED, False)])
def test_delete_is_set_only_with_the_observed_replicas(more: Manifest, has_replicas: bool) -> None:
    """A concurrent run may have stopped the group."""
    cluster = druid.cluster(node(DELETE, **more))
    live = live_set(RETAIN, 2)
    observed = converged(render(cluster)).with_objects([live])
    desired = render(cluster, observed.preserved(cluster))
    [step] = [step for step in changed_objects(cluster, desired, observed) if step.key.kind == "StatefulSet"]
    sent = step.bound_manifest
    assert sent["spec"][FIELD] == DELETE
    assert ("replicas" in sent["spec"]) is has_replicas
    assert sent["metadata"]["uid"] == live["metadata"]["uid"]
    assert sent["metadata"]["resourceVersion"] == "1"


def test_update_of_other_fields_needs_no_resource_version() -> None:
    cluster = druid.cluster(node(DELETE, **AUTOSCALED))
    observed = converged(render(cluster))
    [live] = [deepcopy(found) for found in observed.of_kind("StatefulSet")]
    live["spec"]["minReadySeconds"] = 7
    desired = render(druid.cluster(node(DELETE, minReadySeconds=8, **AUTOSCALED)))
    [step] = changed_objects(cluster, desired, observed.with_objects([live]))
    assert "resourceVersion" not in step.bound_manifest["metadata"]


# (live policy, policy of the spec, disablePVCDeletionFinalizer, policy of the manifest)
FOREIGN: dict[str, tuple[Manifest, Manifest | None, bool, Manifest | None]] = {
    "another manager deletes, the cluster retains": ({"whenDeleted": "Delete"}, None, True, {"whenDeleted": "Retain"}),
    "beside another field": ({"whenDeleted": "Delete"}, DELETE, True, {"whenDeleted": "Retain", **DELETE}),
    "another manager deletes": ({"whenDeleted": "Delete"}, None, False, None),
    "another manager retains": ({"whenDeleted": "Retain"}, None, True, None),
}


@pytest.mark.parametrize(("live", "policy", "keeps", "expected"), FOREIGN.values(), ids=FOREIGN)
def test_the_flag_overrides_a_policy_of_another_manager(
    live: Manifest, policy: Manifest | None, keeps: bool, expected: Manifest | None
) -> None:
    found = written_by("kubectl", druid.rendered("StatefulSet", node({**DELETE, **live})))
    cluster = druid.cluster(node(policy), disablePVCDeletionFinalizer=keeps)
    rendered_set = [
        manifest
        for manifest in render(cluster, Observed().with_objects([found]).preserved(cluster)).groups["brokers"]
        if manifest["kind"] == "StatefulSet"
    ]
    assert rendered_set[0]["spec"].get(FIELD) == expected


def test_the_policy_that_overrides_another_manager_is_stable() -> None:
    cluster = druid.cluster(node({"whenDeleted": "Retain"}), disablePVCDeletionFinalizer=True)
    observed = converged(render(cluster))
    unset = druid.cluster(node(None), disablePVCDeletionFinalizer=True)
    assert changed_objects(unset, render(unset, observed.preserved(unset)), observed) == ()


@pytest.mark.parametrize("value", ["Delete", "Retain"])
def test_retained_pvcs_are_not_deleted_with_the_stateful_set(value: str) -> None:
    policy = {"whenDeleted": value}
    cluster = druid.cluster(node(policy), disablePVCDeletionFinalizer=True)
    desired = render(cluster)
    [found] = [each for each in desired.groups["brokers"] if each["kind"] == "StatefulSet"]
    assert found["spec"][FIELD] == {"whenDeleted": "Retain"}
    assert len([*ignored_policies(inputs(cluster))]) == (value == "Delete")
    assert [*ignored_policies(inputs(druid.cluster(node(policy))))] == []
