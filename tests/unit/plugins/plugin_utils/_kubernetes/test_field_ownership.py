# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who owns what, and what has to become ours before a manifest can be applied."""

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
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
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
# As an Apply has it, and the server's own record: without the mappings on the way.
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
    """Return the object as the Go operator wrote it, told by its annotation."""
    live = written_by(manager, manifest)
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = union(union(only["fieldsV1"], HASH), FINALIZER)
    live["metadata"]["managedFields"] += others
    return live


def with_fields(live: Manifest, managed_fields: list[Manifest] | None) -> Manifest:
    assert managed_fields is not None
    return {**live, "metadata": {**live["metadata"], "managedFields": managed_fields}}


def leaves(fields: FieldSet, *above: str) -> set[tuple[str, ...]]:
    """Return the paths to the end: whether a mapping on the way is owned as well is of no account."""
    deeper = {step: children for step, children in fields.items() if step != "."}
    if not deeper:
        return {above}
    return {path for step, children in deeper.items() for path in leaves(children, *above, step)}


def of(managed_fields: list[Manifest] | None, manager: str) -> FieldSet:
    """Return the fields of the only entry of a manager; {} when there is none."""
    assert managed_fields is not None
    found = [each["fieldsV1"] for each in managed_fields if each["manager"] == manager]
    assert len(found) <= 1
    return found[0] if found else {}


@pytest.mark.parametrize("manager", ["manager", "druid-operator", "main", "anything"])
@pytest.mark.parametrize("manifest", [config_map(), service(), stateful_set()], ids=lambda manifest: manifest["kind"])
def test_takes_over_from_the_go_operator(manager: str, manifest: Manifest) -> None:
    taken = required_managed_fields(go_operators(manifest, manager), manifest)
    assert of(taken, "druidops") == union(field_set(manifest), HASH)
    assert of(taken, manager) == FINALIZER


@pytest.mark.parametrize("kind", ["Deployment", "PersistentVolumeClaim"])
def test_leaves_the_annotation_where_taking_it_would_do_harm(kind: str) -> None:
    manifest = druid.rendered(
        kind, {"kind": "Deployment", "persistentVolumeClaim": [{"spec": {"volumeMode": "Block"}}]}
    )
    taken = required_managed_fields(go_operators(manifest, "manager"), manifest)
    assert below(of(taken, "druidops"), *HASH, "f:annotations", "f:druidOpResourceHash") == {}
    assert of(taken, "manager") == union(FINALIZER, {"f:metadata": {"f:annotations": {"f:druidOpResourceHash": {}}}})


def test_takes_what_is_wanted_where_nobody_is_recorded() -> None:
    live = written_by("before-first-apply", config_map())
    [only] = live["metadata"]["managedFields"]
    only["fieldsV1"] = union(only["fieldsV1"], union(SHORT_HASH, union(FINALIZER, LABEL)))
    taken = required_managed_fields(live, config_map())
    assert leaves(of(taken, "druidops")) == leaves(union(field_set(config_map()), SHORT_HASH))
    assert leaves(of(taken, "before-first-apply")) == leaves(union(FINALIZER, LABEL))


def test_takes_what_is_wanted_of_an_object_without_managed_fields() -> None:
    live = {**config_map(), "data": {**config_map()["data"], "foreign.txt": "1"}}
    live["metadata"] |= {"creationTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["a/b"]}
    taken = required_managed_fields(live, config_map())
    assert leaves(of(taken, "druidops")) == leaves(union(field_set(config_map()), KEY))
    assert leaves(of(taken, "before-first-apply")) == leaves(FINALIZER)


def test_takes_over_what_nobody_else_can_have_written() -> None:
    live = written_by("main", stateful_set())
    assert of(required_managed_fields(live, stateful_set()), "druidops") == field_set(stateful_set())


def in_two_entries(manifest: Manifest, first: Manifest, second: Manifest) -> Manifest:
    """Return the object as two binaries, or one through two versions of the API, have written it."""
    live = go_operators(manifest, "manager")
    [whole] = live["metadata"]["managedFields"]
    later = union(HASH, {"f:metadata": {"f:labels": {"f:app": {}, "f:gone": {}}}})
    live["metadata"]["managedFields"] = [
        {**whole, **first, "fieldsV1": union(made_by_another(difference(whole["fieldsV1"], later)), LABEL)},
        {**whole, **second, "fieldsV1": later},
    ]
    return live


def made_by_another(fields: FieldSet) -> FieldSet:
    """Return what the maker of an object owns: the mappings themselves, too."""
    return union(fields, {"f:metadata": {"f:labels": {".": {}}, "f:ownerReferences": {".": {}}}})


BUDGET = druid.rendered("PodDisruptionBudget", {"podDisruptionBudgetSpec": {"maxUnavailable": 1}})
WRITERS: dict[str, tuple[Manifest, Manifest]] = {
    "two versions": ({"apiVersion": "policy/v1beta1"}, {"apiVersion": "policy/v1"}),
    "two names": ({"manager": "druid-operator"}, {"manager": "manager"}),
    "a name of its own first": ({"manager": "anything"}, {"manager": "manager"}),
    "a name of its own later": ({"manager": "main"}, {"manager": "anything"}),
}


@pytest.mark.parametrize("manifest", [BUDGET, service(), stateful_set()], ids=lambda manifest: manifest["kind"])
@pytest.mark.parametrize("writers", WRITERS)
def test_takes_over_what_the_go_operator_wrote_earlier(manifest: Manifest, writers: str) -> None:
    live = in_two_entries(manifest, *WRITERS[writers])
    taken = required_managed_fields(live, manifest)
    managers = {each["manager"] for each in live["metadata"]["managedFields"]}
    assert all(leaves(of(taken, manager)) <= leaves(FINALIZER) | {()} for manager in managers)
    old: FieldSet = {"f:metadata": {"f:labels": {"f:gone": {}, "f:theirs": {}}}}
    assert leaves(of(taken, "druidops")) == leaves(union(field_set(manifest), union(HASH, old)))


def test_knows_the_go_operator_by_name_until_the_object_is_ours() -> None:
    by_name = entry("main", LABEL, "Update")
    taken = required_managed_fields(go_operators(config_map(), "anything", by_name), config_map())
    assert of(taken, "main") == {}
    assert required_managed_fields(stored(config_map(), by_name), config_map()) is None
    applied = entry("manager", LABEL)
    assert (
        of(required_managed_fields(go_operators(config_map(), "anything", applied), config_map()), "manager") == LABEL
    )


def test_leaves_subresources() -> None:
    status = entry("kube-controller-manager", {"f:status": {"f:replicas": {}}}, "Update", "status")
    scale = entry("scaler", REPLICAS, "Update", "scale")
    taken = required_managed_fields(go_operators(stateful_set(), "manager", status, scale), stateful_set())
    assert of(taken, "kube-controller-manager") == status["fieldsV1"]
    assert of(taken, "scaler") == REPLICAS


def test_leaves_what_another_has_applied_as_well() -> None:
    label: FieldSet = {"f:metadata": {"f:labels": {"f:app": {}}}}
    taken = required_managed_fields(go_operators(config_map(), "manager", entry("flux", label)), config_map())
    assert of(taken, "flux") == label


def test_leaves_what_is_left_out_on_purpose() -> None:
    whole, manifest = stateful_set(), stateful_set(**AUTOSCALED)
    taken = required_managed_fields(go_operators(whole, "manager"), manifest)
    assert below(of(taken, "druidops"), "f:spec", "f:replicas") == {}
    assert below(of(taken, "druidops-verbatim"), "f:spec", "f:replicas") == REPLICAS
    complete = deepcopy(manifest)
    del manifest["spec"]["template"]
    taken = required_managed_fields(go_operators(whole, "manager"), manifest)
    assert below(of(taken, "druidops"), "f:spec", "f:template") == {}
    assert below(of(taken, "druidops-verbatim"), "f:spec", "f:template") != {}
    # What is stated later becomes ours then, all of it.
    taken = required_managed_fields(with_fields(stored(whole), taken), complete)
    assert of(taken, "druidops") == union(field_set(complete), HASH)
    assert of(taken, "druidops-verbatim") == REPLICAS


KEY: FieldSet = {"f:data": {"f:foreign.txt": {}}}
PORT: FieldSet = {"f:spec": {"f:ports": {'k:{"port":8080,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}
OPENED = nested((*MAIN, "f:ports"), {'k:{"containerPort":1,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}})
MOUNTED = nested((*MAIN, "f:volumeMounts"), {'k:{"mountPath":"/x"}': {".": {}, "f:mountPath": {}}})
VARIABLE = nested((*MAIN, "f:env"), {'k:{"name":"X"}': {".": {}, "f:name": {}}})
LABEL: FieldSet = {"f:metadata": {"f:labels": {"f:theirs": {}}}}

TAKEN = [
    ("a key of a ConfigMap", config_map(), KEY),
    ("a port of a Service", service(), PORT),
    ("a port of the main container", stateful_set(), OPENED),
    ("a mount of the main container", stateful_set(), MOUNTED),
]


@pytest.mark.parametrize(("manifest", "fields"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_takes(manifest: Manifest, fields: FieldSet, operation: str) -> None:
    live = stored(manifest, entry("kubectl-edit", union(fields, LABEL), operation))
    taken = required_managed_fields(live, manifest)
    assert difference(fields, of(taken, "druidops")) == {}
    assert of(taken, "kubectl-edit") == LABEL


LEFT = [
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


@pytest.mark.parametrize(("manifest", "fields"), [row[1:] for row in LEFT], ids=[row[0] for row in LEFT])
def test_leaves(manifest: Manifest, fields: FieldSet) -> None:
    assert required_managed_fields(stored(manifest, entry("kubectl-edit", fields, "Update")), manifest) is None


def test_releases_the_replicas_that_an_autoscaler_takes() -> None:
    taken = required_managed_fields(stored(stateful_set()), stateful_set(**AUTOSCALED))
    assert of(taken, "druidops-replicas") == REPLICAS
    assert of(taken, "druidops") == difference(field_set(stateful_set()), REPLICAS)


def test_releases_replicas_again() -> None:
    live = stored(stateful_set(), entry("druidops-replicas", REPLICAS))
    assert of(required_managed_fields(live, stateful_set(**AUTOSCALED)), "druidops-replicas") == REPLICAS


def test_tells_ours_from_theirs() -> None:
    status = entry("druidops", {"f:status": {}}, "Update", "status")
    live = stored(config_map(), status, entry("druidops", LABEL, "Update"), entry("other", KEY))
    assert owned_fields(live) == field_set(config_map())
    assert fields_of_others(live) == {"f:status": {}, **LABEL, **KEY}


def test_nothing_of_what_nobody_is_recorded_for_is_ours() -> None:
    live = config_map()
    live["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z"
    assert owned_fields(live) == {}
    assert fields_of_others(live) == field_set(live)


def test_says_whose_each_entry_is() -> None:
    taken = required_managed_fields(go_operators(config_map(), "manager"), config_map()) or []
    [ours] = [each for each in taken if each["manager"] == "druidops"]
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
    """Return a workload that runs with the server's parameters of a rolling update, and one without rolling updates."""
    strategy, other_type, parameters = ROLLING[kind]
    live = stored(druid.rendered(kind, {"kind": kind, strategy: {"type": "RollingUpdate"}}), *others)
    live["spec"][strategy]["rollingUpdate"] = parameters
    return live, druid.rendered(kind, {"kind": kind, strategy: {"type": other_type}})


@pytest.mark.parametrize("kind", ROLLING)
@pytest.mark.parametrize("is_edited", [False, True], ids=["filled in", "edited"])
def test_parameters_of_a_rolling_update_go_with_it(kind: str, is_edited: bool) -> None:
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
def test_parameters_of_a_rolling_update_stay_with_it(kind: str) -> None:
    live, _other = rolling(kind)
    strategy, _other_type, _parameters = ROLLING[kind]
    for stated in ({}, {strategy: {"type": "RollingUpdate"}}):
        assert required_managed_fields(live, druid.rendered(kind, {"kind": kind, **stated})) is None


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
def test_once_is_enough(manifest: Manifest, foreign: list[Manifest], is_ours: bool, is_smaller: bool) -> None:
    live = stored(manifest, *foreign) if is_ours else go_operators(manifest, "main", *foreign)
    wanted = deepcopy(manifest)
    if is_smaller and "spec" in wanted:
        wanted["spec"].pop("replicas", None)
    before = deepcopy(live)
    managed_fields = required_managed_fields(live, wanted)
    assert live == before
    if managed_fields is not None:
        assert required_managed_fields(with_fields(live, managed_fields), wanted) is None
        managers = [(each["manager"], each["operation"], each.get("subresource")) for each in managed_fields]
        assert len(managers) == len(set(managers))


@pytest.mark.parametrize("name", recording.NAMES)
def test_takes_over_every_recorded_object(name: str) -> None:
    for live in recording.owned_objects(name).values():
        managed_fields = required_managed_fields(live, live)
        after = with_fields(live, managed_fields)
        assert required_managed_fields(after, live) is None
        assert all(
            each["manager"] in ("druidops", "kube-controller-manager") or is_stay(each) for each in after_entries(after)
        )


def after_entries(live: Manifest) -> list[Manifest]:
    found: list[Manifest] = live["metadata"]["managedFields"]
    return found


def is_stay(left: Manifest) -> bool:
    """True for the one thing that is left to the Go operator: its annotation on a Deployment."""
    annotations: FieldSet = left["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})
    return "f:druidOpResourceHash" in annotations and set(left["fieldsV1"]) == {"f:metadata"}
