# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every object equals that of the Go operator for the same resource, except for intended additions."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording


def adopted(name: str, form: str = "stored") -> Desired:
    resource = recording.resource(name, form)
    # the applied resource has no uid yet; the owner of its objects has that of the stored one
    resource["metadata"]["uid"] = recording.resource(name)["metadata"]["uid"]
    desired = render(Cluster.from_resource(resource), recording.preserved(name))
    return replace(desired, groups={key: verbatim(desired, key) for key in desired.groups})


def verbatim(desired: Desired, key: str) -> tuple[dict[str, Any], ...]:
    """Return the objects of the group; the workload keeps the duplicate merge keys of the spec."""
    workload = desired.verbatim.get(key)
    return tuple(
        workload if workload is not None and manifest["kind"] == workload["kind"] else manifest
        for manifest in desired.groups[key]
    )


def without_recommended_labels(manifest: dict[str, Any]) -> dict[str, Any]:
    plain = copy.deepcopy(manifest)
    labels = plain["metadata"]["labels"]
    for label in names.recommended_labels("any", "any"):
        labels.pop(label, None)
    return plain


@pytest.mark.parametrize(("name", "form"), recording.RESOURCES)
def test_same_objects_as_recorded(name: str, form: str) -> None:
    ours = [recording.identity(manifest) for manifest in adopted(name, form).objects]
    assert sorted(ours) == sorted(recording.owned_objects(name))


@pytest.mark.parametrize(("name", "form"), recording.RESOURCES)
def test_every_object_equals_the_recorded_one(name: str, form: str) -> None:
    objects = recording.owned_objects(name)
    lines = []
    for manifest in adopted(name, form).objects:
        found = objects[recording.identity(manifest)]
        if manifest["kind"] == "PersistentVolumeClaim":
            # Kubernetes would delete a PVC with its owner, regardless of disablePVCDeletionFinalizer
            found = {**found, "metadata": {k: v for k, v in found["metadata"].items() if k != "ownerReferences"}}
        lines += recording.differences(without_recommended_labels(manifest), found, manifest["kind"])
    # the autoscaler sets the replicas, so they are not rendered
    scaled = ["Deployment.spec.replicas: recorded 2, not ours"] if name == "hand" else []
    assert lines == scaled


@pytest.mark.parametrize("name", recording.NAMES)
def test_every_object_has_the_recommended_labels(name: str) -> None:
    for manifest in adopted(name).objects:
        labels = manifest["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "druid"
        # GitOps tools would delete an object with this label and without an owner
        expected = name if manifest["metadata"].get("ownerReferences") else None
        assert labels.get("app.kubernetes.io/instance") == expected
        assert labels["app.kubernetes.io/managed-by"] == "druidops"
        assert labels.get("app.kubernetes.io/component") == component(name, manifest)


def component(name: str, manifest: dict[str, Any]) -> str | None:
    nodes = recording.resource(name)["spec"]["nodes"]
    if manifest["metadata"]["name"] == names.common_config_map_name(name):
        return None
    if "component" in manifest["metadata"]["labels"]:
        return str(manifest["metadata"]["labels"]["component"])
    [key] = [key for key in nodes if names.unique_name(name, key) == manifest["metadata"]["name"]]
    return str(nodes[key]["nodeType"])


@pytest.mark.parametrize("name", recording.NAMES)
def test_running_pods_and_selectors_get_no_new_labels(name: str) -> None:
    objects = recording.owned_objects(name)
    for manifest in adopted(name).objects:
        if manifest["kind"] in ("StatefulSet", "Deployment"):
            found = objects[recording.identity(manifest)]
            assert manifest["spec"]["selector"] == found["spec"]["selector"]
            assert manifest["spec"]["template"]["metadata"] == found["spec"]["template"]["metadata"]


@pytest.mark.parametrize("name", recording.NAMES)
def test_selector_of_new_groups_has_the_fixed_labels(name: str) -> None:
    cluster = Cluster.from_resource(recording.resource(name))
    desired = render(cluster)
    for group in cluster.groups:
        expected = {
            "app": "druid",
            "druid_cr": name,
            "nodeSpecUniqueStr": f"druid-{name}-{group.key}",
            "component": group.node_type,
        }
        for manifest in desired.groups[group.key]:
            assert selected_by(manifest) in (None, expected)


def selected_by(manifest: dict[str, Any]) -> Any:
    selector = manifest.get("spec", {}).get("selector")
    return selector.get("matchLabels", selector) if selector else None


@pytest.mark.parametrize("name", recording.NAMES)
def test_new_pods_have_the_recorded_hash(name: str) -> None:
    cluster = Cluster.from_resource(recording.resource(name))
    desired = render(cluster)
    for key, live in recording.preserved(name).items():
        assert live.configuration_hash is not None
        [workload] = [found for found in desired.groups[key] if found["kind"] in ("StatefulSet", "Deployment")]
        variables = workload["spec"]["template"]["spec"]["containers"][0]["env"]
        assert variables[-1] == {"name": "configMapSHA", "value": live.configuration_hash}
