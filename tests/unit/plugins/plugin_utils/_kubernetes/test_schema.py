# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource defined by variables is completed as by the API server, or rejected with the server's message."""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import QUANTITY_REMEDY
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from hypothesis import given
from hypothesis import strategies as st

SPEC = schema.spec_of("Druid")
BROKER = {"nodeType": "broker", "druid.port": 8082, "nodeConfigMountPath": "/conf", "runtime.properties": ""}
DEFAULTS = {
    "commonConfigMountPath": "/opt/druid/conf/druid/cluster/_common",
    "defaultProbes": True,
    "deleteOrphanPvc": True,
    "disablePVCAnnotationUpdate": False,
    "disablePVCDeletionFinalizer": False,
    "forceDeleteStsPodOnError": True,
    "ignored": False,
    "imagePullPolicy": "IfNotPresent",
    "podManagementPolicy": "Parallel",
    "rollingDeploy": True,
    "scalePvcSts": False,
    "startScript": "/druid.sh",
}


class TaggedText(str):
    """A subclass of str, as Ansible uses them."""

    __slots__ = ()


class TaggedNumber(int):
    """A subclass of int."""


def spec(**changes: Any) -> dict[str, Any]:
    return {"common.runtime.properties": "", "nodes": {"brokers": dict(BROKER)}, **changes}


def with_broker(**changes: Any) -> dict[str, Any]:
    return spec(nodes={"brokers": {**BROKER, **changes}})


def broker(**changes: Any) -> dict[str, Any]:
    return dict(schema.apply(SPEC, with_broker(**changes)).value["nodes"]["brokers"])


def errors(value: Any) -> list[str]:
    return [str(error) for error in schema.apply(SPEC, value).errors]


def test_defaults_are_added() -> None:
    stored = schema.apply(SPEC, spec())
    assert stored.value == {**spec(), **DEFAULTS, "nodes": {"brokers": {**BROKER, "kind": "StatefulSet"}}}
    assert (stored.errors, stored.pruned) == ((), ())


def test_nested_defaults_are_added_to_specified_fields_only() -> None:
    port = {"containerPort": 1, "name": "one"}
    assert broker(ports=[port])["ports"] == [{**port, "protocol": "TCP"}]
    assert schema.apply(SPEC, spec(middleManagerDrainStrategy={})).value["middleManagerDrainStrategy"] == {
        "drainTimeout": "1h",
        "maxUnavailable": 1,
        "podReadyTimeout": "30m",
    }


def test_no_defaults_are_added_to_a_pod_template() -> None:
    template = {"spec": {"containers": [{"name": "druid", "ports": [{"containerPort": 1}]}]}}
    assert broker(podTemplate=template)["podTemplate"] == template


@pytest.mark.parametrize("name", recording.NAMES)
def test_result_matches_the_recorded_object_except_our_defaults(name: str) -> None:
    expected = recording.resource(name, "stored")["spec"]
    expected["disablePVCAnnotationUpdate"] = False
    applied = recording.resource(name, "applied")["spec"]
    for group, node in expected["nodes"].items():
        if "podManagementPolicy" not in applied["nodes"][group]:
            del node["podManagementPolicy"]
    stored = schema.apply(SPEC, applied)
    assert (stored.errors, stored.pruned) == ((), ())
    assert stored.value == expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("druid.port", "8082", 8082),
        ("druid.port", " 8082 ", 8082),
        ("druid.port", 8082.0, 8082),
        ("replicas", "0", 0),
        ("stopped", "true", True),
        ("stopped", "Yes", True),
        ("stopped", "off", False),
        ("image", 37, "37"),
        ("image", 37.5, "37.5"),
        ("runtime.properties", True, "true"),
        ("podLabels", {"a": 1, "b": False, "c": date(2026, 1, 2)}, {"a": "1", "b": "false", "c": "2026-01-02"}),
        ("podLabels", {8: "x", True: "y"}, {"8": "x", "true": "y"}),
        ("maxSurge", 1, 1),
        ("maxSurge", "1", 1),
        ("resources", {"requests": {"cpu": 0.5}}, {"requests": {"cpu": "0.5"}}),
        ("resources", {"requests": {"cpu": 2}}, {"requests": {"cpu": 2}}),
        ("args", ("a", 1), ["a", "1"]),
        ("dynamicConfig", {"a": [1, 0.5, None, {"b": True}], 1: "x"}, {"a": [1, 0.5, None, {"b": True}], "1": "x"}),
    ],
)
def test_values_are_converted_to_the_type_of_the_schema(field: str, value: Any, expected: Any) -> None:
    found = broker(**{field: value})[field]
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("changes", "pruned"),
    [
        ({"replica": 1}, "spec.nodes.brokers.replica"),
        ({"env": [{"name": "A", "vale": "x"}]}, "spec.nodes.brokers.env[0].vale"),
        ({"services": [{"metadata": {"uid": "x"}}]}, "spec.nodes.brokers.services[0].metadata.uid"),
    ],
)
def test_unknown_fields_are_pruned_and_named(changes: dict[str, Any], pruned: str) -> None:
    result = schema.apply(SPEC, with_broker(**changes))
    assert (result.pruned, result.errors) == ((pruned,), ())
    assert json.dumps(pruned.rsplit(".", 1)[1]) not in json.dumps(result.value["nodes"])


# (path of an unknown field, suggested known field)
NEAREST: list[tuple[str, str | None]] = [
    ("iamge", "image"),
    ("common.runtime.propertys", "common.runtime.properties"),
    ("nodes.brokers.replica", "replicas"),
    ("nodes.brokers.nodetype", "nodeType"),
    ("nodes.brokers.runtime.property", "runtime.properties"),
    ("nodes.brokers.env[0].vale", "value"),
    ("nodes.brokers.services[12].spec.port", "ports"),
    ("nodes.brokers.unheardOf", None),
    ("unheardOf", None),
    ("nodes.brokers.podLabels.a", None),
    ("image.tag", None),
]


@pytest.mark.parametrize(("path", "nearest"), NEAREST)
def test_nearest_field(path: str, nearest: str | None) -> None:
    assert schema.nearest_field(SPEC, path) == nearest


def test_null_is_an_absent_field() -> None:
    result = schema.apply(SPEC, spec(image=None, imagePullPolicy=None, podLabels={"a": None}))
    assert "image" not in result.value
    assert result.value["imagePullPolicy"] == "IfNotPresent"
    assert result.value["podLabels"] == {}
    assert result.errors == ()


TYPES = '"historical", "overlord", "middleManager", "indexer", "broker", "coordinator", "router"'
QUANTITY = f"is not a valid quantity: {QUANTITY_REMEDY}"


def autoscaler(resource: dict[str, Any]) -> dict[str, Any]:
    metric = {"type": "Resource", "resource": resource}
    return {"maxReplicas": 2, "scaleTargetRef": {"kind": "StatefulSet", "name": "a"}, "metrics": [metric]}


# The messages of kube-apiserver 1.34.4, except for the wrong type, and for patterns.
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ["spec: Required value"]),
        ([], ["spec: Invalid value: must be a mapping, not a list"]),
        ({"common.runtime.properties": ""}, ["spec.nodes: Required value"]),
        (spec(nodes=None), ["spec.nodes: Required value"]),
        (spec(nodes=[]), ["spec.nodes: Invalid value: must be a mapping, not a list"]),
        (
            with_broker(nodeType="x"),
            [f'spec.nodes.brokers.nodeType: Unsupported value: "x": supported values: {TYPES}'],
        ),
        (
            with_broker(**{"druid.port": "abc"}),
            ['spec.nodes.brokers.druid.port: Invalid value: "abc": must be an integer, not a string'],
        ),
        (
            with_broker(**{"druid.port": "https://user:hunter2@host"}),
            ["spec.nodes.brokers.druid.port: Invalid value: must be an integer, not a string"],
        ),
        (
            with_broker(**{"druid.port": 8082.5}),
            ["spec.nodes.brokers.druid.port: Invalid value: 8082.5: must be an integer, not a number"],
        ),
        (
            with_broker(**{"druid.port": True}),
            ["spec.nodes.brokers.druid.port: Invalid value: true: must be an integer, not a boolean"],
        ),
        (
            with_broker(**{"druid.port": 0}),
            [
                "spec.nodes.brokers.druid.port: Invalid value: 0: "
                "spec.nodes.brokers.druid.port in body should be greater than or equal to 1"
            ],
        ),
        (
            with_broker(**{"druid.port": 65536}),
            [
                "spec.nodes.brokers.druid.port: Invalid value: 65536: "
                "spec.nodes.brokers.druid.port in body should be less than or equal to 65535"
            ],
        ),
        (
            spec(resources={"requests": {"cpu": "many"}}),
            [f'spec.resources.requests.cpu: Invalid value: "many": spec.resources.requests.cpu in body {QUANTITY}'],
        ),
        (
            spec(resources={"requests": {"cpu": []}}),
            ["spec.resources.requests.cpu: Invalid value: must be an integer or a string, not a list"],
        ),
        (
            spec(auth="hunter2"),
            ["spec.auth: Invalid value: must be a mapping, not a string"],
        ),
        (
            spec(resources={"requests": {"memory": "10 GiB"}}),
            [
                'spec.resources.requests.memory: Invalid value: "10 GiB": '
                f"spec.resources.requests.memory in body {QUANTITY}"
            ],
        ),
        (
            with_broker(hpAutoscaler=autoscaler({"name": "cpu", "targetAverageUtilization": 50})),
            [
                "spec.nodes.brokers.hpAutoscaler.metrics[0].resource.target: Required value: targetAverageUtilization "
                "is of autoscaling/v2beta1; replace it with target: {type: Utilization, averageUtilization: 50}"
            ],
        ),
        # a misplaced address may have a password in it
        (
            spec(resources={"requests": {"cpu": "https://u:hunter2@h"}}),
            [f'spec.resources.requests.cpu: Invalid value: "string": spec.resources.requests.cpu in body {QUANTITY}'],
        ),
        (
            spec(resources={"requests": {"cpu": "1\n"}}),
            [f'spec.resources.requests.cpu: Invalid value: "1\\n": spec.resources.requests.cpu in body {QUANTITY}'],
        ),
        (
            with_broker(maxSurge="25%"),
            ['spec.nodes.brokers.maxSurge: Invalid value: "25%": must be an integer, not a string'],
        ),
        (
            spec(services=[{"metadata": {"name": "a" * 254}}]),
            ["spec.services[0].metadata.name: Too long: may not be more than 253 bytes"],
        ),
        (spec(services=[{}] * 17), ["spec.services: Too many: 17: must have at most 16 items"]),
        (spec(nodes={f"n{i}": BROKER for i in range(65)}), ["spec.nodes: Too many: 65: must have at most 64 items"]),
        (
            spec(additionalContainer=[{"containerName": "a"}]),
            [
                "spec.additionalContainer[0].command: Required value",
                "spec.additionalContainer[0].image: Required value",
            ],
        ),
        (
            spec(env=[None]),
            ["spec.env[0]: Invalid value: must be a mapping, not null"],
        ),
        (spec(livenessProbe={"tcpSocket": {}}), ["spec.livenessProbe.tcpSocket.port: Required value"]),
        (spec(livenessProbe={"httpGet": {}}), []),
        (spec(zookeeper={"type": "default", "spec": {"properties": "a=b", "other": 1}}), []),
    ],
)
def test_errors_resemble_those_of_the_api_server(value: Any, expected: list[str]) -> None:
    assert errors(value) == expected


def test_too_short_string() -> None:
    [error] = schema.apply({"type": "string", "minLength": 1}, "", "x").errors
    assert str(error) == 'x: Invalid value: "": x in body should be at least 1 chars long'


def test_null_of_a_nullable_field_is_kept() -> None:
    definition = {"type": "object", "properties": {"a": {"nullable": True}}}
    assert schema.apply(definition, {"a": None}).value == {"a": None}


def test_result_has_no_types_of_ansible() -> None:
    tagged = spec(image=TaggedText("druid"), dynamicConfig={TaggedText("a"): TaggedText("b"), "n": TaggedNumber(1)})
    result = schema.apply(SPEC, tagged).value
    [key] = [key for key in result["dynamicConfig"] if key == "a"]
    plain = [
        type(value) for value in (result["image"], key, result["dynamicConfig"]["a"], result["dynamicConfig"]["n"])
    ]
    assert plain == [str, str, str, int]


def test_input_is_not_changed() -> None:
    original = with_broker(ports=[{"containerPort": "1"}], unknown=1)
    value = copy.deepcopy(original)
    result = schema.apply(SPEC, value)
    result.value["nodes"]["brokers"]["ports"].append("x")
    assert value == original


ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)
SPEC_FIELDS = st.dictionaries(st.sampled_from(sorted(SPEC["properties"])), ANY_VALUE, max_size=4)


@given(SPEC_FIELDS)
def test_result_is_valid_and_unchanged_by_the_schema(fields: dict[str, Any]) -> None:
    once = schema.apply(SPEC, spec(**fields))
    again = schema.apply(SPEC, once.value)
    assert again.pruned == ()
    assert (again.value, again.errors) == (once.value, once.errors)


@given(ANY_VALUE)
def test_any_value_returns_errors_or_a_mapping(value: Any) -> None:
    result = schema.apply(SPEC, value)
    assert result.errors or isinstance(result.value, dict)
