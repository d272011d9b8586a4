# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned PVCs on a real control plane: marked, then deleted; and what stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Clock
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.killed_run import dying_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

CLAIM = "PersistentVolumeClaim"
FIRST, SECOND = (f"data-{STATEFUL}-{ordinal}" for ordinal in range(2))
ANNOTATION = "druid.apache.org/orphaned-since"


def created(live: NamespaceClient, replicas: int = 2, **more: Any) -> None:
    """Create a cluster with a StatefulSet, whose pods have a PVC each."""
    historicals = full_cluster.historicals(replicas=replicas, **more)
    full_cluster.create(live, historicals=historicals, brokers=full_cluster.brokers())
    # The default.
    live.merge("Druid", NAME, {"spec": {"deleteOrphanPvc": None}})
    assert live.get("Druid", NAME)["spec"]["deleteOrphanPvc"]
    until_ready(live, NAME)


def pods(live: NamespaceClient) -> set[str]:
    """Return the names of the pods of the StatefulSet."""
    return {name for name in live.names("Pod") if name.startswith(STATEFUL)}


def scale(live: NamespaceClient, replicas: int = 1) -> None:
    """Scale the group, and wait for its pods."""
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"replicas": replicas}}}})
    one_pass(live, NAME)
    eventually(lambda: len(pods(live)) == replicas)
    eventually(lambda: live.get("StatefulSet", STATEFUL)["status"].get("readyReplicas") == replicas)


def grace(live: NamespaceClient, seconds: int) -> None:
    live.merge("Druid", NAME, {"spec": {"orphanPvcGracePeriodSeconds": seconds}})


def marked(live: NamespaceClient, name: str = SECOND) -> bool:
    metadata = live.get(CLAIM, name)["metadata"]
    labels, annotations = metadata["labels"], metadata.get("annotations") or {}
    parts = {"toBeDeleted" in labels, "deletionTS" in labels, ANNOTATION in annotations}
    assert len(parts) == 1, metadata
    return parts == {True}


def is_deleted_claim(live: NamespaceClient, name: str = SECOND) -> bool:
    return live.find(CLAIM, name) is None


def reported(live: NamespaceClient) -> list[Manifest]:
    found: list[Manifest] = live.get("Druid", NAME)["status"].get("orphanedPvcs", [])
    return found


def reasons_of_events(live: NamespaceClient, name: str = SECOND) -> set[str]:
    return {each["reason"] for each in live.list("Event") if f"PVC {name}: " in each["message"]}


def test_a_scale_down(live: NamespaceClient) -> None:
    created(live)
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"replicas": 1}}}})
    planned = one_pass(live, NAME, check_mode=True).plan
    [line] = [line for line in lines(planned) if "orphan" in line]
    assert line.endswith(f": {SECOND} (destructive)")
    assert planned.is_destructive
    scale(live)
    before = live.get(CLAIM, FIRST)
    planned = one_pass(live, NAME, check_mode=True).plan
    assert [step.title for step in planned.steps] == [f"update {CLAIM} {SECOND} (destructive)"]
    assert not marked(live)

    one_pass(live, NAME)
    assert marked(live)
    [found] = reported(live)
    assert (found["name"], "deletedAfter" in found) == (SECOND, True)
    outcome = one_pass(live, NAME)
    assert (outcome.plan.steps, outcome.report and outcome.report.requeue_after in range(1, 61)) == ((), True)
    grace(live, 0)
    planned = one_pass(live, NAME, check_mode=True).plan
    assert [step.title for step in planned.steps] == [f"delete {CLAIM} {SECOND} (destructive)"]
    one_pass(live, NAME)
    eventually(partial(is_deleted_claim, live))
    assert reported(live) == []
    assert reasons_of_events(live) == {"OrphanedPVCMarked", "OrphanedPVCDeleted"}
    assert live.get(CLAIM, FIRST)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert one_pass(live, NAME).plan.steps == ()


def test_a_removed_group(live: NamespaceClient) -> None:
    created(live, replicas=1)
    live.merge("Druid", NAME, {"spec": {"orphanPvcGracePeriodSeconds": 0, "nodes": {"historicals": None}}})

    def is_deleted() -> bool:
        one_pass(live, NAME)
        return is_deleted_claim(live, FIRST)

    eventually(is_deleted)
    assert reasons_of_events(live, FIRST) == {"OrphanedPVCMarked", "OrphanedPVCDeleted"}


@pytest.mark.parametrize("policy", ["whenScaled", "whenDeleted"])
def test_a_removed_group_that_retains_its_pvcs(live: NamespaceClient, policy: str) -> None:
    more = {"persistentVolumeClaimRetentionPolicy": {policy: "Retain"}}
    created(live, replicas=1, **more)
    live.merge("Druid", NAME, {"spec": {"orphanPvcGracePeriodSeconds": 0, "nodes": {"historicals": None}}})

    def is_removed() -> bool:
        one_pass(live, NAME)
        return not pods(live) and not one_pass(live, NAME).changed

    eventually(is_removed)
    assert live.get(CLAIM, FIRST)["metadata"]["annotations"][ANNOTATION] == "never"
    assert "It stays" in reported(live)[0]["message"]


@pytest.mark.parametrize("deletes", [True, False])
def test_a_removed_group_that_retains_its_pvcs_with_a_mark_of_the_go_operator(
    live: NamespaceClient, deletes: bool
) -> None:
    """Its mark, on a PVC that has had no pod, does not hide that the PVC is kept."""
    created(live, replicas=1, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain"})
    live.merge(CLAIM, FIRST, {"metadata": {"labels": {"toBeDeleted": "yes", "deletionTS": "1"}}})
    removed = {"deleteOrphanPvc": deletes, "orphanPvcGracePeriodSeconds": 0, "nodes": {"historicals": None}}
    live.merge("Druid", NAME, {"spec": removed})

    def is_removed() -> bool:
        outcome = one_pass(live, NAME)
        assert outcome.report is not None
        assert outcome.report.problems == ()
        return not pods(live) and not outcome.changed

    eventually(is_removed)
    live.merge("Druid", NAME, {"spec": {"deleteOrphanPvc": True}})
    for _time in range(3):
        one_pass(live, NAME)
    metadata = live.get(CLAIM, FIRST)["metadata"]
    assert (metadata["annotations"][ANNOTATION], "toBeDeleted" in metadata["labels"]) == ("never", False)


def test_a_person_unmarks_it(live: NamespaceClient) -> None:
    created(live)
    scale(live)
    one_pass(live, NAME)
    assert marked(live)
    live.merge(CLAIM, SECOND, {"metadata": {"labels": {"toBeDeleted": None, "deletionTS": None}}})
    grace(live, 0)
    for _time in range(2):
        one_pass(live, NAME)
    assert "toBeDeleted" not in live.get(CLAIM, SECOND)["metadata"]["labels"]
    assert "It stays" in reported(live)[0]["message"]


def test_a_mark_of_the_go_operator_is_not_trusted(live: NamespaceClient) -> None:
    """Its grace period is over when this collection takes the cluster over; the one here begins."""
    created(live)
    scale(live)
    live.merge(CLAIM, SECOND, {"metadata": {"labels": {"toBeDeleted": "yes", "deletionTS": "1700000000"}}})
    for _time in range(2):
        one_pass(live, NAME)
        assert marked(live)
    grace(live, 0)
    one_pass(live, NAME)
    eventually(partial(is_deleted_claim, live))


def test_it_is_used_again(live: NamespaceClient) -> None:
    created(live)
    scale(live)
    one_pass(live, NAME)
    uid = live.get(CLAIM, SECOND)["metadata"]["uid"]
    grace(live, 0)
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"replicas": 2}}}})
    one_pass(live, NAME)
    until_ready(live, NAME)
    one_pass(live, NAME)
    assert (marked(live), live.get(CLAIM, SECOND)["metadata"]["uid"]) == (False, uid)
    assert "OrphanedPVCUnmarked" in reasons_of_events(live)


@pytest.mark.parametrize("policy", [{}, {"whenScaled": "Retain"}, {"whenDeleted": "Retain"}], ids=str)
def test_an_explicit_policy(live: NamespaceClient, policy: dict[str, str]) -> None:
    created(live, **({"persistentVolumeClaimRetentionPolicy": policy} if policy else {}))
    scale(live)
    one_pass(live, NAME)
    assert marked(live) != ("whenScaled" in policy)


def test_an_autoscaler_of_another_owner(live: NamespaceClient) -> None:
    created(live)
    scale(live)
    spec = full_cluster.autoscaler("StatefulSet", STATEFUL, largest=2)
    live.create({"kind": "HorizontalPodAutoscaler", "metadata": {"name": "mine"}, "spec": spec})
    one_pass(live, NAME)
    assert not marked(live)
    live.merge("HorizontalPodAutoscaler", "mine", {"spec": {"maxReplicas": 1}})
    one_pass(live, NAME)
    assert marked(live)


def pod(live: NamespaceClient) -> None:
    """Create a pod of another owner that mounts the PVC."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": SECOND}}]
    containers = [{"name": "reader", "image": "reader"}]
    live.create({"kind": "Pod", "metadata": {"name": "reader"}, "spec": {"volumes": volumes, "containers": containers}})


def test_a_pod_of_another_owner(live: NamespaceClient) -> None:
    created(live)
    scale(live)
    one_pass(live, NAME)
    pod(live)
    grace(live, 0)
    one_pass(live, NAME)
    assert not marked(live)
    assert one_pass(live, NAME).plan.steps == ()


def problem_after(live: NamespaceClient, change: Callable[[], object]) -> str:
    """Reconcile, and make the change immediately before the deletion of the PVC; return the message of the problem."""

    def before(step: Step) -> None:
        if step.operation.verb == "delete":
            change()

    request = cluster_request(NAME, live.namespace, Options(announce=before))
    outcome = run(connection(live), request, lambda _text: None, Clock())
    [problem] = outcome.plan.findings
    return problem.message


def test_a_pod_that_is_created_after_the_plan(live: NamespaceClient) -> None:
    created(live)
    scale(live)
    one_pass(live, NAME)
    grace(live, 0)

    message = problem_after(live, lambda: pod(live))
    assert message == f"{CLAIM} {SECOND} is not deleted: pod reader mounts it."
    one_pass(live, NAME)
    assert not marked(live)


def test_a_change_of_the_pvc_after_the_plan(live: NamespaceClient) -> None:
    """The user removes the mark at the last moment."""
    created(live)
    scale(live)
    one_pass(live, NAME)
    grace(live, 0)

    unmarked = {"metadata": {"labels": {"toBeDeleted": None}}}
    assert "was modified concurrently" in problem_after(live, lambda: live.merge(CLAIM, SECOND, unmarked))
    one_pass(live, NAME)
    assert not is_deleted_claim(live)
    assert reported(live)[0]["name"] == SECOND


@pytest.mark.parametrize("is_sent", [False, True], ids=["before", "after"])
def test_an_interrupted_clean_up_is_finished(live: NamespaceClient, is_sent: bool) -> None:
    """Killed at the mark of the first of two PVCs, at that of the second one, and at each deletion."""
    created(live, replicas=3)
    kept, third = live.get(CLAIM, FIRST)["metadata"]["uid"], f"data-{STATEFUL}-2"
    scale(live)
    for number in (1, 2):
        dying_pass(live, NAME, number, is_sent, first="PATCH")
    until_ready(live, NAME)
    assert marked(live)
    assert marked(live, third)
    grace(live, 0)
    dying_pass(live, NAME, 1, is_sent)
    dying_pass(live, NAME, 1, is_sent)
    assert one_pass(live, NAME).plan.findings == ()
    eventually(lambda: is_deleted_claim(live) and is_deleted_claim(live, third))
    assert live.get(CLAIM, FIRST)["metadata"]["uid"] == kept
    assert not marked(live, FIRST)
    assert one_pass(live, NAME).plan.steps == ()


def test_a_stopped_cluster_keeps_all(live: NamespaceClient) -> None:
    created(live)
    live.merge("Druid", NAME, {"spec": {"stopped": True, "orphanPvcGracePeriodSeconds": 0}})
    one_pass(live, NAME)
    eventually(lambda: not pods(live))
    for _time in range(2):
        one_pass(live, NAME)
    assert not marked(live, FIRST)
    assert not marked(live)
