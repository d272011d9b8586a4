# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose number of pods is kept."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.autoscaling import (
    KIND,
    autoscaling_warnings,
    undecided_workloads,
    with_external_autoscalers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

NAME = "druid-c-brokers"
HPA = ("kube-controller-manager", "Update", "scale")
USER = ("kubectl", "Update", "scale")
US = ("druidops", "Apply", "")


def workload(replicas: int, owner: tuple[str, str, str]) -> dict[str, Any]:
    manager, operation, subresource = owner
    entry = {"manager": manager, "operation": operation, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    entry |= {"subresource": subresource} if subresource else {}
    metadata = {"name": NAME, "namespace": "ns", "managedFields": [entry]}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": replicas}}


def autoscaler(name: str) -> dict[str, Any]:
    target = {"kind": "StatefulSet", "name": NAME}
    metadata = {"name": name, "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"apiVersion": "v2", "kind": KIND, "metadata": metadata, "spec": {"scaleTargetRef": target}}


def read(live: list[dict[str, Any]], foreign: list[dict[str, Any]], **node: Any) -> Cluster:
    cluster = druid.cluster(node)
    observed = Observed({key_of(each): each for each in live})
    return with_external_autoscalers(cluster, observed, undecided_workloads(cluster, observed), foreign)


@pytest.mark.parametrize(
    ("live", "foreign", "node", "expected"),
    [
        ([workload(5, HPA)], [], {"replicas": 2}, {NAME: 5}),
        ([workload(5, HPA)], [], {"replicas": 0}, {NAME: 5}),
        ([workload(5, HPA)], [autoscaler("keda")], {"replicas": 2}, {}),
        ([workload(5, USER)], [], {"replicas": 2}, {}),
        ([workload(5, US)], [], {"replicas": 2}, {}),
        ([workload(5, HPA)], [], {"replicas": 5}, {}),
        ([workload(2, HPA)], [], {"replicas": 5}, {}),
        ([workload(5, HPA)], [], {"replicas": None}, {}),
        ([workload(5, HPA)], [], {"replicas": 2, "stopped": True}, {}),
        ([workload(5, HPA), autoscaler(NAME)], [], {"replicas": 2}, {}),
        ([], [], {"replicas": 2}, {}),
    ],
    ids=[
        "deleted",
        "deleted, and none specified",
        "still there",
        "scaled by hand",
        "ours",
        "as specified",
        "fewer than specified",
        "not specified",
        "stopped",
        "removed from the resource",
        "no workload",
    ],
)
def test_number_that_a_deleted_autoscaler_has_set_is_kept(
    live: list[dict[str, Any]], foreign: list[dict[str, Any]], node: dict[str, Any], expected: dict[str, int]
) -> None:
    assert read(live, foreign, **node).left_replicas == expected


def test_kept_number_is_not_rendered_and_has_a_warning() -> None:
    cluster = read([workload(5, HPA)], [], replicas=2, services=[{}])
    desired = render(cluster)
    [rendered] = [each for each in desired.objects if each["kind"] == "StatefulSet"]
    assert "replicas" not in rendered["spec"]
    assert tuple(autoscaling_warnings(cluster.groups[0])) == (
        "replicas has no effect: a HorizontalPodAutoscaler that does not exist any more set 5 "
        "pods, and 2 are specified. The pods stay, in case the autoscaler is being replaced. To stop 3 of them, run "
        "kubectl scale statefulset druid-c-brokers --namespace ns --replicas 2",
    )
