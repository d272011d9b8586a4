# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An object of another owner with one of our names blocks the group."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.other_owners import name_collisions
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_changes import (
    EVERYTHING,
    Manifest,
    cluster_and_desired,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, stored


def foreign(live: Manifest) -> Manifest:
    """Return an object of that name that another client has created."""
    head = {name: live[name] for name in ("apiVersion", "kind", "spec", "data") if name in live}
    metadata = {"name": live["metadata"]["name"], "namespace": "ns", "uid": "theirs", "managedFields": []}
    return {**head, "metadata": {**metadata, "creationTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize("kind", ["StatefulSet", "Service", "Ingress", "HorizontalPodAutoscaler"])
def test_name_conflict_blocks_the_group(kind: str) -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    existing = next(live for live in converged(desired).of_kind(kind))
    [finding] = name_collisions(draft(cluster, Observed().with_objects([foreign(existing)])))
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.NAME_CONFLICT, "brokers", True)
    assert finding.message.startswith(
        f"{kind} {existing['metadata']['name']} exists and does not belong to this cluster"
    )


def test_cluster_of_a_resource_is_a_single_conflict() -> None:
    _cluster, desired = cluster_and_desired(EVERYTHING)
    resource = druid.resource(EVERYTHING)
    del resource["metadata"]["uid"]
    observed = converged(desired)
    [finding] = name_collisions(draft(Cluster.from_resource(resource), observed))
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.NAME_CONFLICT, None, True)
    assert finding.message == (
        "The objects of that name belong to the resource Druid c in namespace ns. They are not changed. To reconcile "
        "that resource, omit spec and without_resource. For another cluster, choose another name. If the resource was "
        "deleted, wait until its objects are deleted."
    )


def test_conflict_of_the_common_configuration_blocks_everything() -> None:
    cluster, desired = cluster_and_desired()
    existing = foreign(stored(desired.common[0]))
    [finding] = name_collisions(draft(cluster, Observed().with_objects([existing])))
    assert finding.group is None
