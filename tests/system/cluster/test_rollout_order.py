# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In which order groups restart, and what of it does not wait, on a real control plane."""

from __future__ import annotations

from datetime import datetime

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    NEW,
    OLD,
    ONE,
    TYPES,
    create,
    group,
    image,
    order_of_restarts,
    pods,
    spec,
    unready_groups,
    workload,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

DIGEST = f"apache/druid@sha256:{'0' * 64}"
TIERS = {"hot": "historical", "cold": "historical", "brokers-b": "broker", "brokers": "broker", "masters": "overlord"}


def test_tiers_and_groups_of_one_type_in_the_specified_order(live: NamespaceClient) -> None:
    nodes = {key: group(key, kind, **ONE) for key, kind in TIERS.items()}
    live.create(resource(NAME, {**spec(), "rolloutOrder": ["broker", "historical"], "nodes": nodes}))
    one_pass(live, NAME)
    # A new cluster starts all groups at the same time.
    assert len(live.names("StatefulSet") | live.names("Deployment")) == len(TIERS)
    until_ready(live, NAME)
    before = pods(live)
    order = ["brokers", "brokers-b", "cold", "hot", "masters"]
    for version, expected in ((NEW, order), (OLD, order[::-1])):
        live.merge("Druid", NAME, {"spec": {"image": version}})
        assert order_of_restarts(live) == expected
    assert not before.items() & pods(live).items()


@pytest.mark.parametrize("other", [DIGEST, "apache/druid:latest"], ids=["digest", "latest"])
def test_an_unknown_version_restarts_in_the_order_of_an_upgrade(live: NamespaceClient, other: str) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    live.merge("Druid", NAME, {"spec": {"image": other}})
    warning = f"the tag of image {other} is not a version"
    planned = plan_output.lines(one_pass(live, NAME, check_mode=True).plan)
    assert [text.split()[3] for text in planned if text.startswith("restart ")] == list(TYPES)
    assert warning in "\n".join(planned)
    one_pass(live, NAME)
    assert warning in condition(live.get("Druid", NAME), "RolloutWarnings")["message"]
    assert [image(live, key) for key in TYPES] == [other, OLD, OLD, OLD]
    assert order_of_restarts(live) == list(TYPES)[1:]
    assert "RolloutWarnings" not in {each["type"] for each in live.get("Druid", NAME)["status"]["conditions"]}


def test_all_groups_at_once(live: NamespaceClient) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    live.merge("Druid", NAME, {"spec": {"image": NEW, "rollingDeploy": False}})
    assert set(one_pass(live, NAME).plan.restarts) == set(TYPES)
    assert {image(live, key) for key in TYPES} == {NEW}
    until_ready(live, NAME)


def ready_since(pod: Manifest) -> datetime:
    [text] = [each["lastTransitionTime"] for each in pod["status"]["conditions"] if each["type"] == "Ready"]
    return datetime.fromisoformat(text)


def test_the_next_group_waits_for_the_time_in_which_a_pod_must_be_ready(live: NamespaceClient) -> None:
    seconds = 3
    create(live, **dict.fromkeys(TYPES, ONE))
    nodes = {"historicals": {"image": NEW, "minReadySeconds": seconds}, "brokers": {"image": NEW}}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    held: list[str] = []

    def has_come_to_the_brokers() -> bool:
        restarts = one_pass(live, NAME).plan.restarts
        status = workload(live, "historicals")["status"]
        if not unready_groups(live) and status.get("updatedReplicas") == 1 and image(live, "brokers") == OLD:
            held.append(condition(live.get("Druid", NAME), "Ready")["status"])
        return "brokers" in restarts

    eventually(has_come_to_the_brokers)
    assert set(held) == {"False"}
    until_ready(live, NAME)
    [historical], [broker] = (
        [each for each in live.list("Pod") if each["metadata"]["name"] in pods(live, key)]
        for key in ("historicals", "brokers")
    )
    created = datetime.fromisoformat(broker["metadata"]["creationTimestamp"])
    assert (created - ready_since(historical)).total_seconds() >= seconds - 1


def test_pods_that_their_strategy_keeps_are_not_waited_for(live: NamespaceClient) -> None:
    partition = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
    create(live, historicals={"updateStrategy": {"type": "OnDelete"}}, middlemanagers=partition)
    before = pods(live)
    live.merge("Druid", NAME, {"spec": {"image": NEW}})
    order = order_of_restarts(live)
    assert [key for key in order if key != "historicals"] == ["middlemanagers", "brokers", "coordinators"]
    kept = before.items() & pods(live).items()
    assert sorted(name for name, _uid in kept) == [
        "druid-c-historicals-0",
        "druid-c-historicals-1",
        "druid-c-middlemanagers-0",
    ]
    assert {image(live, key) for key in TYPES} == {NEW}
    rolling = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}
    live.merge("Druid", NAME, {"spec": {"nodes": dict.fromkeys(("historicals", "middlemanagers"), rolling)}})
    assert order_of_restarts(live) == ["historicals", "middlemanagers"]
    assert not before.items() & pods(live).items()


def test_a_group_that_has_to_be_recreated_stays_as_it_is_until_its_turn(live: NamespaceClient) -> None:
    create(live)
    policy = {"podManagementPolicy": "OrderedReady", "replicas": 3}
    nodes = {"middlemanagers": policy, "brokers": {"replicas": 3}}
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": nodes}})
    planned = "\n".join(plan_output.lines(one_pass(live, NAME).plan))
    assert "later: recreate StatefulSet druid-c-middlemanagers" in planned
    assert [workload(live, key)["spec"]["replicas"] for key in TYPES] == [2, 2, 3, 2]
    before = workload(live, "middlemanagers")["metadata"]["uid"]
    assert order_of_restarts(live) == list(TYPES)[1:]
    after = workload(live, "middlemanagers")
    assert (after["metadata"]["uid"] != before, after["spec"]["replicas"]) == (True, 3)


def test_the_next_group_waits_for_pods_that_start_and_end_slowly(live: NamespaceClient) -> None:
    create(live)
    slow = {"test/ready-delay": "1s", "test/delete-delay": "1s"}
    nodes: dict[str, Manifest] = {key: {"podAnnotations": slow} for key in TYPES}
    # Its new pods are ready before an old one ends.
    nodes["brokers"] = {"podAnnotations": {"test/ready-delay": "1s"}}
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": nodes}})
    assert order_of_restarts(live) == list(TYPES)
    live.merge("Druid", NAME, {"spec": {"image": OLD}})
    assert order_of_restarts(live) == list(reversed(TYPES))
    assert {image(live, key) for key in TYPES} == {OLD}


STALLS = {"test/ready": "never"}


@pytest.mark.parametrize("version", ["apache/druid:38.0.0", OLD], ids=["further", "back"])
def test_a_change_in_the_middle_of_a_rollout(live: NamespaceClient, version: str) -> None:
    """It is written at once to the group whose pods are being replaced; what already has it does not restart."""
    create(live)
    before = pods(live)
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": {"middlemanagers": {"podAnnotations": STALLS}}}})
    eventually(lambda: one_pass(live, NAME) and image(live, "middlemanagers") == NEW)
    eventually(lambda: unready_groups(live) == {"middlemanagers"})
    live.merge("Druid", NAME, {"spec": {"image": version, "nodes": {"middlemanagers": {"podAnnotations": None}}}})
    assert one_pass(live, NAME).plan.restarts == ("middlemanagers",)
    assert [image(live, key) for key in TYPES] == [NEW, version, OLD, OLD]
    rest = ["historicals"] if version == OLD else ["historicals", "brokers", "coordinators"]
    assert order_of_restarts(live) == rest
    kept = {name for name, _uid in before.items() & pods(live).items()}
    others = pods(live, "brokers") | pods(live, "coordinators")
    assert kept == ({*others, "druid-c-middlemanagers-0"} if version == OLD else set())
