# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Field ownership: the fields of a live object that we own, that we must own before an apply, and that others own.

Server-side apply removes a field only if no other manager owns it, and merges a list map by its keys only. So before an
apply, the ownership of the fields in our manifest is moved to our manager by rewriting
``metadata.managedFields`` (what client-go calls csaupgrade); values and generation stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    SELF,
    FieldSet,
    below,
    difference,
    field_set,
    intersection,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge, remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    WORKLOADS,
    Manifest,
)

APPLY = "Apply"
UPDATE = "Update"
# Owns the live replicas while a HorizontalPodAutoscaler sets them: without an owner they would be reset to 1.
REPLICAS_MANAGER = "druidops-replicas"
# Owns fields that we leave unchanged. A pod template with duplicate keys can only be created, not applied.
VERBATIM_MANAGER = "druidops-verbatim"
INITIAL_MANAGER = "druidops-initial"
# The same for a workload whose number of replicas is that of an external autoscaler.
AUTOSCALED_MANAGER = "druidops-autoscaled"
# Field managers of the Go operator, by the name of its binary: in its image, run from source, built by hand.
GO_OPERATORS = frozenset({"manager", "main", "druid-operator"})
REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}
# Parts that a manifest may omit: then they stay unchanged.
_LEFT_OUT = (("f:spec",), ("f:spec", "f:template"), ("f:spec", "f:replicas"))
# The API server's manager for all fields of an object without managed fields.
BEFORE_FIRST_APPLY = "before-first-apply"
# We take over only the desired fields of these managers; the rest may belong to others.
_INITIAL_MANAGERS = frozenset({INITIAL_MANAGER, AUTOSCALED_MANAGER})
_ON_BEHALF = _INITIAL_MANAGERS | {BEFORE_FIRST_APPLY}
_HOLDERS = _INITIAL_MANAGERS | {VERBATIM_MANAGER}
# Their fields in a recreated object go back to their former owners.
_HOLDERS_OF_RECREATED = _HOLDERS | {REPLICAS_MANAGER}
# The subresource of kubectl scale and of autoscalers.
SCALE = "scale"
GO_OPERATOR_HASH = ("f:metadata", "f:annotations", "f:druidOpResourceHash")
FINALIZERS = ("f:metadata", "f:finalizers")
# Kinds where the Go operator's annotation stays. An annotation of a Deployment changes its generation, which triggers
# controllers; a PVC without it would make a Go operator try to replace the PVC, which fails.
KEEPS_HASH = ("Deployment", "PersistentVolumeClaim")
# Fields that stay with their owner in a takeover.
_STAYS: Mapping[str, tuple[tuple[str, ...], ...]] = dict.fromkeys(KEEPS_HASH, (FINALIZERS, GO_OPERATOR_HASH))
# Only the creator of an object owns these mappings: later managers own only their entries.
_FIELDS_OF_CREATOR = (("f:metadata", "f:labels", SELF), ("f:metadata", "f:ownerReferences", SELF))
_POD = ("f:spec", "f:template", "f:spec", "f:containers")
# Subtrees that we own exclusively.
_EXCLUSIVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ConfigMap": (("f:data",), ("f:binaryData",)),
    "Service": (("f:spec", "f:ports"),),
}
# The update strategy of a workload, and the only type with parameters.
_STRATEGIES: Mapping[str, str] = {"StatefulSet": "updateStrategy", "Deployment": "strategy"}
_ROLLING = "RollingUpdate"


def owned_fields(live: Manifest) -> FieldSet:
    """Return the fields that our manager applied."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if _is_ours(entry))


def owned_by(live: Manifest, manager: str, subresource: str | None = None) -> FieldSet:
    """Return the fields that a manager set, in the object itself or through a subresource."""
    owner = (manager, subresource)
    return _all(entry["fieldsV1"] for entry in _entries(live) if (entry["manager"], entry.get("subresource")) == owner)


def is_managed_by_us(live: Manifest) -> bool:
    """True for an object that we wrote, even if its field ownership is not final yet."""
    return any(_is_ours(entry) or entry["manager"] in _HOLDERS for entry in _entries(live))


def fields_of_others(live: Manifest) -> FieldSet:
    """Return the fields that other managers own, including subresources."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if not _is_ours(entry))


def foreign_fields(live: Manifest) -> FieldSet:
    """Return the fields that neither we nor a previous operator of the whole object own."""
    return difference(_all(entry["fieldsV1"] for entry in _foreign_entries(live)), specified_fields(live))


def specified_fields(live: Manifest) -> FieldSet:
    """Return the fields that we or a previous operator of the whole object own: not those that admission has added."""
    others = _foreign_entries(live)
    known = [entry for entry in _entries(live) if not entry.get("subresource") and entry not in others]
    return _all(entry["fieldsV1"] for entry in known)


def _foreign_entries(live: Manifest) -> list[dict[str, Any]]:
    predecessors = _predecessors(live)
    entries = [entry for entry in _entries(live) if not entry.get("subresource")]
    return [entry for entry in entries if not (_is_ours(entry) or _is_of(entry, predecessors))]


def required_managed_fields(
    live: Manifest, manifest: Manifest, former: Manifest | None = None, desired: FieldSet | None = None
) -> list[dict[str, Any]] | None:
    """Return the managed fields that an apply of ``manifest`` to ``live`` needs; None if they are set already.

    ``former`` is the object that ``live`` replaced: other managers get their fields back. ``desired`` is the field set
    of the manifest.
    """
    desired = field_set(manifest) if desired is None else desired
    if former is None and _is_only_ours(live, desired) and not _ends_rolling(manifest):
        return None
    predecessors = _predecessors(live)
    released = _released(live, desired)
    others = [
        (entry, _taken(entry, manifest, desired, predecessors)) for entry in _entries(live) if not _is_ours(entry)
    ]
    taken = _all((*(fields for _entry_of_another, fields in others), _left_over(live, manifest)))
    left_out = _left_out(taken, desired)
    entries = [
        _without(entry, union(fields, released) if _is_initial(entry) else fields)
        for entry, fields in others
        if not (released and _holds_replicas(entry))
    ]
    added = {
        FIELD_MANAGER: (difference(union(owned_fields(live), difference(taken, left_out)), released), APPLY),
        REPLICAS_MANAGER: (released, APPLY),
        VERBATIM_MANAGER: (left_out, UPDATE),
    }
    entries += [_entry(live, manager, *share) for manager, share in added.items()]
    rewritten_entries = [entry for entry in _handed_back(entries, live, former) if entry["fieldsV1"]]
    return None if _shares(rewritten_entries) == _shares(_entries(live)) else rewritten_entries


def _is_only_ours(live: Manifest, desired: FieldSet) -> bool:
    """True for the usual object: we own what we specify, and others write to its subresources only."""
    return owned_fields(live) == desired and all(
        _is_ours(entry) or entry.get("subresource") for entry in _entries(live)
    )


def _is_initial(entry: Mapping[str, Any]) -> bool:
    """True for the entry of a creation, which had more fields than we want to own."""
    return entry["manager"] in _INITIAL_MANAGERS


def _handed_back(entries: list[dict[str, Any]], live: Manifest, former: Manifest | None) -> list[dict[str, Any]]:
    """Return the entries with fields of the former object owned by their former managers.

    Who scaled the former object owns the replicas of the new one: the number of a deleted autoscaler is kept.
    """
    if former is None:
        return entries
    scaling = [entry for entry in _entries(former) if entry.get("subresource") == SCALE]
    held_fields = _all(entry["fieldsV1"] for entry in entries if _is_held(entry))
    carried = intersection(held_fields, _all((foreign_fields(former), *(entry["fieldsV1"] for entry in scaling))))
    kept = [_without(entry, carried) if _is_held(entry) else entry for entry in entries]
    owners = ((entry, intersection(entry["fieldsV1"], carried)) for entry in (*_foreign_entries(former), *scaling))
    return _combined([*kept, *(_entry_like(each, live, fields) for each, fields in owners)])


def _is_held(entry: Mapping[str, Any]) -> bool:
    return entry["manager"] in _HOLDERS_OF_RECREATED


def _entry_like(other: Mapping[str, Any], live: Manifest, fields: FieldSet) -> dict[str, Any]:
    """Return an entry of the owner of another entry."""
    entry = _entry(live, other["manager"], fields, other["operation"])
    return {**entry, "subresource": other["subresource"]} if other.get("subresource") else entry


def _combined(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry per manager, operation, subresource and API version."""
    combined: dict[tuple[str, ...], dict[str, Any]] = {}
    for entry in entries:
        key = entry["manager"], entry["operation"], entry.get("subresource", ""), entry["apiVersion"]
        fields = union(combined[key]["fieldsV1"], entry["fieldsV1"]) if key in combined else entry["fieldsV1"]
        combined[key] = {**entry, "fieldsV1": fields}
    return [*combined.values()]


def _shares(entries: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], FieldSet]:
    """Return the fields by owner, independent of the API version."""
    shares: dict[tuple[str, ...], FieldSet] = {}
    for entry in entries:
        owner = entry["manager"], entry["operation"], entry.get("subresource", "")
        shares[owner] = union(shares.get(owner, {}), entry["fieldsV1"])
    return shares


def _holds_replicas(entry: Mapping[str, Any]) -> bool:
    """True for the entry of an earlier handover, which is replaced."""
    return bool(entry["manager"] == REPLICAS_MANAGER and entry["operation"] == APPLY)


def _released(live: Manifest, desired: FieldSet) -> FieldSet:
    """Return the field replicas if we own it, or just created it, and do not specify it any more."""
    applied = _all(entry["fieldsV1"] for entry in _entries(live) if _is_ours(entry) or _is_initial(entry))
    return difference(intersection(applied, REPLICAS), desired)


def _taken(entry: Mapping[str, Any], manifest: Manifest, desired: FieldSet, predecessors: frozenset[str]) -> FieldSet:
    """Return the fields that we take over from another manager."""
    if entry.get("subresource"):
        return {}
    fields = entry["fieldsV1"]
    parts = (below(fields, *path) for path in _exclusive(manifest))
    exclusive = _all(part for part in parts if difference(part, desired))
    if entry["manager"] in _ON_BEHALF:
        return _all((exclusive, _recognised(fields, manifest, desired)))
    if _is_of(entry, predecessors):
        return _without_parts(fields, _stays(manifest))
    return exclusive


def _left_out(taken: FieldSet, desired: FieldSet) -> FieldSet:
    """Return the fields of previous operators that stay unchanged."""
    return _all(below(taken, *path) for path in _LEFT_OUT if not below(desired, *path))


def _recognised(fields: FieldSet, manifest: Manifest, desired: FieldSet) -> FieldSet:
    """Return the fields of unknown origin that we take over: the desired ones, so that they can be removed later.

    The rest may belong to others: an annotation that restarted the pods, the volume of a PVC.
    """
    known = _all((intersection(fields, desired), below(fields, *GO_OPERATOR_HASH)))
    return _without_parts(known, _stays(manifest))


def _stays(manifest: Manifest) -> tuple[tuple[str, ...], ...]:
    return _STAYS.get(manifest["kind"], (FINALIZERS,))


def _predecessors(live: Manifest) -> frozenset[str]:
    """Return the managers that wrote the whole object before us.

    The Go operator is identified by its annotation, by fields that only the creator owns, and until the takeover by the
    names of its binary. A manager has an entry per API version; the annotation is in one of them.
    """
    makers = {entry["manager"] for entry in _entries(live) if _has_hash(entry) or _is_of_its_maker(entry, live["kind"])}
    return frozenset({VERBATIM_MANAGER} | makers | (set() if owned_fields(live) else GO_OPERATORS)) - {
        BEFORE_FIRST_APPLY
    }


def _has_hash(entry: Mapping[str, Any]) -> bool:
    return bool(below(entry["fieldsV1"], *GO_OPERATOR_HASH))


def _is_of_its_maker(entry: Mapping[str, Any], kind: str) -> bool:
    fields = entry["fieldsV1"]
    # The selector of a workload is immutable.
    has_selector = kind in WORKLOADS and bool(below(fields, "f:spec", "f:selector"))
    return entry["operation"] == UPDATE and (has_selector or all(below(fields, *path) for path in _FIELDS_OF_CREATOR))


def _is_of(entry: Mapping[str, Any], managers: frozenset[str]) -> bool:
    """True for an entry of these managers: an update, or an apply of the Go operator's manifest."""
    return entry["manager"] in managers and (entry["operation"] == UPDATE or _has_hash(entry))


def _left_over(live: Manifest, manifest: Manifest) -> FieldSet:
    """Return the parameters of a rolling update without owner, if another update strategy is desired.

    They are defaults of the server, which rejects another type beside them. They are removed only if we own them.
    """
    if not _ends_rolling(manifest):
        return {}
    strategy = _STRATEGIES[manifest["kind"]]
    parameters = (live["spec"].get(strategy) or {}).get("rollingUpdate") or {}
    found = field_set({"kind": live["kind"], "metadata": {}, "spec": {strategy: {"rollingUpdate": parameters}}})
    return difference(found, owned_fields(live)) if parameters else {}


def _ends_rolling(manifest: Manifest) -> bool:
    """True for a workload with an update strategy without parameters."""
    strategy = manifest.get("spec", {}).get(_STRATEGIES.get(manifest["kind"], "")) or {}
    return strategy.get("type", _ROLLING) != _ROLLING and "rollingUpdate" not in strategy


def _without_parts(fields: FieldSet, paths: Iterable[tuple[str, ...]]) -> FieldSet:
    for path in paths:
        fields = difference(fields, below(fields, *path))
    return fields


def _exclusive(manifest: Manifest) -> tuple[tuple[str, ...], ...]:
    parameters = ("f:spec", f"f:{_STRATEGIES.get(manifest['kind'])}", "f:rollingUpdate")
    ended = (parameters,) if _ends_rolling(manifest) else ()
    main = _main_container(manifest)
    if main is None:
        return (*ended, *_EXCLUSIVE.get(manifest["kind"], ()))
    return (*ended, (*main, "f:ports"), (*main, "f:volumeMounts"))


def _main_container(manifest: Manifest) -> tuple[str, ...] | None:
    """Return the path to the main container: it is the first one and has the name of the workload."""
    containers = manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers")
    return (*_POD, f'k:{{"name":"{containers[0]["name"]}"}}') if containers else None


def _entries(live: Manifest) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = live["metadata"].get("managedFields") or [_unrecorded(live)]
    return [entry for entry in entries if entry.get("fieldsV1")]


def _is_ours(entry: Mapping[str, Any]) -> bool:
    return entry["manager"] == FIELD_MANAGER and entry["operation"] == APPLY and not entry.get("subresource")


def _without(entry: Mapping[str, Any], fields: FieldSet) -> dict[str, Any]:
    return {**entry, "fieldsV1": difference(entry["fieldsV1"], fields) if fields else entry["fieldsV1"]}


def _unrecorded(live: Manifest) -> dict[str, Any]:
    """Return the entry that the server creates at the first apply of an object without managed fields."""
    return _entry(live, BEFORE_FIRST_APPLY, field_set(live), UPDATE)


def _entry(live: Manifest, manager: str, fields: FieldSet, operation: str = APPLY) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": live["apiVersion"],
        "time": live["metadata"]["creationTimestamp"],
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _all(field_sets: Iterable[FieldSet]) -> FieldSet:
    return reduce(union, field_sets, {})


_LABELS, _ANNOTATIONS = ("f:metadata", "f:labels"), ("f:metadata", "f:annotations")
_TEMPLATE = ("f:spec", "f:template")
# Fields outside of these may be the reason for the recreation.
_CARRIED_OVER: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(WORKLOADS, (_LABELS, _ANNOTATIONS, _TEMPLATE)),
    "Service": (_LABELS, _ANNOTATIONS),
}


def with_foreign_fields(live: Manifest, manifest: Manifest) -> Manifest:
    """Return the manifest of a recreated object, with the fields of the live one that only other managers own.

    Without them it would have another pod template, and its pods would be replaced. A pod template that the manifest
    omits is copied from the live object.
    """
    specified = field_set(manifest)
    has_template = manifest["kind"] not in WORKLOADS or "template" in manifest["spec"]
    added = _carried_over(live, specified)
    if not added and has_template:
        return manifest
    kept = remove(live, difference(field_set(live), union(added, specified)))
    metadata = {name: kept["metadata"][name] for name in ("labels", "annotations") if name in kept["metadata"]}
    source = kept if has_template else live
    spec = {name: value for name, value in source.get("spec", {}).items() if name == "template"}
    return merge({"metadata": metadata, "spec": spec}, manifest)


def _carried_over(live: Manifest, specified: FieldSet) -> FieldSet:
    fields = difference(foreign_fields(live), specified)
    fields = difference(fields, below(fields, *GO_OPERATOR_HASH))
    return _all(below(fields, *path) for path in _CARRIED_OVER.get(live["kind"], ()))
