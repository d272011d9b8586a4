# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A field that the user removes after the migration is removed, although the Go operator had written it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import HASH, GoOperator, take_over
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording


class Removal(NamedTuple):
    """A merge patch of a recorded resource, and what it removes from an object: the value before; none afterwards."""

    recording: str
    patch: dict[str, Any]
    kind: str
    name: str
    value: Callable[[Manifest], Any]


def _annotations(live: Manifest) -> dict[str, str]:
    return {name: text for name, text in live["metadata"].get("annotations", {}).items() if name != HASH}


def _labels(live: Manifest) -> set[str]:
    return set(live["metadata"]["labels"]) & {"team", "tier"}


def _container(live: Manifest) -> Manifest:
    container: Manifest = live["spec"]["template"]["spec"]["containers"][0]
    return container


def _variables(live: Manifest) -> list[str]:
    return [each["name"] for each in _container(live)["env"] if each["name"] != "configMapSHA"]


def _volumes(live: Manifest) -> list[str]:
    names = [each["name"] for each in live["spec"]["template"]["spec"]["volumes"]]
    return [name for name in names if name not in ("common-config-volume", "nodetype-config-volume")]


FEW = ("hand", "r4242-9")
REMOVALS = {
    "variable": Removal(
        "r4242-9",
        {"nodes": {"indexers": {"env": None}}},
        "StatefulSet",
        "druid-r4242-9-indexers",
        _variables,
    ),
    "annotation of a workload": Removal(
        "hand", {"workloadAnnotations": None}, "StatefulSet", "druid-hand-historicals-hot", _annotations
    ),
    "annotation of a Deployment": Removal(
        "hand",
        {"workloadAnnotations": None},
        "Deployment",
        "druid-hand-brokers",
        lambda live: "owner" in _annotations(live),
    ),
    "label of a Service": Removal("hand", {"podLabels": None}, "Service", "druid-hand-coordinators", _labels),
    "label of pods": Removal(
        "hand",
        {"podLabels": None},
        "StatefulSet",
        "druid-hand-coordinators",
        lambda live: live["spec"]["template"]["metadata"]["labels"].get("team"),
    ),
    "resources": Removal(
        "r4242-9",
        {"nodes": {"routers": {"resources": None}}},
        "StatefulSet",
        "druid-r4242-9-routers",
        lambda live: _container(live)["resources"],
    ),
    "probe": Removal(
        "r4242-9",
        {"defaultProbes": False, "nodes": {"middlemanager-hot": {"readinessProbe": None}}},
        "StatefulSet",
        "druid-r4242-9-middlemanager-hot",
        lambda live: _container(live).get("readinessProbe"),
    ),
    "volume": Removal(
        "r4242-9",
        {"nodes": {"coordinator": {"volumes": None, "volumeMounts": None}}},
        "Deployment",
        "druid-r4242-9-coordinator",
        _volumes,
    ),
    "service account": Removal(
        "hand",
        {"nodes": {"coordinators": {"serviceAccountName": None}}},
        "StatefulSet",
        "druid-hand-coordinators",
        lambda live: live["spec"]["template"]["spec"].get("serviceAccountName"),
    ),
    "file": Removal(
        "hand",
        {"metricDimensions.json": None},
        "ConfigMap",
        "hand-druid-common-config",
        lambda live: live["data"].get("metricDimensions.json"),
    ),
    "port of a Service": Removal(
        "hand",
        {"services": [{"spec": {"clusterIP": "None"}}, {"metadata": {"name": "%s-api"}, "spec": {}}]},
        "Service",
        "druid-hand-coordinators-api",
        lambda live: [port for port in live["spec"]["ports"] if port["name"] == "http"],
    ),
    "field of a disruption budget": Removal(
        "hand",
        {"nodes": {"historicals-hot": {"podDisruptionBudgetSpec": {"maxUnavailable": None, "minAvailable": 1}}}},
        "PodDisruptionBudget",
        "druid-hand-historicals-hot",
        lambda live: live["spec"].get("maxUnavailable"),
    ),
    "annotation of an Ingress": Removal(
        "hand", {"nodes": {"routers": {"ingressAnnotations": None}}}, "Ingress", "druid-hand-routers", _annotations
    ),
    "behaviour of an autoscaler": Removal(
        "hand",
        {"nodes": {"brokers": {"hpAutoscaler": {"minReplicas": None}}}},
        "HorizontalPodAutoscaler",
        "druid-hand-brokers",
        lambda live: live["spec"]["minReplicas"] - 1,
    ),
}


@pytest.mark.parametrize("name", FEW)
def test_removed_fields_are_removed_from_adopted_objects(golden: NamespaceClient, name: str) -> None:
    """Also when one binary of the Go operator has made the objects, and another one has only written its hash."""
    GoOperator(golden, name, "manager", maker="druid-operator").run().settled()
    take_over(golden, name)
    removals = {what: removal for what, removal in REMOVALS.items() if removal.recording == name}
    for what, removal in removals.items():
        assert removal.value(golden.get(removal.kind, removal.name)), what
    for what, removal in removals.items():
        golden.merge("Druid", name, {"spec": {**removal.patch, "rollingDeploy": False}})
        assert one_pass(golden, name).plan.findings == (), what
        assert not removal.value(golden.get(removal.kind, removal.name)), what
    assert one_pass(golden, name).plan.steps == ()


def test_duplicates_are_removed_with_a_warning_when_their_template_changes(golden: NamespaceClient) -> None:
    GoOperator(golden, "hand").run().settled()
    take_over(golden, "hand")
    ports = [each["name"] for each in _container(golden.get("Deployment", "druid-hand-brokers"))["ports"]]
    assert ports == ["plain", "druid-port"]
    golden.merge("Druid", "hand", {"spec": {"nodes": {"brokers": {"volumeMounts": None}}}})
    outcome = one_pass(golden, "hand")
    assert outcome.plan.findings == ()
    assert [str(step.key) for step in outcome.plan.steps if step.restart.is_requested] == [
        "Deployment druid-hand-brokers"
    ]
    about_brokers = [text for text in outcome.warnings if text.startswith("spec.nodes[brokers]")]
    assert any("port plain (8082/TCP) is set twice" in text for text in about_brokers)
    assert any("variable A is set twice" in text for text in about_brokers)
    brokers = golden.get("Deployment", "druid-hand-brokers")
    assert [each["name"] for each in _container(brokers)["ports"]] == ["druid-port"]
    assert _variables(brokers) == ["A", "EMPTY"]
    # The other groups keep their duplicates, and restart no pod.
    others = [golden.get("StatefulSet", f"druid-hand-{key}") for key in ("coordinators", "routers")]
    assert [_variables(each) for each in others] == [["A", "A", "EMPTY"]] * 2
    assert one_pass(golden, "hand").plan.steps == ()


# What a group cannot do without, or what makes it another group.
KEPT = {"nodeType", "druid.port", "replicas", "nodeConfigMountPath", "runtime.properties", "kind"}
KEPT_IN_COMMON = {"commonConfigMountPath", "common.runtime.properties", "image", "startScript", "nodes"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FEW else campaign("the same for two recordings"))
        for name in recording.NAMES
    ],
)
def test_no_removed_field_remains(golden: NamespaceClient, live: NamespaceClient, name: str) -> None:
    """An adopted cluster whose resource is stripped ends as one that never had more."""
    GoOperator(golden, name).run().settled()
    take_over(golden, name)
    golden.merge("Druid", name, {"spec": _removing(recording.resource(name, "applied")["spec"])})
    assert one_pass(golden, name).plan.findings == ()

    spec = golden.get("Druid", name)["spec"]
    live.create({"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "metadata": {"name": name}, "spec": spec})
    assert one_pass(live, name).plan.findings == ()
    fresh = {key: _specified(each) for key, each in _objects(live).items()}

    def stripped() -> dict[tuple[str, str], Manifest]:
        assert one_pass(golden, name).plan.findings == ()
        return {key: _specified(each) for key, each in _objects(golden).items()}

    # A replaced Service stays until no pod has its name as subdomain.
    eventually(lambda: stripped() == fresh, 60, otherwise=lambda: f"{stripped()} is not {fresh}")
    assert one_pass(golden, name).plan.steps == ()


def _removing(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the merge patch that takes out of a specification all that it can do without."""
    nodes = {key: dict.fromkeys(node.keys() - KEPT) for key, node in spec["nodes"].items()}
    return {**dict.fromkeys(spec.keys() - KEPT_IN_COMMON), "nodes": nodes}


def _objects(live: NamespaceClient) -> dict[tuple[str, str], Manifest]:
    """Return the objects of the cluster, without its PVCs, which are data and are kept."""
    kinds = [kind for kind in CREATED_KINDS if kind != "PersistentVolumeClaim"]
    found = (each for kind in kinds for each in live.list(kind) if each["metadata"]["name"] != "kube-root-ca.crt")
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def _specified(live: Manifest) -> Any:
    """Return the fields that the resource determines: no identity, no address, no hash, no empty values."""
    metadata = live["metadata"]
    spec = {name: value for name, value in live.get("spec", {}).items() if name not in ("clusterIP", "clusterIPs")}
    if "template" in spec:
        # A running group keeps its labels as they are.
        labels = spec["template"]["metadata"]["labels"]
        spec["template"]["metadata"]["labels"] = _without_recommended(labels)
        _container(live)["env"] = [each for each in _container(live)["env"] if each["name"] != "configMapSHA"]
    content = {name: value for name, value in live.items() if name not in ("metadata", "status", "spec")}
    annotations = {key: text for key, text in _annotations(live).items() if not key.startswith("deployment.kub")}
    return _without_empty({**content, "spec": spec, "labels": metadata["labels"], "annotations": annotations})


def _without_recommended(labels: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if not name.startswith("app.kubernetes.io/")}


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_empty(each) for name, each in value.items()}
        return {name: each for name, each in kept.items() if each not in ({}, [], "", None)}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value
