# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The StatefulSet is removed from the owners of retained PVCs before it is deleted."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import drop_blocked
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.retain import disown, retain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_changes import (
    cluster_and_desired,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, Server

Manifest = dict[str, Any]

POLICY = "persistentVolumeClaimRetentionPolicy"
DELETE = {"whenScaled": "Retain", "whenDeleted": "Delete"}
RETAIN = {"whenScaled": "Retain", "whenDeleted": "Retain"}
PATCH_TEST_FAILED = Response(
    422, {"message": "the server rejected our request due to an error in our request", "details": {"name": "p"}}
)


def stateful_set(policy: Manifest | None, observed: int = 1) -> Manifest:
    live = stored(druid.rendered("StatefulSet"))
    live["spec"][POLICY] = policy
    live["status"] = {"observedGeneration": observed}
    return live


def claim(name: str, *owners: str) -> Manifest:
    labels = {"app": "druid", "druid_cr": "c", "nodeSpecUniqueStr": "druid-c-brokers"}
    references = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "x", "uid": uid} for uid in owners]
    metadata = {"name": name, "namespace": "ns", "labels": labels, "uid": f"uid-of-{name}", "resourceVersion": "5"}
    return {"kind": "PersistentVolumeClaim", "metadata": {**metadata, "ownerReferences": references}}


OWNER = "uid-of-druid-c-brokers"
OWNED, SHARED, FREE = claim("owned", OWNER), claim("shared", "other", OWNER), claim("free", "other")


@pytest.mark.parametrize(
    ("live", "claims", "patched"),
    [
        (stateful_set(DELETE), [], ["/whenDeleted"]),
        (stateful_set(RETAIN), [OWNED], []),
        (stateful_set(RETAIN, observed=0), [], []),
        (stateful_set(RETAIN, observed=0), [OWNED], ["/whenDeleted"]),
        (stateful_set(None), [FREE], []),
        (stateful_set(None, observed=0), [OWNED], [""]),
    ],
)
def test_only_policies_that_delete_pvcs_are_changed(live: Manifest, claims: list[Manifest], patched: list[str]) -> None:
    steps = retain([live], claims)
    assert [step.patch and step.patch[1]["path"] for step in steps] == [f"/spec/{POLICY}{path}" for path in patched]
    assert [(step.after or {})["spec"][POLICY]["whenDeleted"] for step in steps] == ["Retain"] * len(patched)
    assert not any(step.restart.is_requested for step in steps)


def test_only_references_to_the_owner_are_removed() -> None:
    terminating = deepcopy(claim("terminating", OWNER))
    terminating["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    steps = disown([OWNED, SHARED, FREE, terminating], [stateful_set(DELETE)])
    found = {step.key.name: [each["uid"] for each in step.patch[1]["value"]] for step in steps if step.patch}
    assert found == {"owned": [], "shared": ["other"]}


@pytest.mark.parametrize(
    ("nodes", "deleted"),
    [
        pytest.param({"others": druid.NODE}, ["owned"], id="group removed"),
        pytest.param({"brokers": {**druid.NODE, "kind": "Deployment"}}, [], id="group becomes a Deployment"),
    ],
)
def test_pvcs_are_deleted_only_with_their_group_and_only_those_without_another_owner(
    nodes: Manifest, deleted: list[str]
) -> None:
    cluster, desired = cluster_and_desired(nodes=nodes)
    live = stateful_set(DELETE)
    observed = Observed().with_objects([live, OWNED, SHARED, FREE])
    steps = [step for step in removed_objects(cluster, desired, observed) if step.operation.verb == "delete"]
    assert [step.key.name for step in steps if step.key.kind == "PersistentVolumeClaim"] == deleted
    assert "StatefulSet" in {step.key.kind for step in steps}


def test_pvcs_are_released_when_the_controller_has_observed_the_policy(server: Server, api: KubernetesApi) -> None:
    unobserved, observed = stateful_set(RETAIN, observed=0), stateful_set(RETAIN)
    server.responses = [
        Response(body=unobserved),
        Response(body=unobserved),
        Response(body=observed),
        Response(body={"items": [OWNED, FREE]}),
        Response(body=OWNED),
    ]
    [result] = execute(retain([stateful_set(DELETE)], []), Context(api))
    assert result.is_done
    assert [request.method for request in server.requests] == ["PATCH", "GET", "GET", "GET", "PATCH"]
    assert "/persistentvolumeclaims/owned?" in server.requests[-1].path


def test_stateful_set_is_not_deleted_before_the_policy_is_observed(server: Server, api: KubernetesApi) -> None:
    server.responses = [Response(body=stateful_set(RETAIN, observed=0))]
    live = stateful_set(DELETE)
    changed, deleted = execute([*retain([live], []), Delete(live=live)], Context(api))
    assert "the StatefulSet controller has not observed whenDeleted: Retain after 10 s" in (changed.error or "")
    assert not deleted.was_tried


def applied(policy: Manifest | None, before: Manifest, observed: int = 1) -> tuple[Step, Manifest]:
    """Return the update of a StatefulSet, and the object after it."""
    manifest = druid.rendered("StatefulSet")
    manifest["spec"][POLICY] = policy
    return Apply(manifest=manifest, group="brokers", live=before, after=before), stateful_set(policy, observed)


def test_an_update_to_retain_releases_the_pvcs_that_have_no_pod(server: Server, api: KubernetesApi) -> None:
    step, after = applied(RETAIN, stateful_set(DELETE))
    server.responses = [
        Response(body=after),
        Response(body=after),
        Response(body={"items": [OWNED, FREE]}),
        Response(body=OWNED),
    ]
    [result] = execute([step], Context(api))
    assert result.is_done
    assert [request.method for request in server.requests] == ["PATCH", "GET", "GET", "PATCH"]
    assert "druid_cr" not in server.requests[2].path
    assert "/persistentvolumeclaims/owned?" in server.requests[-1].path


def test_an_update_to_retain_fails_until_the_controller_has_observed_it(server: Server, api: KubernetesApi) -> None:
    step, after = applied(RETAIN, stateful_set(DELETE), observed=0)
    server.responses = [Response(body=after)]
    [result] = execute([step], Context(api))
    assert result.error == (
        "StatefulSet druid-c-brokers may still be deleted with its PVCs: the StatefulSet controller has not observed "
        "whenDeleted: Retain after 10 s. The next reconcile retries; check kube-controller-manager if it persists."
    )


@pytest.mark.parametrize(("before", "after"), [(RETAIN, RETAIN), (DELETE, DELETE), (RETAIN, DELETE), (None, None)])
def test_other_updates_release_nothing(server: Server, api: KubernetesApi, before: Any, after: Any) -> None:
    step, written = applied(after, stateful_set(before))
    server.responses = [Response(body=written)]
    assert execute([step], Context(api))[0].is_done
    assert len(server.requests) == 1


@pytest.mark.parametrize("response", [Response(404, {"details": {"name": "p"}}), PATCH_TEST_FAILED])
def test_deleted_pvc_needs_no_release(server: Server, api: KubernetesApi, response: Response) -> None:
    server.responses = [response, Response(404, {"details": {"name": "p"}})]
    [result] = execute(disown([OWNED], [stateful_set(DELETE)]), Context(api))
    assert (result.is_done, result.live) == (True, None)


def test_concurrently_changed_pvc_is_released(server: Server, api: KubernetesApi) -> None:
    later = deepcopy(SHARED)
    later["metadata"] |= {"uid": OWNED["metadata"]["uid"], "resourceVersion": "6"}
    server.responses = [PATCH_TEST_FAILED, Response(body=later), Response(body=later)]
    [result] = execute(disown([OWNED], [stateful_set(DELETE)]), Context(api))
    assert result.is_done
    assert server.requests[-1].document[0]["value"] == "6"
    assert [each["uid"] for each in server.requests[-1].document[1]["value"]] == ["other"]


def test_a_pvc_that_was_released_meanwhile_is_not_written(server: Server, api: KubernetesApi) -> None:
    later = deepcopy(FREE)
    later["metadata"] |= {"uid": OWNED["metadata"]["uid"], "resourceVersion": "6"}
    server.responses = [PATCH_TEST_FAILED, Response(body=later)]
    [result] = execute(disown([OWNED], [stateful_set(DELETE)]), Context(api))
    assert (result.is_done, result.live) == (True, later)
    assert [request.method for request in server.requests] == ["PATCH", "GET"]


def removed(live: Manifest, **spec: Any) -> list[tuple[str, str]]:
    """Return the steps if the group of the StatefulSet is removed."""
    cluster = druid.cluster(nodes={"others": druid.NODE}, **spec)
    observed = Observed().with_objects([live, OWNED, FREE])
    steps = removed_objects(cluster, render(cluster), observed)
    assert drop_blocked(steps, [Finding("Reason", "message", "others")]) == ()
    return [(step.operation.verb, step.key.name) for step in steps]


def test_pvcs_of_a_removed_group_are_deleted_only_if_specified() -> None:
    name = "druid-c-brokers"
    assert removed(stateful_set(DELETE)) == [("delete", name), ("delete", "owned")]
    assert removed(stateful_set(RETAIN)) == [("update", "owned"), ("delete", name)]
    kept = [("update", name), ("update", "owned"), ("delete", name)]
    assert removed(stateful_set(DELETE), disablePVCDeletionFinalizer=True) == kept
    assert removed(stateful_set(RETAIN, observed=0)) == kept
