# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A problem names field, value and fix; existing clusters remain valid."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation import Problem, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.druid import NODE, cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    CLAIM,
    FEATURES,
    TARGET,
    Case,
    resource,
)

HERE = "spec.nodes[brokers]"
SECRET = {"kind": "Secret", "name": "s", "namespace": "other"}
BAD_CLAIM = {"spec": {"resources": {"requests": {"storage": "10 Gi"}}}}


def problems(cluster: Cluster) -> tuple[Problem, ...]:
    return validate(cluster, render(cluster))


# (id, node fields, cluster fields, fields and values of the problems)
INVALID: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, Any]]]] = [
    ("missing image", {}, {"image": ""}, [("spec.image", None)]),
    ("node type", {"nodeType": "brocker"}, {}, [(f"{HERE}.nodeType", "brocker")]),
    ("kind", {"kind": "DaemonSet"}, {}, [(f"{HERE}.kind", "DaemonSet")]),
    ("kind in lower case", {"kind": "deployment"}, {}, [(f"{HERE}.kind", "deployment")]),
    (
        "PVC templates of a Deployment",
        {"kind": "Deployment", "volumeClaimTemplates": [CLAIM]},
        {},
        [(f"{HERE}.volumeClaimTemplates", [CLAIM["metadata"]["name"]])],
    ),
    (
        "request above the limit",
        {"resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}, "limits": {"cpu": 1, "memory": "1Gi"}}},
        {},
        [(f"{HERE}.resources.requests[cpu]", "1500m")],
    ),
    ("label", {"podLabels": {"a": "b c"}}, {}, [(f"{HERE}.podLabels[a]", "b c")]),
    ("label with a newline", {"podLabels": {"a": "b\n"}}, {}, [(f"{HERE}.podLabels[a]", "b\n")]),
    ("long label", {}, {"podLabels": {"a": "b" * 64}}, [("spec.podLabels[a]", "b" * 64)]),
    ("label key", {"podLabels": {"a b": "c"}}, {}, [(f"{HERE}.podLabels", "a b")]),
    ("long label key", {"podLabels": {"a" * 64: "c"}}, {}, [(f"{HERE}.podLabels", "a" * 64)]),
    (
        "container named as another",
        {"additionalContainer": [{"containerName": "s"}]},
        {"additionalContainer": [{"containerName": "s", "runAsInit": True}]},
        [(f"{HERE}.additionalContainer", "s")],
    ),
    (
        "container named as the main one",
        {},
        {"additionalContainer": [{"containerName": "druid-c-brokers"}]},
        [("spec.additionalContainer", "druid-c-brokers")],
    ),
    (
        "init container of podTemplate named as the main one",
        {"podTemplate": {"spec": {"initContainers": [{"name": "druid-c-brokers"}]}}},
        {},
        [(f"{HERE}.podTemplate.spec", "druid-c-brokers")],
    ),
    (
        "container of podTemplate without a name",
        {"podTemplate": {"spec": {"containers": [{"image": "x"}]}}},
        {},
        [(f"{HERE}.podTemplate.spec.containers[0].name", None)],
    ),
    (
        "fixed label in podTemplate",
        {"podTemplate": {"metadata": {"labels": {"app": "x", "component": None, "mine": "ok"}}}},
        {},
        [(f"{HERE}.podTemplate.metadata.labels[app]", "x")],
    ),
    (
        "service without %s",
        {"services": [{}, {"metadata": {"name": "brokers"}}]},
        {},
        [(f"{HERE}.services[1].metadata.name", "brokers")],
    ),
    (
        "service with two placeholders",
        {},
        {"services": [{"metadata": {"name": "%s-%s"}}]},
        [("spec.services[0].metadata.name", "%s-%s")],
    ),
    (
        "service with a bad name",
        {},
        {"services": [{"metadata": {"name": "%s_x"}}]},
        [("spec.services[0].metadata.name", "druid-c-brokers_x")],
    ),
    (
        "service that starts with a digit",
        {},
        {"services": [{"metadata": {"name": "1-%s"}}]},
        [("spec.services[0].metadata.name", "1-druid-c-brokers")],
    ),
    (
        "service with a long name",
        {},
        {"services": [{"metadata": {"name": "%s-" + "x" * 60}}]},
        [("spec.services[0].metadata.name", "druid-c-brokers-" + "x" * 60)],
    ),
    ("duplicate service name", {"services": [{}, {}]}, {}, [(HERE, "druid-c-brokers")]),
    (
        "quantities",
        {
            "resources": {"limits": {"cpu": "1 core"}},
            "volumeClaimTemplates": [CLAIM, BAD_CLAIM],
            "persistentVolumeClaim": [BAD_CLAIM],
            "additionalContainer": [{"containerName": "s", "resources": {"requests": {"memory": "1GB"}}}],
        },
        {"resources": {"requests": {"cpu": True}}},
        [
            ("spec.resources.requests[cpu]", True),
            (f"{HERE}.resources.limits[cpu]", "1 core"),
            (f"{HERE}.additionalContainer[0].resources.requests[memory]", "1GB"),
            (f"{HERE}.volumeClaimTemplates[1].spec.resources.requests[storage]", "10 Gi"),
            (f"{HERE}.persistentVolumeClaim[0].spec.resources.requests[storage]", "10 Gi"),
        ],
    ),
    ("extension", {}, {"zookeeper": {"type": "managed", "spec": {}}}, [("spec.zookeeper.type", "managed")]),
    ("secret of another namespace", {}, {"extraCommonConfig": [SECRET]}, [("spec.extraCommonConfig", "other")]),
    (
        "too large common configuration",
        {},
        {"common.runtime.properties": "\u2603" * 349526},
        [("spec.common.runtime.properties", 1048578)],
    ),
    (
        "too large configuration of a group",
        {"runtime.properties": "x" * 1048576},
        {},
        [(f"{HERE}.runtime.properties", 1048593)],
    ),
]

VALID: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("image of the group", {"image": "i"}, {"image": ""}),
    ("kind in another spelling", {"kind": "statefulset"}, {}),
    ("claim of the default class", {"volumeClaimTemplates": [CLAIM]}, {}),
    ("port of the process in ports", {"ports": [{"containerPort": 8082}]}, {}),
    ("longest label", {"podLabels": {"example.com/" + "a" * 63: "b" * 63, "empty": ""}}, {}),
    ("quantities", {"resources": {"requests": {"cpu": 1, "memory": "1.5Gi", "x": "1e3", "y": ".5", "z": 0.5}}}, {}),
    ("largest common configuration", {}, {"common.runtime.properties": "x" * 1048576}),
    ("autoscaler", {"hpAutoscaler": {"scaleTargetRef": TARGET}}, {}),
    ("autoscaler without a target", {"hpAutoscaler": {}}, {}),
    ("autoscaler of another workload", {"kind": "Deployment", "hpAutoscaler": {"scaleTargetRef": TARGET}}, {}),
    ("reference to another namespace", {}, {"extraCommonConfig": [{"name": "x", "namespace": "other"}]}),
    ("fixed label repeated", {"podTemplate": {"metadata": {"labels": {"app": "druid"}}}}, {}),
]


@pytest.mark.parametrize(("node", "spec", "expected"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_problems(node: dict[str, Any], spec: dict[str, Any], expected: list[tuple[str, Any]]) -> None:
    assert [(problem.field, problem.value) for problem in problems(cluster(node, **spec))] == expected


def test_the_message_about_a_quantity_has_the_remedy() -> None:
    (problem,) = problems(cluster({"resources": {"limits": {"cpu": "1 core"}}}))
    assert str(problem) == (
        'spec.nodes[brokers].resources.limits[cpu]: "1 core" is not a valid quantity; use a number, optionally with a '
        "suffix such as m, k, Mi or Gi, without a space and without B (500m, 768Mi)."
    )


@pytest.mark.parametrize(("node", "spec"), [row[1:] for row in VALID], ids=[row[0] for row in VALID])
def test_valid_cluster_has_no_problems(node: dict[str, Any], spec: dict[str, Any]) -> None:
    assert problems(cluster(node, **spec)) == ()


@pytest.mark.parametrize(("name", "form"), recording.RESOURCES)
def test_clusters_of_the_go_operator_are_valid(name: str, form: str) -> None:
    assert problems(Cluster.from_resource(recording.resource(name, form))) == ()


ALLOWED = [case for case in FEATURES if case.name != "podTemplate cannot change the selector labels"]


@pytest.mark.parametrize("case", ALLOWED, ids=[case.name for case in ALLOWED])
def test_features_are_valid(case: Case) -> None:
    assert problems(Cluster.from_resource(resource(case))) == ()


@pytest.mark.parametrize(
    ("kind", "key", "valid"),
    [
        ("StatefulSet", "x" * 44, True),
        ("StatefulSet", "x" * 45, False),
        ("Deployment", "x" * 55, True),
        ("Deployment", "x" * 56, False),
        ("StatefulSet", "a.b", False),
        ("StatefulSet", "A", False),
        ("StatefulSet", "a_b", False),
        ("StatefulSet", "a-", False),
        ("StatefulSet", "0", True),
    ],
)
def test_names_of_groups(kind: str, key: str, valid: bool) -> None:
    found = problems(cluster(nodes={key: {**NODE, "kind": kind}}))
    assert [(problem.field, problem.value) for problem in found] == (
        [] if valid else [(f"spec.nodes[{key}]", f"druid-c-{key}")]
    )


def test_cluster_name_must_be_a_valid_label() -> None:
    source = druid.resource(nodes={})
    source["metadata"]["name"] = "c" * 64
    [problem] = problems(Cluster.from_resource(source))
    assert (problem.field, problem.value) == ("metadata.name", "c" * 64)


def test_two_groups_with_the_same_service_name() -> None:
    nodes = {"a": {**NODE, "services": [{"metadata": {"name": "%s-b"}}]}, "a-b": {**NODE, "services": [{}]}}
    [problem] = problems(cluster(nodes=nodes))
    assert str(problem) == (
        'spec.nodes[a-b]: "druid-c-a-b" is the name of 2 objects of kind Service, defined by group a and group a-b;'
        " name one of them differently."
    )


def test_config_map_of_a_group_with_the_name_of_the_common_one() -> None:
    source = druid.resource(nodes={"common": NODE})
    source["metadata"]["name"] = "druid"
    [problem] = problems(Cluster.from_resource(source))
    assert problem.value == "druid-druid-common-config"
    assert "defined by the cluster itself and group common" in str(problem)


def test_problem_of_the_cluster_is_reported_once() -> None:
    found = problems(cluster(nodes={"a": NODE, "b": NODE}, services=[{"metadata": {"name": "fixed"}}]))
    assert [problem.field for problem in found].count("spec.services[0].metadata.name") == 1


def test_message_of_a_problem() -> None:
    [problem] = problems(cluster(image=""))
    assert str(problem) == ("spec.image: no image is set here or in group brokers; set it, or image in each of them.")


def test_missing_image_is_reported_once_for_all_groups() -> None:
    [problem] = problems(cluster(nodes={"a": NODE, "b": NODE, "c": {**NODE, "image": "i"}}, image=""))
    assert str(problem).startswith("spec.image: no image is set here or in groups a, b; ")
