# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Service that running pods have their names from stays until they are recreated."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.services import retained_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]

OLD, NEW = "druid-c-brokers", "druid-c-brokers-b"
RENAMED = druid.cluster({"services": [{"metadata": {"name": "%s-b"}}]})
REMOVED = druid.cluster(nodes={"others": druid.NODE})


def observed(subdomain: str | None, service_name: str, replicas: int) -> Observed:
    """Return the objects before the change, with a pod (None: without) and this StatefulSet."""
    before = converged(render(druid.cluster({"services": [{}, {"metadata": {"name": "%s-api"}}]})))
    [live] = before.of_kind("StatefulSet")
    found = [{**live, "spec": {**live["spec"], "serviceName": service_name, "replicas": replicas}}]
    if subdomain is not None:
        metadata = {"name": "druid-c-brokers-0", "namespace": "ns", "labels": live["metadata"]["labels"]}
        found.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"subdomain": subdomain}})
    return before.with_objects(found)


# (cluster, subdomain of a pod, serviceName and replicas of the StatefulSet, removed Services, is there a warning)
CASES: dict[str, tuple[Any, str | None, str, int, list[str], bool]] = {
    "a pod has the name": (RENAMED, OLD, OLD, 1, [f"{OLD}-api"], True),
    "still, after the StatefulSet was recreated": (RENAMED, OLD, NEW, 1, [f"{OLD}-api"], True),
    "the next pod will have it": (RENAMED, None, OLD, 1, [f"{OLD}-api"], False),
    "no pod will have it": (RENAMED, None, OLD, 0, [OLD, f"{OLD}-api"], False),
    "pods were recreated": (RENAMED, NEW, NEW, 1, [OLD, f"{OLD}-api"], False),
    "the group was removed": (REMOVED, OLD, OLD, 1, [OLD, f"{OLD}-api"], False),
}


@pytest.mark.parametrize(("cluster", "subdomain", "name", "replicas", "removed", "warns"), CASES.values(), ids=CASES)
def test_services_of_running_pods_stay(
    cluster: Any, subdomain: str | None, name: str, replicas: int, removed: list[str], warns: bool
) -> None:
    found = inputs(cluster, observed(subdomain, name, replicas))
    steps = removed_objects(found.cluster, found.desired, found.observed)
    assert [step.key.name for step in steps if step.key.kind == "Service"] == removed
    text = (
        "Service druid-c-brokers was removed from the spec, but is retained until no pod of group brokers has it as "
        "its subdomain. A pod that is recreated has the first Service of its group as its subdomain."
    )
    assert retained_services(found) == ((text,) if warns else ())
