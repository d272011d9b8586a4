# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every field is rendered at its path, purely, and those of a group do not affect other groups."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.setting_warnings import without_effect
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    common_configuration,
    node_configuration,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    CLAIM,
    FEATURES,
    Case,
    resource,
)

ALL = [pytest.param(recording.resource(name), id=name) for name in recording.NAMES] + [
    pytest.param(resource(case), id=case.name) for case in FEATURES
]


def shuffled(value: Any, order: random.Random) -> Any:
    """Return the same value with every mapping in another order."""
    if isinstance(value, dict):
        keys = order.sample(sorted(value), len(value))
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("source", ALL)
def test_inputs_are_not_changed(source: dict[str, Any]) -> None:
    before = copy.deepcopy(source)
    desired = render(Cluster.from_resource(source))
    for manifest in desired.objects:
        clear(manifest)
    assert source == before


def clear(value: Any) -> None:
    """Clear every mapping and list, as a caller might that modifies the result."""
    for item in list(value.values() if isinstance(value, dict) else value):
        if isinstance(item, (dict, list)):
            clear(item)
    value.clear()


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_order_of_keys_has_no_effect(source: dict[str, Any], seed: int) -> None:
    other = shuffled(source, random.Random(seed))
    ours, theirs = render(Cluster.from_resource(source)), render(Cluster.from_resource(other))
    assert ours == theirs
    assert list(ours.groups) == list(theirs.groups)


@pytest.mark.parametrize("source", ALL)
def test_every_object_has_its_namespace_and_owner(source: dict[str, Any]) -> None:
    metadata = source["metadata"]
    owner = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "name": metadata["name"]}
    for manifest in render(Cluster.from_resource(source)).objects:
        assert manifest["metadata"]["namespace"] == metadata["namespace"]
        references = [{**owner, "uid": metadata["uid"], "controller": True}]
        # Kubernetes would delete a PVC with its owner, regardless of disablePVCDeletionFinalizer
        expected = None if manifest["kind"] == "PersistentVolumeClaim" else references
        assert manifest["metadata"].get("ownerReferences") == expected


def test_no_owner_without_a_resource() -> None:
    source = druid.resource({"services": [{}], "ingress": {}})
    del source["metadata"]["uid"]
    for manifest in render(Cluster.from_resource(source)).objects:
        assert "ownerReferences" not in manifest["metadata"]


def test_objects_are_in_the_order_of_their_application() -> None:
    node = {
        "services": [{}, {"metadata": {"name": "%s-a"}}],
        "persistentVolumeClaim": [CLAIM],
        "ingress": {},
        "podDisruptionBudgetSpec": {},
        "hpAutoscaler": {},
    }
    nodes = {"b": {**druid.NODE, **node}, "a": {**druid.NODE, "nodeType": "historical"}}
    desired = render(Cluster.from_resource(druid.resource(nodes=nodes)))
    assert list(desired.groups) == ["a", "b"]
    assert [manifest["kind"] for manifest in desired.groups["b"]] == [
        "ConfigMap",
        "Service",
        "Service",
        "PersistentVolumeClaim",
        "StatefulSet",
        "Ingress",
        "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
    ]
    assert desired.objects == (*desired.common, *desired.groups["a"], *desired.groups["b"])


def two_groups(first: dict[str, Any], second: dict[str, Any], **spec: Any) -> dict[str, list[dict[str, Any]]]:
    nodes = {"first": {**druid.NODE, **first}, "second": {**druid.NODE, **second}}
    desired = render(Cluster.from_resource(druid.resource(nodes=nodes, **spec)))
    return {key: list(objects) for key, objects in desired.groups.items()}


def only(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    [found] = [manifest for manifest in objects if manifest["kind"] == kind]
    return found


def test_annotations_of_a_workload_do_not_affect_the_next() -> None:
    groups = two_groups({"workloadAnnotations": {"mine": "1"}}, {}, workloadAnnotations={"all": "1"})
    assert only(groups["first"], "StatefulSet")["metadata"]["annotations"] == {"all": "1", "mine": "1"}
    assert only(groups["second"], "StatefulSet")["metadata"]["annotations"] == {"all": "1"}


def test_labels_and_selectors_of_a_service_do_not_affect_the_next() -> None:
    service = {"metadata": {"labels": {"all": "1"}}, "spec": {"selector": {"all": "1"}}}
    groups = two_groups({"podLabels": {"mine": "1"}}, {}, services=[service])
    assert "mine" in only(groups["first"], "Service")["metadata"]["labels"]
    assert "mine" not in only(groups["second"], "Service")["metadata"]["labels"]
    assert only(groups["second"], "Service")["spec"]["selector"] == {
        "all": "1",
        "app": "druid",
        "component": "broker",
        "druid_cr": "c",
        "nodeSpecUniqueStr": "druid-c-second",
    }


def test_probes_use_the_port_of_the_group() -> None:
    groups = two_groups({"druid.port": 1}, {"druid.port": 2}, livenessProbe={"httpGet": {"path": "/", "port": 0}})
    ports = [
        druid.at(only(groups[key], "StatefulSet"), "spec", "template", "spec", "containers", 0, "livenessProbe")
        for key in groups
    ]
    assert [probe["httpGet"]["port"] for probe in ports] == [1, 2]


def test_every_stand_alone_pvc_is_rendered() -> None:
    claims = [{"metadata": {"name": name}, "spec": {"storageClassName": name}} for name in ("a", "b", "c")]
    desired = render(druid.cluster({"persistentVolumeClaim": claims})).groups["brokers"]
    found = [manifest for manifest in desired if manifest["kind"] == "PersistentVolumeClaim"]
    assert [(claim["metadata"]["name"], claim["spec"]["storageClassName"]) for claim in found] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]


ANNOTATION = "druid.apache.org/replicas-before-stop"


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@pytest.mark.parametrize(("stopped", "annotations"), [(False, {"a": "b"}), (True, {"a": "b", ANNOTATION: "2"})])
def test_number_of_pods_before_a_stop_cannot_be_specified(
    kind: str, stopped: bool, annotations: dict[str, str]
) -> None:
    node = {"kind": kind, "stopped": stopped, "workloadAnnotations": {"a": "b", ANNOTATION: "7"}}
    for cluster in (druid.cluster(node), druid.cluster({**node, "workloadAnnotations": {"a": "b"}}, **CLUSTER_WIDE)):
        desired = render(cluster, {"brokers": Preserved(replicas=2)})
        assert only(list(desired.groups["brokers"]), kind)["metadata"]["annotations"] == annotations
        [warning] = without_effect(cluster.groups[0], Observed())
        assert warning.startswith(f"workloadAnnotations[{ANNOTATION}] has no effect: ")


CLUSTER_WIDE = {"workloadAnnotations": {ANNOTATION: "9" * 5000}}


def test_equivalent_hash_of_running_pods_is_kept() -> None:
    case = Case("", "", (), None, {"runtime.properties": "bell\b"}, {"common.runtime.properties": "feed\f"})
    live = variable_of(case, None)
    encodings = {variable_of(case, f"{common}-{node}") for common, node in pairs(case)}
    assert live in encodings
    assert len(encodings) == 4
    assert variable_of(case, "something-else") == live


def pairs(case: Case) -> list[tuple[str, str]]:
    cluster = Cluster.from_resource(resource(case))
    [group] = cluster.groups
    common, node = common_configuration(cluster).hashes, node_configuration(group).hashes
    return [(left, right) for left in common for right in node]


def variable_of(case: Case, live: str | None) -> str:
    desired = render(Cluster.from_resource(resource(case)), {"brokers": Preserved(configuration_hash=live)})
    container = only(list(desired.groups["brokers"]), "StatefulSet")["spec"]["template"]["spec"]["containers"][0]
    value: str = container["env"][-1]["value"]
    return value


@pytest.mark.parametrize("uid", ["u-1", None])
def test_only_owned_objects_have_the_instance_label(uid: str | None) -> None:
    node = {"services": [{}], "persistentVolumeClaim": [{"spec": {}}]}
    source = druid.resource(node)
    source["metadata"]["uid"] = uid
    for manifest in render(Cluster.from_resource(source)).objects:
        has_owner = uid is not None and manifest["kind"] != "PersistentVolumeClaim"
        assert ("app.kubernetes.io/instance" in manifest["metadata"]["labels"]) is has_owner
        assert ("ownerReferences" in manifest["metadata"]) is has_owner
    template = druid.rendered("StatefulSet", node)["spec"]["template"]
    assert "app.kubernetes.io/instance" in template["metadata"]["labels"]


@pytest.mark.parametrize("case", FEATURES, ids=[case.name for case in FEATURES])
def test_rendered_value(case: Case) -> None:
    assert druid.at(druid.rendered(case.kind, case.node, **case.spec), *case.path) == case.value
