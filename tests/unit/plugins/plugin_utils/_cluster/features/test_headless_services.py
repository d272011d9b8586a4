# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.services import headless_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

NAME = "druid-c-brokers"
HEADLESS, ADDRESS = {"clusterIP": "None"}, {"type": "ClusterIP"}


def cluster(first: dict[str, Any], second: dict[str, Any] | None = None, **node: Any) -> Cluster:
    services = [{"spec": first}, {"metadata": {"name": "%s-api"}, "spec": second or ADDRESS}]
    return druid.cluster({"services": services, **node})


# (before, after, subdomain of a pod, blocked Services)
CASES: dict[str, tuple[Cluster, Cluster, str, list[str]]] = {
    "of a running pod": (cluster(HEADLESS), cluster(ADDRESS), NAME, [NAME]),
    "of the next pod": (cluster(HEADLESS), cluster(ADDRESS), "", [NAME]),
    "of no pod": (cluster(HEADLESS, replicas=0), cluster(ADDRESS, replicas=0), "", []),
    "becomes headless": (cluster(ADDRESS), cluster(HEADLESS), NAME, []),
    "was never headless": (cluster(ADDRESS), cluster({**ADDRESS, "sessionAffinity": "ClientIP"}), NAME, []),
    "another Service": (cluster(HEADLESS, HEADLESS), cluster(HEADLESS, ADDRESS), NAME, []),
    "a Deployment": (cluster(HEADLESS, kind="Deployment"), cluster(ADDRESS, kind="Deployment"), "", []),
}


@pytest.mark.parametrize(("before", "after", "subdomain", "blocked"), CASES.values(), ids=CASES)
def test_the_subdomain_of_pods_stays_headless(
    before: Cluster, after: Cluster, subdomain: str, blocked: list[str]
) -> None:
    observed = converged(render(before))
    if subdomain:
        [live] = observed.of_kind("StatefulSet")
        metadata = {"name": f"{NAME}-0", "namespace": "ns", "labels": live["metadata"]["labels"]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"subdomain": subdomain}}
        observed = observed.with_objects([pod])
    found = headless_services(draft(after, observed, changed_objects(after, render(after), observed)))
    message = (
        "Service druid-c-brokers must stay headless (clusterIP: None): it is the subdomain of the pods of group "
        "brokers, and their names would no longer resolve. Set it back, and specify the other Service under another "
        "name as an additional entry of services; or stop the group (stopped: true), and change the Service when it "
        "has no pods. It blocks no other object."
    )
    assert found == tuple(Finding("InvalidSpec", message, "brokers", object=f"Service {name}") for name in blocked)
