# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The comparison of a live object with the desired manifest."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare, same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    difference,
    field_set,
    intersection,
    union,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import (
    ADDRESS,
    MANIFESTS,
    at,
    leaves,
    with_change,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, stored, written_by
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]

# The fields in an empty mapping (affinity: {}) belong to the client that adds them.
LEAVES = [
    (manifest, path)
    for manifest in MANIFESTS.values()
    for path in leaves(manifest)
    if path not in ADDRESS and at(manifest, path) != {}
]
PAIRS = [
    (before, after)
    for before in MANIFESTS.values()
    for after in MANIFESTS.values()
    if (before["kind"], before["metadata"]["name"]) == (after["kind"], after["metadata"]["name"])
]


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
def test_applied_manifest_is_settled(manifest: Manifest) -> None:
    comparison = compare(stored(manifest), manifest)
    assert comparison.is_settled
    assert comparison.managed_fields is None


@given(st.sampled_from(LEAVES))
def test_every_change_is_detected(case: tuple[Manifest, tuple[str | int, ...]]) -> None:
    manifest, path = case
    live = stored(manifest)
    live = with_change(live, path)
    before = deepcopy(live)
    comparison = compare(live, manifest)
    assert not comparison.is_settled
    assert live == before


@given(st.sampled_from(PAIRS))
def test_predicted_object_is_settled(pair: tuple[Manifest, Manifest]) -> None:
    before, after = pair
    comparison = compare(stored(before), after)
    assert comparison.is_settled == (before == after)
    live = stored(after) | {name: value for name, value in comparison.predicted.items() if name != "metadata"}
    live["metadata"] = {**comparison.predicted["metadata"], "managedFields": stored(after)["metadata"]["managedFields"]}
    assert compare(live, after).is_settled


@given(st.sampled_from(PAIRS))
def test_removed_fields_are_not_predicted(pair: tuple[Manifest, Manifest]) -> None:
    """Fields that we no longer specify are removed, except replicas: another controller may set them now."""
    before, after = pair
    predicted = compare(stored(before), after).predicted
    dropped = difference(field_set(before), field_set(after))
    assert difference(intersection(field_set(predicted), dropped), {"f:spec": {"f:replicas": {}}}) == {}


def config_map() -> Manifest:
    return druid.rendered("ConfigMap")


def stateful_set(**node: Any) -> Manifest:
    return druid.rendered("StatefulSet", node)


def edited(live: Manifest, change: Any, lost: Manifest) -> Manifest:
    """Return the object after a manual edit: the client that changes or removes a field owns it then."""
    after = deepcopy(live)
    change(after)
    [ours, *_others] = after["metadata"]["managedFields"]
    ours["fieldsV1"] = difference(ours["fieldsV1"], lost)
    return after


MAIN = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"druid-c-brokers"}')


def of_main(fields: Manifest) -> Manifest:
    for step in reversed(MAIN):
        fields = {step: fields}
    return fields


def container(manifest: Manifest) -> Manifest:
    found: Manifest = manifest["spec"]["template"]["spec"]["containers"][0]
    return found


DRIFTS: list[tuple[str, Manifest, Any, Manifest]] = [
    ("replicas", stateful_set(), lambda live: live["spec"].update(replicas=5), {"f:spec": {"f:replicas": {}}}),
    ("an image", stateful_set(), lambda live: container(live).update(image="x"), of_main({"f:image": {}})),
    ("a removed probe", stateful_set(), lambda live: container(live).pop("livenessProbe"), of_main({"f:livenessProbe": {
        name: {} for name in ("f:httpGet", "f:initialDelaySeconds", "f:periodSeconds", "f:timeoutSeconds",
                              "f:successThreshold", "f:failureThreshold")}})),
    ("a removed variable", stateful_set(), lambda live: container(live).pop("env"), of_main({"f:env": {
        'k:{"name":"configMapSHA"}': {".": {}, "f:name": {}, "f:value": {}}}})),
    ("a removed file", config_map(), lambda live: live["data"].pop("runtime.properties"),
     {"f:data": {"f:runtime.properties": {}}}),
    ("a removed empty value", stateful_set(env=[{"name": "A", "value": ""}]),
     lambda live: container(live)["env"].pop(0), of_main({"f:env": {'k:{"name":"A"}': {}}})),
    ("a removed label", config_map(), lambda live: live["metadata"]["labels"].pop("app"),
     {"f:metadata": {"f:labels": {"f:app": {}}}}),
    ("a removed owner", config_map(), lambda live: live["metadata"].pop("ownerReferences"),
     {"f:metadata": {"f:ownerReferences": {'k:{"uid":"u-1"}': {}}}}),
    ("another order", stateful_set(), lambda live: container(live)["volumeMounts"].reverse(), {}),
    ("unchanged values that we no longer own", config_map(), lambda live: None,
     {"f:data": {"f:runtime.properties": {}}}),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "change", "lost"), [row[1:] for row in DRIFTS], ids=[row[0] for row in DRIFTS])
def test_manual_edit_is_detected(manifest: Manifest, change: Any, lost: Manifest) -> None:
    live = edited(stored(manifest), change, lost)
    comparison = compare(live, manifest)
    assert not comparison.is_settled
    reverted = {name: value for name, value in comparison.predicted.items() if name != "metadata"}
    assert reverted == {name: value for name, value in manifest.items() if name != "metadata"}


def test_foreign_key_in_our_mapping_is_removed() -> None:
    live = stored(config_map(), entry("kubectl-edit", {"f:data": {"f:foreign.txt": {}}}, "Update"))
    live["data"]["foreign.txt"] = "1"
    comparison = compare(live, config_map())
    assert not comparison.is_settled
    assert comparison.managed_fields is not None
    assert comparison.predicted["data"] == config_map()["data"]


FOREIGN: list[tuple[str, Any, Manifest]] = [
    (
        "labels",
        lambda live: live["metadata"]["labels"].update(x="y"),
        {"f:metadata": {"f:labels": {"f:x": {}}}},
    ),
    (
        "annotations",
        lambda live: live["metadata"].update(annotations={"x": "y"}),
        {"f:metadata": {"f:annotations": {"f:x": {}}}},
    ),
    (
        "finalizers",
        lambda live: live["metadata"].update(finalizers=["x/y"]),
        {"f:metadata": {"f:finalizers": {'v:"x/y"': {}}}},
    ),
    (
        "variables",
        lambda live: container(live)["env"].append({"name": "X"}),
        of_main({"f:env": {'k:{"name":"X"}': {".": {}, "f:name": {}}}}),
    ),
    (
        "containers",
        lambda live: live["spec"]["template"]["spec"]["containers"].append({"name": "x"}),
        {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"x"}': {".": {}, "f:name": {}}}}}}},
    ),
    ("the status", lambda live: live.update(status={"replicas": 1}), {"f:status": {"f:replicas": {}}}),
]


@pytest.mark.parametrize(("change", "fields"), [row[1:] for row in FOREIGN], ids=[row[0] for row in FOREIGN])
def test_foreign_fields_are_unchanged(change: Any, fields: Manifest) -> None:
    live = stored(stateful_set(), entry("other", fields, "Update"))
    change(live)
    comparison = compare(live, stateful_set())
    assert comparison.is_settled
    assert comparison.predicted == live


def test_field_with_another_owner_is_kept() -> None:
    label = {"f:metadata": {"f:labels": {"f:x": {}}}}
    old = config_map()
    old["metadata"]["labels"]["x"] = "y"
    assert compare(stored(old, entry("other", label)), config_map()).predicted["metadata"]["labels"]["x"] == "y"
    assert "x" not in compare(stored(old), config_map()).predicted["metadata"]["labels"]


def test_removal_of_the_go_operators_annotation_is_predicted() -> None:
    live = written_by("manager", config_map())
    live["metadata"]["annotations"] = {"druidOpResourceHash": "x", "theirs": "y"}
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = union(only["fieldsV1"], {"f:metadata": {"f:annotations": {"f:druidOpResourceHash": {}}}})
    live["metadata"]["managedFields"].append(entry("other", {"f:metadata": {"f:annotations": {"f:theirs": {}}}}))
    comparison = compare(live, config_map())
    assert comparison.predicted["metadata"]["annotations"] == {"theirs": "y"}
    assert not comparison.is_settled


@pytest.mark.parametrize("name", recording.NAMES)
def test_adoption_predicts_no_template_change(name: str) -> None:
    for live in recording.owned_objects(name).values():
        manifest = {**live, "metadata": {k: v for k, v in live["metadata"].items() if k != "managedFields"}}
        predicted = compare(live, manifest).predicted
        assert predicted.get("spec") == live.get("spec") or has_duplicate_names(live)


def has_duplicate_names(live: Manifest) -> bool:
    template = live["spec"].get("template", {}).get("spec", {})
    names = [each["name"] for found in template.get("containers", ()) for each in found.get("env", ())]
    return len(names) != len(set(names))


@pytest.mark.parametrize(("change", "fields"), [row[1:] for row in FOREIGN], ids=[row[0] for row in FOREIGN])
def test_adoption_keeps_foreign_fields(change: Any, fields: Manifest) -> None:
    """The creator of the object owned the mappings and lists themselves, to which others have added fields."""
    live = written_by("manager", stateful_set(podAnnotations={"a": "b"}))
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = with_mappings(only["fieldsV1"])
    live["metadata"]["managedFields"].append(entry("other", fields, "Update"))
    change(live)
    assert compare(live, stateful_set(podAnnotations={"a": "b"})).predicted == live
    removed = compare(live, stateful_set()).predicted
    change(expected := deepcopy(stateful_set()))
    assert removed["spec"]["template"] == expected["spec"]["template"]


def with_mappings(fields: Manifest) -> Manifest:
    """Return the fields as an Update owns them."""
    return {step: {".": {}, **with_mappings(each)} if each else each for step, each in fields.items()}


def test_metadata_of_the_server_is_not_a_difference() -> None:
    live = stored(config_map())
    after = deepcopy(live)
    after["metadata"] |= {"resourceVersion": "2", "generation": 7}
    after["metadata"]["managedFields"][0]["time"] = "2026-02-02T00:00:00Z"
    assert same_object(live, after)


@given(st.sampled_from(LEAVES))
def test_every_other_field_is_a_difference(case: tuple[Manifest, tuple[str | int, ...]]) -> None:
    manifest, path = case
    live = stored(manifest)
    assert at(live, path) is not None
    assert not same_object(live, with_change(live, path))


def test_different_managed_fields_are_a_difference() -> None:
    live, after = stored(config_map()), stored(config_map())
    after["metadata"]["managedFields"][0]["fieldsV1"]["f:more"] = {}
    assert not same_object(live, after)
