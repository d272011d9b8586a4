# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in the desired state is not written: counted in the audit log, for every rendered field."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation import validate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import LISTED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    without_status,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render import features
from testbed.audit import AuditEvent
from testbed.control_plane import ControlPlane


def clusters() -> dict[str, Manifest]:
    """Return clusters in which each feature is that of a group, by the name of their first feature.

    Features with fields of all groups are in other clusters than those without.
    """
    found: dict[str, Manifest] = {}
    for case in sorted(features.FEATURES, key=lambda each: bool(each.spec)):
        for first, cluster in found.items():
            if (more := together(cluster, case)) and is_valid(more):
                found[first] = more
                break
        else:
            if is_valid(alone := without_pods(features.resource(case))):
                found[case.name] = alone
    return found


def together(cluster: Manifest, case: features.Case) -> Manifest | None:
    """Return the cluster with the group and the fields of a feature; None if it has other values for these fields."""
    spec, more = cluster["spec"], without_pods(features.resource(case))["spec"]
    [node] = more["nodes"].values()
    has_fields = spec.keys() > features.resource(features.Case("", "", (), None))["spec"].keys()
    if has_fields != bool(case.spec) or any(spec.get(name, value) != value for name, value in case.spec.items()):
        return None
    # a hook may not take longer than the grace period of the group without any
    if {"lifecycle", "terminationGracePeriodSeconds"} <= spec.keys() | case.spec.keys():
        return None
    key = f"g{len(spec['nodes'])}"
    named = json.loads(json.dumps(node).replace("druid-c-brokers", f"druid-c-{key}"))
    nodes = spec["nodes"] if node in spec["nodes"].values() else {**spec["nodes"], key: named}
    return {**cluster, "spec": {**spec, **case.spec, "nodes": nodes}}


def is_valid(resource: Manifest) -> bool:
    """Whether it can be applied."""
    cluster = Cluster.from_resource(resource)
    return not validate(cluster, render(cluster))


def without_pods(resource: Manifest) -> Manifest:
    """Return the resource without pods, which only take time: what is compared is their template."""
    nodes = {
        key: node if "hpAutoscaler" in node else {**node, "replicas": 0}
        for key, node in resource["spec"]["nodes"].items()
    }
    return {**resource, "spec": {**resource["spec"], "nodes": nodes}}


CLUSTERS = clusters()


def stored(resource: Manifest, live: NamespaceClient) -> str:
    """Create the resource in the namespace and return its name."""
    manifest = deepcopy(resource)
    manifest["metadata"] = {"name": resource["metadata"]["name"]}
    for reference in manifest["spec"].get("extraCommonConfig") or []:
        reference["namespace"] = live.namespace
    name: str = live.create(manifest)["metadata"]["name"]
    return name


def settles(live: NamespaceClient, name: str) -> None:
    """The first reconcile creates everything, no other one writes an object, and the last ones write nothing."""
    first = one_pass(live, name)
    assert first.report is not None
    assert first.report.problems == ()
    assert first.changed
    after_first = live.mark()

    def writes_nothing() -> bool:
        mark = live.mark()
        outcome = one_pass(live, name)
        assert not outcome.changed
        return not live.writes(mark)

    eventually(writes_nothing)
    assert without_status(live.writes(after_first)) == []


@pytest.mark.parametrize("first", CLUSTERS)
def test_settles_with_every_feature(live: NamespaceClient, first: str) -> None:
    settles(live, stored(CLUSTERS[first], live))


@pytest.mark.parametrize("name", recording.NAMES)
def test_settles_with_objects_of_the_go_operator(live: NamespaceClient, name: str) -> None:
    settles(live, stored(without_pods(recording.resource(name, "applied")), live))


@pytest.mark.parametrize("first", CLUSTERS)
def test_server_accepts_all_rendered_objects(control_plane: ControlPlane, first: str) -> None:
    default = NamespaceClient(control_plane, "default")
    resource = deepcopy(CLUSTERS[first])
    resource["metadata"]["namespace"] = default.namespace
    desired = render(Cluster.from_resource(resource))
    for manifest in (*desired.common, *(each for group in desired.groups.values() for each in group)):
        path = f"{default.path(manifest['kind'])}?dryRun=All&fieldValidation=Strict"
        created = control_plane.request("POST", path, manifest, user="person")
        assert created["metadata"]["labels"].items() >= manifest["metadata"]["labels"].items()


REFERENCES = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra"}, "data": {"a.properties": "a=b"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "extra"}, "stringData": {"b.properties": "b=c"}},
]


def reads(requests: list[AuditEvent]) -> dict[str, int]:
    """Return how often each kind was listed, and each object read."""
    return dict(Counter(f"{each.verb} {each.resource} {each.name}".strip() for each in requests))


def lists() -> dict[str, int]:
    """Return one LIST of each kind that a cluster is made of, and of its pods."""
    return {f"list {KINDS[kind].plural}": 1 for kind in LISTED_KINDS}


def referring(live: NamespaceClient) -> Manifest:
    """Return a resource with a ConfigMap and a Secret to read; it has every kind of object."""
    for manifest in REFERENCES:
        live.create(manifest)
    references = [{"kind": each["kind"], "name": "extra", "namespace": live.namespace} for each in REFERENCES]
    return druid.resource(
        {"services": [{}], "podDisruptionBudgetSpec": {"maxUnavailable": 1}}, extraCommonConfig=references
    )


def test_costs_one_list_per_kind_and_one_get_per_referenced_object(live: NamespaceClient) -> None:
    name = stored(referring(live), live)
    until_ready(live, name)
    mark = live.mark()
    outcome = one_pass(live, name)
    assert (outcome.changed, outcome.plan.steps) == (False, ())
    named = {f"get druids {name}": 1, "get configmaps extra": 1, "get secrets extra": 1}
    assert reads(live.requests(mark)) == {**lists(), **named}


def test_costs_the_same_without_resource_but_for_the_resource(live: NamespaceClient) -> None:
    spec = referring(live)["spec"]
    until_ready(live, "c", spec=spec, without_resource=True)
    mark = live.mark()
    outcome = one_pass(live, "c", spec=spec, without_resource=True)
    assert (outcome.changed, outcome.plan.steps) == (False, ())
    assert reads(live.requests(mark)) == {**lists(), "get configmaps extra": 1, "get secrets extra": 1}
