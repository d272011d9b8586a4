# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have added to an object goes over to the one that is made in its place, and stays theirs."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    is_managed_by_us,
    owned_fields,
    required_managed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import difference, field_set
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.foreign_fields import with_foreign_fields
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
    """Return the live object after somebody has added something."""
    live = stored(manifest, entry(manager, field_set(addition), operation))
    laid_over(live, addition)
    return live


def laid_over(target: Any, addition: Any) -> None:
    for name, value in addition.items():
        if isinstance(value, dict):
            laid_over(target.setdefault(name, {}), value)
        elif isinstance(value, list):
            there = {each["name"]: each for each in target.setdefault(name, [])}
            for each in value:
                if each["name"] in there:
                    laid_over(there[each["name"]], each)
                else:
                    target[name].append(deepcopy(each))
        else:
            target[name] = value


@pytest.mark.parametrize("kind", MANIFESTS)
def test_what_is_ours_alone_is_made_as_it_is_wanted(kind: str) -> None:
    manifest = MANIFESTS[kind]
    assert with_foreign_fields(stored(manifest), manifest) is manifest


@pytest.mark.parametrize("what", POD)
@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_additions_to_pods(what: str, operation: str) -> None:
    manifest = stateful_set()
    live = added_to(manifest, of_pods(POD[what]), operation=operation)
    wanted = {**manifest, "spec": {**manifest["spec"], "podManagementPolicy": "OrderedReady"}}
    recreated = with_foreign_fields(live, wanted)
    assert recreated["spec"] == {**live["spec"], "podManagementPolicy": "OrderedReady"}
    assert recreated["metadata"].keys() == manifest["metadata"].keys()
    new = written_by("druidops-initial", recreated, "Apply")
    assert is_managed_by_us(new)
    assert entries(required_managed_fields(new, wanted, live)) == {
        ("druidops", "Apply"): field_set(wanted),
        ("kubectl-edit", operation): difference(field_set(of_pods(POD[what])), field_set(manifest)),
    }


def entries(managed_fields: list[Manifest] | None) -> dict[tuple[str, str], Any]:
    assert managed_fields is not None
    return {(each["manager"], each["operation"]): each["fieldsV1"] for each in managed_fields}


def test_additions_stay_when_nobody_knows_any_more_whose_they_were() -> None:
    """The run was killed when it had made the object; the next one sees what was left."""
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


NOT_CARRIED: list[tuple[str, Manifest]] = [
    ("StatefulSet", {"metadata": {"finalizers": ["a/b"]}}),
    ("StatefulSet", {"metadata": {"annotations": {"druidOpResourceHash": "x"}}}),
    ("StatefulSet", {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}}),
    ("Service", {"spec": {"externalIPs": ["192.0.2.1"]}}),
    ("ConfigMap", {"metadata": {"annotations": {"note": "mine"}}}),
]


@pytest.mark.parametrize(("kind", "addition"), NOT_CARRIED)
def test_what_belongs_to_the_old_object_stays_with_it(kind: str, addition: Manifest) -> None:
    manifest = druid.rendered(kind, {"services": [{}]})
    live = stored(manifest, entry("kubectl-edit", field_set({"kind": kind, "metadata": {}, **addition})))
    live["metadata"] |= addition.get("metadata", {})
    assert with_foreign_fields(live, manifest) is manifest


def test_a_template_that_says_something_twice_is_taken_over_whole() -> None:
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
