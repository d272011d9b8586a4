# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What does not happen on a real control plane: an upgrade that overtakes a group, and a cluster that is emptied."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.admission import refusing
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_reached,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    NEW,
    OLD,
    ONE,
    TYPES,
    create,
    group,
    image,
    images,
    order_of_restarts,
    pods,
    unique_name,
    workload,
)

OVERRIDE = "druid.apache.org/restart-out-of-order"


def test_a_group_that_a_policy_refuses_is_not_overtaken(live: NamespaceClient) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    with refusing(live, "StatefulSet", unique_name("historicals")):
        nodes = {"brokers": {"replicas": 2}, "cold": group("cold", "historical", **ONE)}
        live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": nodes}})
        while one_pass(live, NAME).changed:
            pass
        assert images(live) == dict.fromkeys(TYPES, OLD)
        assert (image(live, "cold"), workload(live, "brokers")["spec"]["replicas"]) == (NEW, 2)
        warning = condition(live.get("Druid", NAME), "RolloutWarnings")["message"]
        assert warning.startswith("middlemanagers, brokers, coordinators restart after historicals, which is blocked")
        assert OVERRIDE in warning
        assert f"warning: {warning}" in lines(one_pass(live, NAME, check_mode=True).plan)
        live.merge("Druid", NAME, {"metadata": {"annotations": {OVERRIDE: "true"}}})
        one_pass(live, NAME)
        assert images(live) == {**dict.fromkeys(TYPES, OLD), "middlemanagers": NEW}
    live.merge("Druid", NAME, {"metadata": {"annotations": {OVERRIDE: None}}})
    until_ready(live, NAME)
    assert images(live) == dict.fromkeys(TYPES, NEW)


def test_the_rest_of_an_upgrade_follows_in_order(live: NamespaceClient) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    with refusing(live, "Deployment", unique_name("brokers")):
        live.merge("Druid", NAME, {"spec": {"image": NEW}})
        until_problem = [one_pass(live, NAME) for _pass in range(3)]
        assert {finding.group for outcome in until_problem for finding in outcome.plan.findings} == {"brokers"}
        assert image(live, "coordinators") == OLD
    assert order_of_restarts(live)[-2:] == ["brokers", "coordinators"]


def test_a_cluster_whose_groups_were_removed_stays(live: NamespaceClient, ansible: Ansible) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    before = pods(live)
    live.merge("Druid", NAME, {"spec": {"nodes": dict.fromkeys(TYPES)}})
    planned = ansible.cluster(NAME, "--check", status=2)
    assert "blocked: spec.nodes: there is no group" in planned.output
    outcome = one_pass(live, NAME)
    assert [finding.reason for finding in outcome.problems] == [reasons.ALL_GROUPS_REMOVED]
    assert (outcome.changed, pods(live)) == (False, before)
    assert condition(live.get("Druid", NAME), "Ready")["reason"] == "AllGroupsRemoved"
    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/remove-all-groups": "true"}}})
    assert one_pass(live, NAME, check_mode=True).plan.is_destructive
    until_reached(live, NAME)
    found = live.get("Druid", NAME)
    assert (condition(found, "Ready")["reason"], found["status"]["nodes"]) == ("NoPods", "0/0")
    assert not {*live.names("StatefulSet"), *live.names("Deployment")}


def test_the_last_group_of_a_role_is_destructive(live: NamespaceClient) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": None}}})
    plan = one_pass(live, NAME, check_mode=True).plan
    text = "no group of nodeType broker is left for historicals, middlemanagers: no query is answered"
    assert plan.is_destructive
    assert f"{text} (destructive)" in lines(plan)
    one_pass(live, NAME)
    assert text in condition(live.get("Druid", NAME), "RolloutWarnings")["message"]


@pytest.mark.parametrize("waits_on", [False, True])
def test_a_wait_for_pods_that_crash_ends(live: NamespaceClient, waits_on: bool) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    nodes = {"historicals": {"podAnnotations": {"test/start": "crash"}}}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    # An hour later than the control plane, so that a pod has not been ready for long as soon as it crashes.
    clock = Clock(now=lambda: datetime.now(UTC) + timedelta(hours=1))
    timeout = 3 if waits_on else 300
    request = cluster_request(NAME, live.namespace, wait=True, wait_timeout=timeout, wait_for_recovery=waits_on)
    outcome = run(connection(live), request, lambda _text: None, clock)
    assert (outcome.timed_out, bool(outcome.stuck)) == (waits_on, not waits_on)
    name = unique_name("historicals")
    assert waits_on or outcome.stuck.startswith(f"pod {name}-0, container {name}: CrashLoopBackOff")


def test_a_pod_that_starts_before_its_turn_has_the_new_common_configuration(live: NamespaceClient) -> None:
    create(live, **dict.fromkeys(TYPES, ONE))
    slow = {"historicals": {"podAnnotations": {"test/ready": "never"}}}
    live.merge("Druid", NAME, {"spec": {"common.runtime.properties": "a=new", "nodes": slow}})
    planned = lines(one_pass(live, NAME, check_mode=True).plan)
    waiting = "middlemanagers, brokers, coordinators"
    text = (
        f"a pod of {waiting} that starts before its group restarts reads the new ConfigMap {NAME}-druid-common-config"
    )
    assert text in planned
    one_pass(live, NAME)
    assert "RolloutWarnings" not in {each["type"] for each in live.get("Druid", NAME)["status"]["conditions"]}
    pod = f"{unique_name('coordinators')}-0"
    changed, name = datetime.now(UTC), f"{pod} has started before the restart of the group"
    # The API server's times are in seconds.
    eventually(lambda: datetime.now(UTC) > changed + timedelta(seconds=1))
    live.delete("Pod", pod)

    def is_reported() -> bool:
        one_pass(live, NAME)
        found = live.get("Druid", NAME)["status"]["conditions"]
        return any(each["type"] == "RolloutWarnings" and each["message"].startswith(name) for each in found)

    eventually(is_reported)
