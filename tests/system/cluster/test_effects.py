# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan reports what the controllers of a cluster do because of it, before they do it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

NAME = "c"
CLAIM = "PersistentVolumeClaim"
BROKERS = f"druid-{NAME}-brokers"
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": BROKERS}


def claims(live: NamespaceClient) -> set[str]:
    """Return the PVCs that are not being deleted."""
    found = (each["metadata"] for each in live.list(CLAIM) if not each["metadata"].get("deletionTimestamp"))
    return {each["name"] for each in found}


def create(live: NamespaceClient, **brokers: Any) -> None:
    """Create a cluster of two groups with three pods each, and wait for its PVCs."""
    specification = small_cluster.spec(replicas=3)
    for node in specification["nodes"].values():
        node["persistentVolumeClaimRetentionPolicy"] = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    specification["nodes"]["brokers"] |= brokers
    live.create(small_cluster.resource(NAME, specification))
    until_ready(live, NAME)


def autoscaler(largest: int) -> Manifest:
    return {"minReplicas": 1, "maxReplicas": largest, "scaleTargetRef": TARGET}


class Change(NamedTuple):
    """A change, and the PVCs and the lines of the plan because of it."""

    what: str
    brokers: dict[str, Any] | None
    deleted: set[str]
    lines: list[str]


def deleted_claims(*ordinals: int) -> list[str]:
    return [f"delete {CLAIM} data-{BROKERS}-{ordinal} (whenScaled: Delete) (destructive)" for ordinal in ordinals]


KEPT = ", ".join(f"data-{BROKERS}-{ordinal}" for ordinal in range(3))
CHANGES = [
    Change(
        "fewer replicas",
        {"replicas": 1},
        {f"data-{BROKERS}-1", f"data-{BROKERS}-2"},
        [f"stop 2 pods of StatefulSet {BROKERS}", *deleted_claims(1, 2)],
    ),
    Change(
        "a lower maximum of an autoscaler",
        {"hpAutoscaler": autoscaler(2)},
        {f"data-{BROKERS}-2"},
        [f"stop 1 pod of StatefulSet {BROKERS}", *deleted_claims(2)],
    ),
    Change("a stop", {"stopped": True}, set(), [f"stop 3 pods of StatefulSet {BROKERS}"]),
    Change(
        "a removed group",
        None,
        set(),
        [
            f"stop 3 pods of StatefulSet {BROKERS}",
            f"retain 3 PVCs of StatefulSet {BROKERS}: {KEPT}",
            f"the name {BROKERS} no longer resolves (Service deleted)",
        ],
    ),
]


# Of these, `make test` has one that deletes PVCs, and one that retains them.
QUICK = ("fewer replicas", "a removed group")
EXHAUSTIVE = campaign("two changes, one that deletes PVCs and one that retains them")


@pytest.mark.parametrize(
    "change",
    [pytest.param(each, id=each.what, marks=() if each.what in QUICK else EXHAUSTIVE) for each in CHANGES],
)
def test_the_plan_names_what_the_controllers_do(ansible: Ansible, live: NamespaceClient, change: Change) -> None:
    create(live, **({"hpAutoscaler": autoscaler(3)} if "autoscaler" in change.what else {}))
    before = claims(live)
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": change.brokers}}})
    planned = ansible.task("--check", "--diff", "-v", name=NAME)
    [result] = planned.results
    assert [line for line in change.lines if line not in result["plan"]] == []
    assert [line for line in change.lines if line not in planned.output] == []
    assert {line.split()[2] for line in result["plan"] if "(whenScaled: Delete)" in line} == change.deleted
    # without the only Broker there are no queries
    assert result["destructive"] == bool(change.deleted or change.brokers is None)
    assert claims(live) == before

    applied = ansible.task("-v", name=NAME, wait=True)
    assert applied.results[0]["destructive"] == result["destructive"]
    assert eventually(lambda: before - claims(live) == change.deleted)
    assert not one_pass(live, NAME).changed
    assert claims(live) == before - change.deleted


# (change of the brokers, None: removed; is a PVC deleted)
SUBMITTED: dict[str, tuple[dict[str, Any] | None, bool]] = {
    "fewer replicas": ({"replicas": 1}, True),
    "a stop": ({"stopped": True}, False),
    "a removed group": (None, True),
}


@pytest.mark.parametrize(("change", "is_destructive"), SUBMITTED.values(), ids=SUBMITTED)
def test_a_resource_that_stops_pods_is_planned(
    live: NamespaceClient, change: dict[str, Any] | None, is_destructive: bool
) -> None:
    """In check mode, the resource has the generation of a dry run."""
    create(live, persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete", "whenDeleted": "Delete"})
    before = claims(live)
    resource = live.get("Druid", NAME)
    nodes = resource["spec"]["nodes"]
    submitted = {
        **small_cluster.resource(NAME),
        "metadata": {"name": NAME, "namespace": live.namespace},
        "spec": {**resource["spec"], "nodes": nodes | {"brokers": nodes["brokers"] | (change or {})}},
    }
    if change is None:
        del submitted["spec"]["nodes"]["brokers"]
    planned = one_pass(live, NAME, check_mode=True, resource=submitted)
    assert planned.problems == ()
    assert planned.plan.is_destructive == is_destructive
    assert (claims(live), live.get("Druid", NAME)["spec"]) == (before, resource["spec"])

    applied = one_pass(live, NAME, resource=submitted)
    assert plan_output.lines(applied.plan) == plan_output.lines(planned.plan)
    assert applied.plan.is_destructive == is_destructive


def test_a_pipeline_can_stop_on_a_destructive_plan(each_ansible: Ansible, live: NamespaceClient) -> None:
    create(live)
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 1}}}})
    planned = {
        "druidops.druid.cluster": {"name": NAME, "namespace": live.namespace},
        "check_mode": True,
        "register": "planned",
    }
    stop = {"ansible.builtin.assert": {"that": "not planned.destructive", "fail_msg": "it deletes PVCs"}}
    assert "it deletes PVCs" in each_ansible.tasks(planned, stop, status=2).output
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 3}}}})
    each_ansible.tasks(planned, stop)


LATEST = "the tag of image apache/druid:latest is not a version"


def change_image(live: NamespaceClient) -> None:
    live.merge("Druid", NAME, {"spec": {"rollingDeploy": True, "image": "apache/druid:latest"}})


def test_an_unknown_version_is_reported(live: NamespaceClient) -> None:
    """In the plan before it, then by one event, and by a condition as long as it lasts."""
    create(live)
    change_image(live)
    planned = one_pass(live, NAME, check_mode=True)
    assert [text for text in planned.plan.rollout_warnings if LATEST in text]
    assert reported(live) == []
    one_pass(live, NAME)
    # The next ones may already restart the last group, about whose order there is nothing to say.
    assert condition(live.get("Druid", NAME), "RolloutWarnings")["message"].startswith(LATEST)
    for _time in range(2):
        one_pass(live, NAME)
    assert [(count, LATEST in message) for message, count in reported(live)] == [(1, True)]
    until_ready(live, NAME)
    kinds = {each["type"] for each in live.get("Druid", NAME)["status"]["conditions"]}
    assert "RolloutWarnings" not in kinds
    assert [(count, LATEST in message) for message, count in reported(live)] == [(1, True)]


def reported(live: NamespaceClient) -> list[tuple[str, int]]:
    """Return the events about rollouts, with their counts."""
    return [(each["message"], each["count"]) for each in live.list("Event") if each["reason"] == "RolloutWarning"]
