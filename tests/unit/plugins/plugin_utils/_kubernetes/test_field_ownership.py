# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The owners of fields, and the fields that we must own before a manifest can be applied."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    fields_of_others,
    owned_fields,
    required_managed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    FieldSet,
    below,
    difference,
    field_set,
    union,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import MANIFESTS
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry, stored, written_by
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]

HASH: FieldSet = {"f:metadata": {"f:annotations": {".": {}, "f:druidOpResourceHash": {}}}}
# As in the entry of an Apply, and in the server's own entry: without the mappings on the path.
SHORT_HASH: FieldSet = {"f:metadata": {"f:annotations": {"f:druidOpResourceHash": {}}}}
FINALIZER: FieldSet = {"f:metadata": {"f:finalizers": {".": {}, 'v:"a/b"': {}}}}
REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}
MAIN = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"druid-c-brokers"}')
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "druid-c-brokers"}
AUTOSCALED = {"hpAutoscaler": {"maxReplicas": 2, "scaleTargetRef": TARGET}}


def nested(path: tuple[str, ...], fields: FieldSet) -> FieldSet:
    for step in reversed(path):
        fields = {step: fields}
    return fields


def config_map() -> Manifest:
    return druid.rendered("ConfigMap")


def stateful_set(**node: Any) -> Manifest:
    return druid.rendered("StatefulSet", node)


def service() -> Manifest:
    return druid.rendered("Service", {"services": [{}]})


def go_operators(manifest: Manifest, manager: str, *others: Manifest) -> Manifest:
    """Return the object as the Go operator wrote it: its annotation identifies it."""
    live = written_by(manager, manifest)
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = union(union(only["fieldsV1"], HASH), FINALIZER)
    live["metadata"]["managedFields"] += others
    return live


def with_fields(live: Manifest, managed_fields: list[Manifest] | None) -> Manifest:
    assert managed_fields is not None
    return {**live, "metadata": {**live["metadata"], "managedFields": managed_fields}}


def leaves(fields: FieldSet, *above: str) -> set[tuple[str, ...]]:
    """Return the paths of the leaves; the ownership of the mappings on the path is ignored."""
    deeper = {step: children for step, children in fields.items() if step != "."}
    if not deeper:
        return {above}
    return {path for step, children in deeper.items() for path in leaves(children, *above, step)}


def of(managed_fields: list[Manifest] | None, manager: str) -> FieldSet:
    """Return the fields of the only entry of a manager; {} if there is none."""
    assert managed_fields is not None
    found = [each["fieldsV1"] for each in managed_fields if each["manager"] == manager]
    assert len(found) <= 1
    return found[0] if found else {}


@pytest.mark.parametrize("manager", ["manager", "druid-operator", "main", "anything"])
@pytest.mark.parametrize("manifest", [config_map(), service(), stateful_set()], ids=lambda manifest: manifest["kind"])
def test_adopts_the_fields_of_the_go_operator(manager: str, manifest: Manifest) -> None:
    required = required_managed_fields(go_operators(manifest, manager), manifest)
    assert of(required, "druidops") == union(field_set(manifest), HASH)
    assert of(required, manager) == FINALIZER


@pytest.mark.parametrize("kind", ["Deployment", "PersistentVolumeClaim"])
def test_annotation_of_the_go_operator_is_kept_on_some_kinds(kind: str) -> None:
    manifest = druid.rendered(
        kind, {"kind": "Deployment", "persistentVolumeClaim": [{"spec": {"volumeMode": "Block"}}]}
    )
    required = required_managed_fields(go_operators(manifest, "manager"), manifest)
    assert below(of(required, "druidops"), *HASH, "f:annotations", "f:druidOpResourceHash") == {}
    assert of(required, "manager") == union(FINALIZER, {"f:metadata": {"f:annotations": {"f:druidOpResourceHash": {}}}})


def test_adopts_desired_fields_without_a_recorded_manager() -> None:
    live = written_by("before-first-apply", config_map())
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = union(only["fieldsV1"], union(SHORT_HASH, union(FINALIZER, LABEL)))
    required = required_managed_fields(live, config_map())
    assert leaves(of(required, "druidops")) == leaves(union(field_set(config_map()), SHORT_HASH))
    assert leaves(of(required, "before-first-apply")) == leaves(union(FINALIZER, LABEL))


def test_adopts_desired_fields_of_an_object_without_managed_fields() -> None:
    live = {**config_map(), "data": {**config_map()["data"], "foreign.txt": "1"}}
    live["metadata"] |= {"creationTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["a/b"]}
    required = required_managed_fields(live, config_map())
    assert leaves(of(required, "druidops")) == leaves(union(field_set(config_map()), KEY))
    assert leaves(of(required, "before-first-apply")) == leaves(FINALIZER)


def test_adopts_fields_of_a_sole_manager() -> None:
    live = written_by("main", stateful_set())
    assert of(required_managed_fields(live, stateful_set()), "druidops") == field_set(stateful_set())


def in_two_entries(manifest: Manifest, first: Manifest, second: Manifest) -> Manifest:
    """Return the object as two binaries, or one binary with two API versions, have written it."""
    live = go_operators(manifest, "manager")
    [whole] = live["metadata"]["managedFields"]
    later = union(HASH, {"f:metadata": {"f:labels": {"f:app": {}, "f:gone": {}}}})
    live["metadata"]["managedFields"] = [
        {**whole, **first, "fieldsV1": union(as_creator(difference(whole["fieldsV1"], later)), LABEL)},
        {**whole, **second, "fieldsV1": later},
    ]
    return live


def as_creator(fields: FieldSet) -> FieldSet:
    """Return the fields as the creator of an object owns them: with the mappings themselves."""
    return union(fields, {"f:metadata": {"f:labels": {".": {}}, "f:ownerReferences": {".": {}}}})


BUDGET = druid.rendered("PodDisruptionBudget", {"podDisruptionBudgetSpec": {"maxUnavailable": 1}})
WRITERS: dict[str, tuple[Manifest, Manifest]] = {
    "two versions": ({"apiVersion": "policy/v1beta1"}, {"apiVersion": "policy/v1"}),
    "two names": ({"manager": "druid-operator"}, {"manager": "manager"}),
    "another name first": ({"manager": "anything"}, {"manager": "manager"}),
    "another name later": ({"manager": "main"}, {"manager": "anything"}),
}


@pytest.mark.parametrize("manifest", [BUDGET, service(), stateful_set()], ids=lambda manifest: manifest["kind"])
@pytest.mark.parametrize("writers", WRITERS)
def test_adopts_earlier_fields_of_the_go_operator(manifest: Manifest, writers: str) -> None:
    live = in_two_entries(manifest, *WRITERS[writers])
    required = required_managed_fields(live, manifest)
    managers = {each["manager"] for each in live["metadata"]["managedFields"]}
    assert all(leaves(of(required, manager)) <= leaves(FINALIZER) | {()} for manager in managers)
    old: FieldSet = {"f:metadata": {"f:labels": {"f:gone": {}, "f:theirs": {}}}}
    assert leaves(of(required, "druidops")) == leaves(union(field_set(manifest), union(HASH, old)))


def test_go_operator_is_identified_by_name_until_the_object_is_ours() -> None:
    by_name = entry("main", LABEL, "Update")
    required = required_managed_fields(go_operators(config_map(), "anything", by_name), config_map())
    assert of(required, "main") == {}
    assert required_managed_fields(stored(config_map(), by_name), config_map()) is None
    applied = entry("manager", LABEL)
    assert (
        of(required_managed_fields(go_operators(config_map(), "anything", applied), config_map()), "manager") == LABEL
    )


def test_subresources_are_unchanged() -> None:
    status = entry("kube-controller-manager", {"f:status": {"f:replicas": {}}}, "Update", "status")
    scale = entry("scaler", REPLICAS, "Update", "scale")
    required = required_managed_fields(go_operators(stateful_set(), "manager", status, scale), stateful_set())
    assert of(required, "kube-controller-manager") == status["fieldsV1"]
    assert of(required, "scaler") == REPLICAS


def test_fields_that_another_manager_applied_are_unchanged() -> None:
    label: FieldSet = {"f:metadata": {"f:labels": {"f:app": {}}}}
    required = required_managed_fields(go_operators(config_map(), "manager", entry("flux", label)), config_map())
    assert of(required, "flux") == label


def test_fields_omitted_on_purpose_are_not_adopted() -> None:
    whole, manifest = stateful_set(), stateful_set(**AUTOSCALED)
    required = required_managed_fields(go_operators(whole, "manager"), manifest)
    assert below(of(required, "druidops"), "f:spec", "f:replicas") == {}
    assert below(of(required, "druidops-verbatim"), "f:spec", "f:replicas") == REPLICAS
    complete = deepcopy(manifest)
    del manifest["spec"]["template"]
    required = required_managed_fields(go_operators(whole, "manager"), manifest)
    assert below(of(required, "druidops"), "f:spec", "f:template") == {}
    assert below(of(required, "druidops-verbatim"), "f:spec", "f:template") != {}
    # fields that are specified later are adopted then, completely
    required = required_managed_fields(with_fields(stored(whole), required), complete)
    assert of(required, "druidops") == union(field_set(complete), HASH)
    assert of(required, "druidops-verbatim") == REPLICAS


KEY: FieldSet = {"f:data": {"f:foreign.txt": {}}}
PORT: FieldSet = {"f:spec": {"f:ports": {'k:{"port":8080,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}
OPENED = nested((*MAIN, "f:ports"), {'k:{"containerPort":1,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}})
MOUNTED = nested((*MAIN, "f:volumeMounts"), {'k:{"mountPath":"/x"}': {".": {}, "f:mountPath": {}}})
VARIABLE = nested((*MAIN, "f:env"), {'k:{"name":"X"}': {".": {}, "f:name": {}}})
LABEL: FieldSet = {"f:metadata": {"f:labels": {"f:theirs": {}}}}

ADOPTED = [
    ("a key of a ConfigMap", config_map(), KEY),
    ("a port of a Service", service(), PORT),
    ("a port of the main container", stateful_set(), OPENED),
    ("a mount of the main container", stateful_set(), MOUNTED),
]


@pytest.mark.parametrize(("manifest", "fields"), [row[1:] for row in ADOPTED], ids=[row[0] for row in ADOPTED])
@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_conflicting_fields_are_adopted(manifest: Manifest, fields: FieldSet, operation: str) -> None:
    live = stored(manifest, entry("kubectl-edit", union(fields, LABEL), operation))
    required = required_managed_fields(live, manifest)
    assert difference(fields, of(required, "druidops")) == {}
    assert of(required, "kubectl-edit") == LABEL


UNCHANGED = [
    ("a variable of the main container", stateful_set(), VARIABLE),
    ("the command, and a variable", stateful_set(), union(nested(MAIN, {"f:command": {}}), VARIABLE)),
    (
        "one more owner, and a label",
        config_map(),
        {"f:metadata": {"f:ownerReferences": {'k:{"uid":"x"}': {}}, **LABEL["f:metadata"]}},
    ),
    ("the selector of a Service", service(), {"f:spec": {"f:selector": {}}, **LABEL}),
    ("a label", stateful_set(), LABEL),
    ("a finalizer", config_map(), FINALIZER),
    ("a sidecar", stateful_set(), nested((*MAIN[:-1], 'k:{"name":"sidecar"}'), {".": {}, "f:ports": {}})),
    ("the status", stateful_set(), {"f:status": {"f:replicas": {}}}),
    ("a changed key of ours", config_map(), {"f:data": {"f:runtime.properties": {}}}),
]


@pytest.mark.parametrize(("manifest", "fields"), [row[1:] for row in UNCHANGED], ids=[row[0] for row in UNCHANGED])
def test_other_foreign_fields_are_unchanged(manifest: Manifest, fields: FieldSet) -> None:
    assert required_managed_fields(stored(manifest, entry("kubectl-edit", fields, "Update")), manifest) is None


def test_replicas_are_released_to_an_autoscaler() -> None:
    required = required_managed_fields(stored(stateful_set()), stateful_set(**AUTOSCALED))
    assert of(required, "druidops-replicas") == REPLICAS
    assert of(required, "druidops") == difference(field_set(stateful_set()), REPLICAS)


def test_released_replicas_remain_released() -> None:
    live = stored(stateful_set(), entry("druidops-replicas", REPLICAS))
    assert of(required_managed_fields(live, stateful_set(**AUTOSCALED)), "druidops-replicas") == REPLICAS


HPA = entry("kube-controller-manager", REPLICAS, "Update", "scale")
STATUS = entry("kube-controller-manager", {"f:status": {"f:replicas": {}}}, "Update", "status")
PERSON = entry("kubectl", REPLICAS, "Update", "scale")
HELD = ("druidops-replicas", "Apply", None)
SCALED = ("kube-controller-manager", "Update", "scale")
# What the replaced object has besides our fields, and who owns the replicas of the new one; replicas are not specified.
RECREATED: list[tuple[str, list[Manifest] | None, set[tuple[str, str, str | None]]]] = [
    ("nothing is known of the former", None, {HELD}),
    ("never scaled", [STATUS], {HELD}),
    ("held before", [entry("druidops-replicas", REPLICAS)], {HELD}),
    ("scaled by an autoscaler", [HPA, STATUS], {SCALED}),
    ("scaled by a person", [PERSON], {("kubectl", "Update", "scale")}),
    ("edited by a person", [entry("kubectl-edit", REPLICAS, "Update")], {("kubectl-edit", "Update", None)}),
    ("scaled to the held number", [entry("druidops-replicas", REPLICAS), HPA], {HELD, SCALED}),
]


@pytest.mark.parametrize(("others", "owners"), [row[1:] for row in RECREATED], ids=[row[0] for row in RECREATED])
def test_replicas_of_a_recreated_workload_belong_to_who_scaled_the_former(
    others: list[Manifest] | None, owners: set[tuple[str, str, str | None]]
) -> None:
    desired = stateful_set(**AUTOSCALED)
    former = None if others is None else stored(desired, *others)
    new = written_by("druidops-initial", stateful_set(), "Apply")
    required = required_managed_fields(new, desired, former)
    assert owners_of_replicas(required) == owners
    assert of(required, "druidops") == field_set(desired)
    # The next reconcile does not know the former object.
    assert required_managed_fields(with_fields(new, required), desired) is None


def owners_of_replicas(managed_fields: list[Manifest] | None) -> set[tuple[str, str, str | None]]:
    assert managed_fields is not None
    found = (each for each in managed_fields if below(each["fieldsV1"], "f:spec", "f:replicas"))
    return {(each["manager"], each["operation"], each.get("subresource")) for each in found}


def test_replicas_of_a_recreated_workload_with_duplicate_keys_belong_to_the_autoscaler() -> None:
    whole, desired = stateful_set(), stateful_set(**AUTOSCALED)
    del desired["spec"]["template"]
    former = stored(desired, HPA, entry("druidops-verbatim", difference(field_set(whole), REPLICAS), "Update"))
    new = written_by("druidops-verbatim", whole)
    required = required_managed_fields(new, desired, former)
    assert owners_of_replicas(required) == {SCALED}
    assert required_managed_fields(with_fields(new, required), desired) is None


def test_specified_replicas_of_a_recreated_workload_are_ours() -> None:
    new = written_by("druidops-initial", stateful_set(), "Apply")
    required = required_managed_fields(new, stateful_set(), stored(stateful_set(**AUTOSCALED), HPA))
    assert {each["manager"]: each["fieldsV1"] for each in required or []} == {"druidops": field_set(stateful_set())}


def test_own_fields_and_fields_of_others() -> None:
    status = entry("druidops", {"f:status": {}}, "Update", "status")
    live = stored(config_map(), status, entry("druidops", LABEL, "Update"), entry("other", KEY))
    assert owned_fields(live) == field_set(config_map())
    assert fields_of_others(live) == {"f:status": {}, **LABEL, **KEY}


def test_fields_without_a_recorded_manager_are_not_ours() -> None:
    live = config_map()
    live["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z"
    assert owned_fields(live) == {}
    assert fields_of_others(live) == field_set(live)


def test_metadata_of_our_entry() -> None:
    required = required_managed_fields(go_operators(config_map(), "manager"), config_map()) or []
    [ours] = [each for each in required if each["manager"] == "druidops"]
    assert {name: value for name, value in ours.items() if name != "fieldsV1"} == {
        "manager": "druidops",
        "operation": "Apply",
        "apiVersion": "v1",
        "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1",
    }


ROLLING = {
    "StatefulSet": ("updateStrategy", "OnDelete", {"partition": 0, "maxUnavailable": 1}),
    "Deployment": ("strategy", "Recreate", {"maxSurge": "25%", "maxUnavailable": "25%"}),
}


def rolling(kind: str, *others: Manifest) -> tuple[Manifest, Manifest]:
    """Return a workload with the server's default parameters of rolling updates, and one without rolling updates."""
    strategy, other_type, parameters = ROLLING[kind]
    live = stored(druid.rendered(kind, {"kind": kind, strategy: {"type": "RollingUpdate"}}), *others)
    live["spec"][strategy]["rollingUpdate"] = parameters
    return live, druid.rendered(kind, {"kind": kind, strategy: {"type": other_type}})


@pytest.mark.parametrize("kind", ROLLING)
@pytest.mark.parametrize("is_edited", [False, True], ids=["default", "edited"])
def test_parameters_are_removed_with_the_rolling_update(kind: str, is_edited: bool) -> None:
    strategy, other_type, parameters = ROLLING[kind]
    path = ("f:spec", f"f:{strategy}", "f:rollingUpdate")
    fields = nested(path, {f"f:{name}": {} for name in parameters})
    live, manifest = rolling(kind, *([entry("kubectl-edit", fields, "Update")] if is_edited else []))
    managed_fields = required_managed_fields(live, manifest)
    assert below(of(managed_fields, "druidops"), *path) == fields
    assert of(managed_fields, "kubectl-edit") == {}
    assert required_managed_fields(with_fields(live, managed_fields), manifest) is None
    assert compare(live, manifest).predicted["spec"][strategy] == {"type": other_type}


@pytest.mark.parametrize("kind", ROLLING)
def test_parameters_are_kept_with_the_rolling_update(kind: str) -> None:
    live, _other = rolling(kind)
    strategy, _other_type, _parameters = ROLLING[kind]
    for node in ({}, {strategy: {"type": "RollingUpdate"}}):
        assert required_managed_fields(live, druid.rendered(kind, {"kind": kind, **node})) is None


FOREIGN = [
    entry("kubectl-edit", KEY, "Update"),
    entry("kubectl-edit", PORT, "Update"),
    entry("flux", union(OPENED, union(MOUNTED, VARIABLE))),
    entry("argo", union(LABEL, FINALIZER), "Update"),
    entry("manager", union(HASH, union(FINALIZER, REPLICAS)), "Update"),
    entry("before-first-apply", union(FINALIZER, LABEL), "Update"),
    entry("druidops-replicas", REPLICAS),
    entry("scaler", REPLICAS, "Update", "scale"),
]


@given(
    st.sampled_from([*MANIFESTS.values()]),
    st.lists(st.sampled_from(FOREIGN), unique_by=lambda each: (each["manager"], each["operation"])),
    st.booleans(),
    st.booleans(),
)
def test_adoption_is_idempotent(manifest: Manifest, foreign: list[Manifest], is_ours: bool, is_smaller: bool) -> None:
    live = stored(manifest, *foreign) if is_ours else go_operators(manifest, "main", *foreign)
    desired = deepcopy(manifest)
    if is_smaller and "spec" in desired:
        desired["spec"].pop("replicas", None)
    before = deepcopy(live)
    managed_fields = required_managed_fields(live, desired)
    assert live == before
    if managed_fields is not None:
        assert required_managed_fields(with_fields(live, managed_fields), desired) is None
        managers = [(each["manager"], each["operation"], each.get("subresource")) for each in managed_fields]
        assert len(managers) == len(set(managers))


@pytest.mark.parametrize("name", recording.NAMES)
def test_adopts_every_recorded_object(name: str) -> None:
    for live in recording.owned_objects(name).values():
        managed_fields = required_managed_fields(live, live)
        after = with_fields(live, managed_fields)
        assert required_managed_fields(after, live) is None
        assert all(
            each["manager"] in ("druidops", "kube-controller-manager") or is_kept_annotation(each)
            for each in after_entries(after)
        )


def after_entries(live: Manifest) -> list[Manifest]:
    found: list[Manifest] = live["metadata"]["managedFields"]
    return found


def is_kept_annotation(managed_entry: Manifest) -> bool:
    """Return whether the entry has only the annotation of the Go operator on a Deployment."""
    annotations: FieldSet = managed_entry["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})
    return "f:druidOpResourceHash" in annotations and set(managed_entry["fieldsV1"]) == {"f:metadata"}
