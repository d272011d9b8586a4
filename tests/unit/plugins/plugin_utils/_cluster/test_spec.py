# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster is read by the merge vocabulary of the Go operator."""

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


def given(name: str, node: Any, level: Any) -> Any:
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
def test_first_present_takes_what_is_stated_even_when_empty(node: Any, level: Any, expected: Any) -> None:
    assert given("field", node, level).first_present("field") == expected


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [(ABSENT, ABSENT, ""), (ABSENT, "x", "x"), (None, "x", "x"), ("", "x", "x"), ("y", "x", "y"), ("y", ABSENT, "y")],
)
def test_first_non_empty_passes_over_empty_text(node: Any, level: Any, expected: str) -> None:
    assert given("field", node, level).first_non_empty("field") == expected


def test_first_non_empty_reads_the_clusters_value_under_its_own_name() -> None:
    [group] = cluster(serviceAccount="a").groups
    assert group.first_non_empty("serviceAccountName", "serviceAccount") == "a"


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [(ABSENT, ABSENT, []), ([2], ABSENT, [2]), ([2], [1], [1, 2]), ([1], [1], [1, 1]), (None, [1], [1])],
)
def test_concatenates_the_clusters_list_and_the_groups(node: Any, level: Any, expected: list[int]) -> None:
    assert given("field", node, level).concatenated("field") == expected


@pytest.mark.parametrize(
    ("node", "level", "expected"),
    [
        (ABSENT, ABSENT, {}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 1, "b": 3}),
        ({}, {"a": 2}, {"a": 2}),
        (None, {"a": 2}, {"a": 2}),
    ],
)
def test_merges_with_the_groups_keys_winning(node: Any, level: Any, expected: dict[str, int]) -> None:
    assert given("field", node, level).merged("field") == expected


@pytest.mark.parametrize(
    ("stated", "expected"), [({}, "/druid.sh"), ({"startScript": ""}, ""), ({"startScript": "/x"}, "/x")]
)
def test_knows_what_the_api_server_fills_in(stated: dict[str, str], expected: str) -> None:
    assert cluster(None, **stated).get("startScript") == expected


def test_orders_groups_as_they_are_rolled_out() -> None:
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
def test_everything_but_a_deployment_is_a_stateful_set(kind: str, workload: str) -> None:
    [group] = cluster({"kind": kind}).groups
    assert group.kind == workload


@pytest.mark.parametrize(
    ("node", "spec", "replicas", "autoscaled"),
    [
        ({"replicas": 3}, {}, 3, False),
        ({"replicas": None}, {}, 0, False),
        ({"replicas": 3, "stopped": True}, {}, 0, False),
        ({"replicas": 3}, {"stopped": True}, 0, False),
        ({"replicas": 3, "hpAutoscaler": {}}, {}, 3, True),
        ({"replicas": 3, "hpAutoscaler": {}}, {"stopped": True}, 0, False),
    ],
)
def test_counts_pods(node: dict[str, Any], spec: dict[str, Any], replicas: int, autoscaled: bool) -> None:
    [group] = cluster(node, **spec).groups
    assert (group.replicas, group.autoscaled) == (replicas, autoscaled)


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


def test_names_what_a_resource_refers_to() -> None:
    assert cluster_references(resource(extraCommonConfig=REFERENCES)) == KEYS
    assert cluster_references(resource()) == ()


def test_tells_which_references_are_missing() -> None:
    found: dict[ReferenceKey, Any] = {KEYS[0]: {"data": {}}, KEYS[1]: None, KEYS[2]: {}}
    read = Cluster.from_resource(resource(extraCommonConfig=[*REFERENCES, REFERENCES[3]]), found)
    assert missing_keys(read) == (KEYS[1], KEYS[3])


def test_a_cluster_without_resource_has_no_identity() -> None:
    described = resource()
    del described["metadata"]["uid"], described["metadata"]["generation"]
    read = Cluster.from_resource(described)
    assert (read.uid, read.generation, read.annotations) == (None, None, {})


@pytest.mark.parametrize("name", recording.NAMES)
def test_reading_does_not_change_the_resource(name: str) -> None:
    before = recording.resource(name)
    after = copy.deepcopy(before)
    assert len(Cluster.from_resource(after).groups) == len(before["spec"]["nodes"])
    assert after == before
