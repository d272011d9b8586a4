# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recreated object keeps the fields that other managers have added, and their ownership."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    is_managed_by_us,
    owned_fields,
    required_managed_fields,
    with_foreign_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import difference, field_set
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import MANIFESTS
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, stored, written_by

Manifest = dict[str, Any]

NOTE = {"metadata": {"annotations": {"note": "mine"}}}
SIDECAR = {"spec": {"containers": [{"name": "sidecar", "image": "i"}]}}
VARIABLE = {"spec": {"containers": [{"name": "druid-c-brokers", "env": [{"name": "MINE", "value": "x"}]}]}}
POD: dict[str, Manifest] = {"note": NOTE, "sidecar": SIDECAR, "variable": VARIABLE}


def stateful_set() -> Manifest:
    return druid.rendered("StatefulSet", {"services": [{}]})


def of_pods(template: Manifest) -> Manifest:
    return {"kind": "StatefulSet", "metadata": {}, "spec": {"template": template}}


def added_to(
    manifest: Manifest, addition: Manifest, manager: str = "kubectl-edit", operation: str = "Update"
) -> Manifest:
    """Return the live object after another client has added fields."""
    live = stored(manifest, entry(manager, field_set(addition), operation))
    merge_into(live, addition)
    return live


def merge_into(target: Any, addition: Any) -> None:
    for name, value in addition.items():
        if isinstance(value, dict):
            merge_into(target.setdefault(name, {}), value)
        elif isinstance(value, list):
            current = {each["name"]: each for each in target.setdefault(name, [])}
            for each in value:
                if each["name"] in current:
                    merge_into(current[each["name"]], each)
                else:
                    target[name].append(deepcopy(each))
        else:
            target[name] = value


@pytest.mark.parametrize("kind", MANIFESTS)
def test_object_without_foreign_fields_is_recreated_as_rendered(kind: str) -> None:
    manifest = MANIFESTS[kind]
    assert with_foreign_fields(stored(manifest), manifest) is manifest


@pytest.mark.parametrize("name", POD)
@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_foreign_fields_of_the_pod_template_are_kept(name: str, operation: str) -> None:
    manifest = stateful_set()
    live = added_to(manifest, of_pods(POD[name]), operation=operation)
    desired = {**manifest, "spec": {**manifest["spec"], "podManagementPolicy": "OrderedReady"}}
    recreated = with_foreign_fields(live, desired)
    assert recreated["spec"] == {**live["spec"], "podManagementPolicy": "OrderedReady"}
    assert recreated["metadata"].keys() == manifest["metadata"].keys()
    new = written_by("druidops-initial", recreated, "Apply")
    assert is_managed_by_us(new)
    assert entries(required_managed_fields(new, desired, live)) == {
        ("druidops", "Apply"): field_set(desired),
        ("kubectl-edit", operation): difference(field_set(of_pods(POD[name])), field_set(manifest)),
    }


def entries(managed_fields: list[Manifest] | None) -> dict[tuple[str, str], Any]:
    assert managed_fields is not None
    return {(each["manager"], each["operation"]): each["fieldsV1"] for each in managed_fields}


def test_foreign_fields_without_recorded_managers_are_kept() -> None:
    """The run was killed after the creation of the object, and the next run continues."""
    manifest = stateful_set()
    recreated = with_foreign_fields(added_to(manifest, of_pods(NOTE)), manifest)
    new = written_by("druidops-initial", recreated, "Apply")
    assert owned_fields(new) == {}
    assert entries(required_managed_fields(new, manifest)) == {
        ("druidops", "Apply"): field_set(manifest),
        ("druidops-initial", "Apply"): {
            "f:spec": {"f:template": {"f:metadata": {"f:annotations": {"f:note": {}}}}},
        },
    }


DROPPED: list[tuple[str, Manifest]] = [
    ("StatefulSet", {"metadata": {"finalizers": ["a/b"]}}),
    ("StatefulSet", {"metadata": {"annotations": {"druidOpResourceHash": "x"}}}),
    ("StatefulSet", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}}),
    ("Service", {"spec": {"externalIPs": ["192.0.2.1"]}}),
    ("ConfigMap", {"metadata": {"annotations": {"note": "mine"}}}),
]


@pytest.mark.parametrize(("kind", "addition"), DROPPED)
def test_fields_that_are_not_carried_over(kind: str, addition: Manifest) -> None:
    manifest = druid.rendered(kind, {"services": [{}]})
    live = stored(manifest, entry("kubectl-edit", field_set({"kind": kind, "metadata": {}, **addition})))
    live["metadata"] |= addition.get("metadata", {})
    assert with_foreign_fields(live, manifest) is manifest


def test_template_with_duplicate_keys_is_carried_over_completely() -> None:
    whole = stateful_set()
    container = whole["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [*container["env"], *container["env"]]
    manifest = {**whole, "spec": {name: value for name, value in whole["spec"].items() if name != "template"}}
    live = added_to(manifest, of_pods(NOTE))
    live["spec"]["template"] = {**whole["spec"]["template"], "metadata": {"annotations": {"note": "mine"}}}
    live["metadata"]["managedFields"].append(entry("druidops-verbatim", field_set(whole), "Update"))
    recreated = with_foreign_fields(live, manifest)
    assert recreated["spec"] == live["spec"]
    new = written_by("druidops-verbatim", recreated)
    shared = entries(required_managed_fields(new, manifest, live))
    assert shared["kubectl-edit", "Update"] == field_set(of_pods(NOTE))
    assert "f:note" not in str(shared["druidops-verbatim", "Update"])
