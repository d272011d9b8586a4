# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster is taken over from the Go operator, and given back, without a restart: its own recorded objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.go_operator import (
    HASH,
    MANAGERS,
    WORKLOADS,
    GoOperator,
    identities,
    take_over,
)
from ansible_collections.druidops.druid.tests.system.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.live import MADE, MERGE, Live, Manifest, condition, without_status
from ansible_collections.druidops.druid.tests.system.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.control_plane import ControlPlane

ALL = "hand"
# The recording that has everything with each manager, the others with one each.
RECORDINGS = [
    *((ALL, manager) for manager in MANAGERS),
    *(
        (name, MANAGERS[position % len(MANAGERS)])
        for position, name in enumerate(name for name in recording.NAMES if name != ALL)
    ),
]


def hashes(live: Live) -> set[str]:
    """Return the kinds of objects that carry the Go operator's annotation."""
    return {kind for kind in MADE for each in live.list(kind) if HASH in (each["metadata"].get("annotations") or {})}


@pytest.mark.parametrize(("name", "manager"), RECORDINGS)
def test_takes_over_and_goes_back_without_a_restart(golden: Live, name: str, manager: str) -> None:
    operator = GoOperator(golden, name, manager).run()
    before = operator.settled()
    templates = pod_templates(golden)
    take_over(golden, name)
    assert identities(golden) == before
    assert hashes(golden) <= {"Deployment", "PersistentVolumeClaim"}
    # Or else Kubernetes would delete claims with the resource, whatever its flag says.
    assert not [each for each in golden.list("PersistentVolumeClaim") if "ownerReferences" in each["metadata"]]
    operator.write()
    assert pods(operator.settled()) == pods(before)
    assert pod_templates(golden) == templates


def pods(found: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Return the identities of the pods among those of all objects."""
    return {key: identity for key, identity in found.items() if key[0] == "Pod"}


def pod_templates(live: Live) -> dict[tuple[str, str], Any]:
    """Return the pod template of each workload: what restarts pods when it changes."""
    return {
        (kind, each["metadata"]["name"]): each["spec"]["template"] for kind in WORKLOADS for each in live.list(kind)
    }


def test_takes_over_what_says_nothing_of_its_fields(golden: Live) -> None:
    operator = GoOperator(golden, ALL).run()
    before = operator.settled()
    operator.forget_owners()
    take_over(golden, ALL)
    assert identities(golden) == before
    golden.merge(
        "Druid", ALL, {"spec": {"workloadAnnotations": None, "nodes": {"routers": {"ingressAnnotations": None}}}}
    )
    one_pass(golden, ALL)
    assert "owner" not in golden.get("StatefulSet", "druid-hand-routers")["metadata"].get("annotations", {})
    assert golden.get("Ingress", "druid-hand-routers")["metadata"].get("annotations", {}) == {}


def test_does_not_fight_a_go_operator_that_still_runs(golden: Live) -> None:
    operator = GoOperator(golden, ALL).run()
    before = pods(operator.settled())
    take_over(golden, ALL)
    operator.write()
    mark = golden.mark()
    outcome = one_pass(golden, ALL)
    assert outcome.report is not None
    assert [problem.reason for problem in outcome.report.problems] == ["Conflict"]
    assert without_status(golden.writes(mark)) == []
    degraded = condition(golden.get("Druid", ALL), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "Conflict")
    assert "druid.apache.org/take-over=true" in degraded["message"]
    # Its fields of the status are its own meanwhile: what it writes there stays, and costs us no write.
    theirs = {"druidNodeStatus": {"druidNode": "a-pod", "druidNodeConditionType": "DruidNodeErrorState"}, "pods": ["p"]}
    status = f"{golden.path('Druid', ALL)}/status"
    golden.plane.request("PATCH", status, {"status": theirs}, user="go-operator", content_type=MERGE)
    mark = golden.mark()
    one_pass(golden, ALL)
    assert golden.writes(mark) == []
    found = golden.get("Druid", ALL)["status"]
    assert (found["druidNodeStatus"] | theirs["druidNodeStatus"], found["pods"]) == (found["druidNodeStatus"], ["p"])

    golden.merge("Druid", ALL, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})
    take_over(golden, ALL)
    assert pods(operator.settled()) == before
    assert condition(golden.get("Druid", ALL), "Degraded")["status"] == "False"
    # The annotation has done its work: without it the cluster is ours as before.
    golden.merge("Druid", ALL, {"metadata": {"annotations": {"druid.apache.org/take-over": None}}})
    mark = golden.mark()
    assert one_pass(golden, ALL).plan.findings == ()
    assert without_status(golden.writes(mark)) == []


def test_one_write_of_the_go_operator_is_a_conflict(golden: Live) -> None:
    """It writes what differs from its hash, not everything at once."""
    operator = GoOperator(golden, ALL).run()
    take_over(golden, ALL)
    operator.write(lambda manifest: manifest["metadata"]["name"] == "druid-hand-routers-config")
    mark = golden.mark()
    outcome = one_pass(golden, ALL)
    assert [finding.reason for finding in outcome.plan.findings] == ["Conflict"]
    assert "ConfigMap druid-hand-routers-config" in outcome.plan.findings[0].message
    assert without_status(golden.writes(mark)) == []


@pytest.mark.parametrize("was_ours", [True, False], ids=["ours", "of the Go operator"])
def test_takes_over_the_children_of_a_resource_that_was_made_again(golden: Live, was_ours: bool) -> None:
    operator = GoOperator(golden, ALL).run()
    if was_ours:
        take_over(golden, ALL)
    before = operator.settled()
    old = orphaned(golden)
    golden.create({**recording.resource(ALL, "applied"), "metadata": {"name": ALL}})
    take_over(golden, ALL)
    assert identities(golden) == before
    uid = golden.get("Druid", ALL)["metadata"]["uid"]
    assert uid != old
    children = [each for each in owned_children(golden) if each["kind"] != "PersistentVolumeClaim"]
    owners = {owner["uid"] for each in children for owner in each["metadata"]["ownerReferences"]}
    assert owners == {uid}


def orphaned(live: Live) -> str:
    """Delete the resource but nothing that it owns, as kubectl delete --cascade=orphan does; return its uid."""
    resource = live.get("Druid", ALL)
    live.merge("Druid", ALL, {"spec": {"disablePVCDeletionFinalizer": True}})
    one_pass(live, ALL)
    live.delete("Druid", ALL, "Orphan")
    eventually(lambda: live.find("Druid", ALL) is None)
    uid: str = resource["metadata"]["uid"]
    return uid


def owned_children(live: Live) -> list[Manifest]:
    """Return all that the Go operator had made."""
    return [live.get(*key) for key in recording.owned_objects(ALL)]


def test_by_hand_says_first_what_it_would_do(golden: Live, control_plane: ControlPlane, tmp_path: Path) -> None:
    operator = GoOperator(golden, ALL).run()
    before = operator.settled()
    ansible = Ansible(CORES["2.19"], control_plane, golden.namespace, tmp_path)
    mark = golden.mark()
    checked = ansible.cluster(ALL, "--check", "--diff")
    assert checked.changed
    for kind, name in recording.owned_objects(ALL):
        assert f"change {kind} {name}" in checked.output
        assert f"+++ after: {kind} {golden.namespace}/{name}" in checked.output
    assert "restart" not in checked.output
    assert [write for write in golden.writes(mark) if not write.dry_run] == []
    assert ansible.cluster(ALL).changed
    assert identities(golden) == before
    assert not ansible.cluster(ALL).changed
