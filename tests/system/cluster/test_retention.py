# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the StatefulSet controller does with PVCs (persistentVolumeClaimRetentionPolicy) when a cluster is stopped."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_reached, until_ready
from ansible_collections.druidops.druid.tests.system.support.live import Live, Manifest
from ansible_collections.druidops.druid.tests.system.support.small_cluster import KEYS, resource, spec
from ansible_collections.druidops.druid.tests.system.support.waiting import eventually

CLAIM = "PersistentVolumeClaim"
POLICY = "persistentVolumeClaimRetentionPolicy"
BOTH = {"whenScaled": "Delete", "whenDeleted": "Delete"}


def retaining(policy: dict[str, str] = BOTH, replicas: int = 2, **more: Any) -> dict[str, Any]:
    """Return the specification of a cluster whose groups have a retention policy."""
    made = spec(replicas=replicas, **more)
    for node in made["nodes"].values():
        node[POLICY] = policy
    return made


def lasting_claims(live: Live) -> dict[str, str]:
    """Return name and uid of each PVC that is not being deleted."""
    found = (each["metadata"] for each in live.list(CLAIM) if not each["metadata"].get("deletionTimestamp"))
    return {each["name"]: each["uid"] for each in found}


def policies(live: Live) -> list[str]:
    """Return `whenScaled` of each StatefulSet."""
    return [each["spec"][POLICY]["whenScaled"] for each in live.list("StatefulSet")]


def owners(claim: Manifest) -> set[str]:
    return {each["kind"] for each in claim["metadata"].get("ownerReferences") or ()}


@pytest.mark.parametrize("stop", ["cluster", "groups"])
def test_pvcs_of_a_stopped_cluster_are_retained(live: Live, stop: str) -> None:
    live.create(resource("c", retaining()))
    until_ready(live, "c")
    before = lasting_claims(live)
    assert len(before) == 2 * len(KEYS)

    def patch(value: bool | None) -> Manifest:
        stopped = {"stopped": value}
        return {"spec": stopped if stop == "cluster" else {"nodes": dict.fromkeys(KEYS, stopped)}}

    live.merge("Druid", "c", patch(True))
    until_reached(live, "c")
    eventually(lambda: live.names("Pod") == set())
    assert policies(live) == ["Retain"] * len(KEYS)
    assert lasting_claims(live) == before
    assert not one_pass(live, "c").changed
    # none is condemned either: its owner would be the pod that has gone
    assert [owners(claim) - {"StatefulSet"} for claim in live.list(CLAIM)] == [set()] * len(before)

    live.merge("Druid", "c", patch(None))
    assert one_pass(live, "c").changed
    assert policies(live) == ["Retain"] * len(KEYS)
    until_ready(live, "c")
    assert policies(live) == ["Delete"] * len(KEYS)
    assert not one_pass(live, "c").changed
    assert lasting_claims(live) == before


def test_pvcs_of_pods_that_a_smaller_number_of_replicas_removes_are_deleted_as_specified(live: Live) -> None:
    live.create(resource("c", retaining()))
    until_ready(live, "c")
    before = lasting_claims(live)
    live.merge("Druid", "c", {"spec": {"nodes": {KEYS[0]: {"replicas": 1}}}})
    until_ready(live, "c")
    assert eventually(lambda: before.keys() - lasting_claims(live).keys()) == {f"data-druid-c-{KEYS[0]}-1"}


def test_pvcs_of_an_autoscaled_group_are_retained_while_it_is_stopped(live: Live) -> None:
    specification = retaining()
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": f"druid-c-{KEYS[0]}"}
    specification["nodes"][KEYS[0]]["hpAutoscaler"] = {"minReplicas": 2, "maxReplicas": 4, "scaleTargetRef": target}
    live.create(resource("c", specification))
    until_ready(live, "c")
    before = lasting_claims(live)
    live.merge("Druid", "c", {"spec": {"stopped": True}})
    until_reached(live, "c")
    eventually(lambda: live.names("Pod") == set())
    assert lasting_claims(live) == before
    live.merge("Druid", "c", {"spec": {"stopped": None}})
    until_ready(live, "c")
    eventually(lambda: not one_pass(live, "c").changed)
    assert policies(live) == ["Delete"] * len(KEYS)
    assert lasting_claims(live) == before
