# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services that a group takes from another one, whose pods have names from them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.services import taken_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]

NODE = {**druid.NODE, "replicas": 1}


def group(*services: str, **more: Any) -> Manifest:
    return {
        **NODE,
        "services": [{"metadata": {"name": name}, "spec": {"clusterIP": "None"}} for name in services],
        **more,
    }


def cluster(**nodes: Manifest) -> Cluster:
    """Return a cluster; a group `a_b` is `a-b`."""
    return druid.cluster(nodes={key.replace("_", "-"): node for key, node in nodes.items()})


# druid-c-a-b of a, druid-c-a-b-x of a-b
BEFORE = cluster(a=group("%s-b"), a_b=group("%s-x"))
STOPPED = cluster(a=group("%s-b", stopped=True), a_b=group("%s-x"))
# (before, after, subdomains of the pods of a, groups that are blocked)
CASES: dict[str, tuple[Cluster, Cluster, list[str], list[str]]] = {
    "nothing": (BEFORE, BEFORE, ["druid-c-a-b"], []),
    "exchanged": (BEFORE, cluster(a=group("%s-b-x"), a_b=group("%s")), [], ["a", "a-b"]),
    "another name": (BEFORE, cluster(a=group("%s-y"), a_b=group("%s-x")), ["druid-c-a-b"], []),
    "taken": (BEFORE, cluster(a=group("%s-y"), a_b=group("%s")), ["druid-c-a-b"], ["a-b"]),
    "taken before there are pods": (BEFORE, cluster(a=group("%s-y"), a_b=group("%s")), [], ["a-b"]),
    "taken, and not the first one": (BEFORE, cluster(a=group("%s-y"), a_b=group("%s-x", "%s")), [], ["a-b"]),
    "of a group without pods": (STOPPED, cluster(a=group("%s-y"), a_b=group("%s")), [], []),
    "of a stopped group with pods": (STOPPED, cluster(a=group("%s-y"), a_b=group("%s")), ["druid-c-a-b"], ["a-b"]),
    "of new pods": (STOPPED, cluster(a=group("%s-y"), a_b=group("%s")), ["druid-c-a-y"], []),
    "of a removed group": (BEFORE, cluster(a_b=group("%s")), ["druid-c-a-b"], []),
    "not the first one": (
        cluster(a=group("%s-y", "%s-b"), a_b=group("%s-x")),
        cluster(a=group("%s-y"), a_b=group("%s-x", "%s")),
        ["druid-c-a-y"],
        [],
    ),
}


def with_pods(observed: Observed, subdomains: list[str]) -> Observed:
    labels = {"app": "druid", "druid_cr": "c", "nodeSpecUniqueStr": "druid-c-a", "component": "broker"}
    pods = [
        {"kind": "Pod", "metadata": {"name": f"druid-c-a-{number}", "labels": labels}, "spec": {"subdomain": name}}
        for number, name in enumerate(subdomains)
    ]
    return observed.with_objects(pods)


@pytest.mark.parametrize(("before", "after", "subdomains", "blocked"), CASES.values(), ids=CASES)
def test_the_service_of_pods_is_not_taken(
    before: Cluster, after: Cluster, subdomains: list[str], blocked: list[str]
) -> None:
    observed = with_pods(converged(render(before)), subdomains)
    found = taken_services(draft(after, observed, changed_objects(after, render(after), observed)))
    assert [(each.reason, each.group) for each in found] == [("InvalidSpec", key) for key in blocked]
    assert all("their names would no longer resolve" in each.message for each in found)
