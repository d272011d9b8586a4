# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fields of a group and of its cluster are merged as in the Go operator."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    cluster_references,
    missing_keys,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.druid import NODE, cluster, resource

ABSENT = object()


def group_with(name: str, node: Any, level: Any) -> Any:
    [group] = cluster({} if node is ABSENT else {name: node}, **({} if level is ABSENT else {name: level})).groups
    return group


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [
        (ABSENT, ABSENT, None),
        (ABSENT, [1], [1]),
        (None, [1], [1]),
        ([], [1], []),
        ({}, {"a": 1}, {}),
        ([2], [1], [2]),
        (0, 30, 0),
        (False, True, False),
        ("", "x", ""),
    ],
)
def test_first_present_accepts_empty_values(node: Any, level: Any, expected: Any) -> None:
    assert group_with("field", node, level).first_present("field") == expected


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [(ABSENT, ABSENT, ""), (ABSENT, "x", "x"), (None, "x", "x"), ("", "x", "x"), ("y", "x", "y"), ("y", ABSENT, "y")],
)
def test_first_non_empty_skips_empty_strings(node: Any, level: Any, expected: str) -> None:
    assert group_with("field", node, level).first_non_empty("field") == expected


def test_first_non_empty_with_another_name_in_the_cluster() -> None:
    [group] = cluster(serviceAccount="a").groups
    assert group.first_non_empty("serviceAccountName", "serviceAccount") == "a"


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [(ABSENT, ABSENT, []), ([2], ABSENT, [2]), ([2], [1], [1, 2]), ([1], [1], [1, 1]), (None, [1], [1])],
)
def test_list_of_the_group_is_appended_to_that_of_the_cluster(node: Any, level: Any, expected: list[int]) -> None:
    assert group_with("field", node, level).concatenated("field") == expected


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [
        (ABSENT, ABSENT, {}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 1, "b": 3}),
        ({}, {"a": 2}, {"a": 2}),
        (None, {"a": 2}, {"a": 2}),
    ],
)
def test_keys_of_the_group_take_precedence(node: Any, level: Any, expected: dict[str, int]) -> None:
    assert group_with("field", node, level).merged("field") == expected


@pytest.mark.parametrize(
    ("specified", "expected"), [({}, "/druid.sh"), ({"startScript": ""}, ""), ({"startScript": "/x"}, "/x")]
)
def test_default_of_the_api_server(specified: dict[str, str], expected: str) -> None:
    assert cluster(None, **specified).get("startScript") == expected


def test_groups_are_in_the_order_of_the_rollout() -> None:
    types = {
        "z": "coordinator",
        "a": "overlord",
        "b": "router",
        "c": "broker",
        "d": "indexer",
        "e": "middleManager",
        "hot": "historical",
        "cold": "historical",
        "odd": "unknown",
    }
    nodes = {key: {**NODE, "nodeType": node_type} for key, node_type in types.items()}
    order = [group.key for group in cluster(nodes=nodes).groups]
    assert order == ["cold", "hot", "e", "d", "c", "b", "a", "z", "odd"]


@pytest.mark.parametrize(
    ("kind", "workload"), [("Deployment", "Deployment"), ("StatefulSet", "StatefulSet"), ("deployment", "StatefulSet")]
)
def test_every_kind_except_deployment_is_a_stateful_set(kind: str, workload: str) -> None:
    [group] = cluster({"kind": kind}).groups
    assert group.kind == workload


@pytest.mark.parametrize(
    ("node", "spec", "replicas", "autoscaled", "keeps"),
    [
        ({"replicas": 3}, {}, 3, False, False),
        ({"replicas": 0}, {}, 0, False, False),
        ({"replicas": None}, {}, 0, False, True),
        ({"replicas": None, "stopped": True}, {}, 0, False, False),
        ({"replicas": 3, "stopped": True}, {}, 0, False, False),
        ({"replicas": 3}, {"stopped": True}, 0, False, False),
        ({"replicas": 3, "hpAutoscaler": {}}, {}, 3, True, True),
        ({"replicas": 3, "hpAutoscaler": {}}, {"stopped": True}, 0, False, False),
    ],
)
def test_replicas(node: dict[str, Any], spec: dict[str, Any], replicas: int, autoscaled: bool, keeps: bool) -> None:
    [group] = cluster(node, **spec).groups
    assert (group.replicas, group.autoscaled, group.keeps_replicas) == (replicas, autoscaled, keeps)


REFERENCES = [
    {"name": "a"},
    {"name": "b", "namespace": "other"},
    {"name": "c", "kind": "Secret"},
    {"name": "d", "kind": "ConfigMap"},
]
KEYS = (
    ReferenceKey("ConfigMap", "ns", "a"),
    ReferenceKey("ConfigMap", "other", "b"),
    ReferenceKey("Secret", "ns", "c"),
    ReferenceKey("ConfigMap", "ns", "d"),
)


def test_references_of_a_resource() -> None:
    assert cluster_references(resource(extraCommonConfig=REFERENCES)) == KEYS
    assert cluster_references(resource()) == ()


def test_missing_references() -> None:
    found: dict[ReferenceKey, Any] = {KEYS[0]: {"data": {}}, KEYS[1]: None, KEYS[2]: {}}
    parsed = Cluster.from_resource(resource(extraCommonConfig=[*REFERENCES, REFERENCES[3]]), found)
    assert missing_keys(parsed) == (KEYS[1], KEYS[3])


def test_cluster_without_resource_has_no_uid() -> None:
    source = resource()
    del source["metadata"]["uid"], source["metadata"]["generation"]
    parsed = Cluster.from_resource(source)
    assert (parsed.uid, parsed.generation, parsed.annotations) == (None, None, {})


@pytest.mark.parametrize("name", recording.NAMES)
def test_parsing_does_not_change_the_resource(name: str) -> None:
    before = recording.resource(name)
    after = copy.deepcopy(before)
    assert len(Cluster.from_resource(after).groups) == len(before["spec"]["nodes"])
    assert after == before
