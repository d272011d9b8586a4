# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Field ownership: what of a live object is ours, and what has to become ours before a manifest can be applied.

Server-side apply removes a field only when nobody else owns it, and repairs a list that is a map only by its keys.
So before applying, the ownership of what we are about to govern is moved to our manager by rewriting
``metadata.managedFields`` (what client-go calls csaupgrade); values and generation stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import reduce
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import (
    SELF,
    FieldSet,
    below,
    difference,
    field_set,
    intersection,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    WORKLOADS,
    Manifest,
)

APPLY = "Apply"
UPDATE = "Update"
# Keeps the live replicas while a HorizontalPodAutoscaler governs them: dropping the field would reset it to 1.
REPLICAS_MANAGER = "druidops-replicas"
# Owns what we leave as it was made. A pod template that says something twice cannot be applied, only created.
VERBATIM_MANAGER = "druidops-verbatim"
INITIAL_MANAGER = "druidops-initial"
# What the Go operator's binary is called, and so its field manager: in its image, run from source, built by hand.
GO_OPERATORS = frozenset({"manager", "main", "druid-operator"})
REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}
# Parts that a manifest may leave out on purpose: then they stay as they are.
_LEFT_OUT = (("f:spec",), ("f:spec", "f:template"), ("f:spec", "f:replicas"))
# What the API server calls the owner of everything in an object that had no managed fields.
BEFORE_FIRST_APPLY = "before-first-apply"
# Of what these have written what is wanted becomes ours; the rest is not theirs alone.
_ON_BEHALF = frozenset({BEFORE_FIRST_APPLY, INITIAL_MANAGER})
_HOLDERS = frozenset({VERBATIM_MANAGER, INITIAL_MANAGER})
GO_OPERATOR_HASH = ("f:metadata", "f:annotations", "f:druidOpResourceHash")
FINALIZERS = ("f:metadata", "f:finalizers")
# Where even the Go operator's annotation stays. A Deployment's generation moves with its annotations, and with the
# generation whoever watches it; a claim would be refused to a Go operator that finds it without and replaces it.
KEEPS_HASH = ("Deployment", "PersistentVolumeClaim")
# What stays with its owner when an object is taken over.
_STAYS: Mapping[str, tuple[tuple[str, ...], ...]] = dict.fromkeys(KEEPS_HASH, (FINALIZERS, GO_OPERATOR_HASH))
# What only the maker of an object owns: who adds to these mappings later owns what was added, not the mapping itself.
_FIELDS_OF_CREATOR = (("f:metadata", "f:labels", SELF), ("f:metadata", "f:ownerReferences", SELF))
_POD = ("f:spec", "f:template", "f:spec", "f:containers")
# Subtrees in which nobody else has a say.
_EXCLUSIVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ConfigMap": (("f:data",), ("f:binaryData",)),
    "Service": (("f:spec", "f:ports"),),
}
# Where a workload says how its pods are replaced, and the one type that takes parameters.
_STRATEGIES: Mapping[str, str] = {"StatefulSet": "updateStrategy", "Deployment": "strategy"}
_ROLLING = "RollingUpdate"


def owned_fields(live: Manifest) -> FieldSet:
    """Return the fields that our manager has applied."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if _is_ours(entry))


def is_managed_by_us(live: Manifest) -> bool:
    """True for an object that we have written, be it that its fields are still to be shared out."""
    return any(_is_ours(entry) or entry["manager"] in _HOLDERS for entry in _entries(live))


def fields_of_others(live: Manifest) -> FieldSet:
    """Return the fields that other managers own, those of subresources included."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if not _is_ours(entry))


def foreign_fields(live: Manifest) -> FieldSet:
    """Return the fields that neither we nor whoever wrote the whole object before us own."""
    others = _foreign_entries(live)
    known = [entry for entry in _entries(live) if not entry.get("subresource") and entry not in others]
    return difference(_all(entry["fieldsV1"] for entry in others), _all(entry["fieldsV1"] for entry in known))


def _foreign_entries(live: Manifest) -> list[dict[str, Any]]:
    predecessors = _predecessors(live)
    entries = [entry for entry in _entries(live) if not entry.get("subresource")]
    return [entry for entry in entries if not (_is_ours(entry) or _is_of(entry, predecessors))]


def required_managed_fields(
    live: Manifest, manifest: Manifest, former: Manifest | None = None
) -> list[dict[str, Any]] | None:
    """Return the managed fields with which ``manifest`` can be applied to ``live``; None when they are so already.

    ``former`` is the object that ``live`` has replaced: what others had added to it is theirs again.
    """
    desired, predecessors = field_set(manifest), _predecessors(live)
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


def _is_initial(entry: Mapping[str, Any]) -> bool:
    """True for the entry of an object as it was made: more was stated than we want to keep."""
    return bool(entry["manager"] == INITIAL_MANAGER)


def _handed_back(entries: list[dict[str, Any]], live: Manifest, former: Manifest | None) -> list[dict[str, Any]]:
    """Return the entries with what the object has from its predecessor in the hands of those who had added it there."""
    if former is None:
        return entries
    held_fields = _all(entry["fieldsV1"] for entry in entries if entry["manager"] in _HOLDERS)
    carried = intersection(held_fields, foreign_fields(former))
    kept = [_without(entry, carried) if entry["manager"] in _HOLDERS else entry for entry in entries]
    owners = ((entry, intersection(entry["fieldsV1"], carried)) for entry in _foreign_entries(former))
    return _combined([*kept, *(_entry(live, each["manager"], fields, each["operation"]) for each, fields in owners)])


def _combined(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry for each manager, operation, subresource and version of the API."""
    combined: dict[tuple[str, ...], dict[str, Any]] = {}
    for entry in entries:
        key = entry["manager"], entry["operation"], entry.get("subresource", ""), entry["apiVersion"]
        fields = union(combined[key]["fieldsV1"], entry["fieldsV1"]) if key in combined else entry["fieldsV1"]
        combined[key] = {**entry, "fieldsV1": fields}
    return [*combined.values()]


def _shares(entries: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], FieldSet]:
    """Return who owns what, whichever version of the API it was written through."""
    shares: dict[tuple[str, ...], FieldSet] = {}
    for entry in entries:
        owner = entry["manager"], entry["operation"], entry.get("subresource", "")
        shares[owner] = union(shares.get(owner, {}), entry["fieldsV1"])
    return shares


def _holds_replicas(entry: Mapping[str, Any]) -> bool:
    """True for the entry of an earlier handover: a manager has one entry, and it is made anew."""
    return bool(entry["manager"] == REPLICAS_MANAGER and entry["operation"] == APPLY)


def _released(live: Manifest, desired: FieldSet) -> FieldSet:
    """Return the replicas of a workload when we own them, or have just made it with them, and want them no longer."""
    applied = _all(entry["fieldsV1"] for entry in _entries(live) if _is_ours(entry) or _is_initial(entry))
    return difference(intersection(applied, REPLICAS), desired)


def _taken(entry: Mapping[str, Any], manifest: Manifest, desired: FieldSet, predecessors: frozenset[str]) -> FieldSet:
    """Return what is taken out of another manager's entry."""
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
    """Return what of our predecessors' fields stays as it is."""
    return _all(below(taken, *path) for path in _LEFT_OUT if not below(desired, *path))


def _recognised(fields: FieldSet, manifest: Manifest, desired: FieldSet) -> FieldSet:
    """Return what we take of fields that nobody is known to have written: what is wanted, so that it can go later.

    The rest may be anybody's: an annotation that restarted the pods, the volume of a claim.
    """
    known = _all((intersection(fields, desired), below(fields, *GO_OPERATOR_HASH)))
    return _without_parts(known, _stays(manifest))


def _stays(manifest: Manifest) -> tuple[tuple[str, ...], ...]:
    return _STAYS.get(manifest["kind"], (FINALIZERS,))


def _predecessors(live: Manifest) -> frozenset[str]:
    """Return the managers that wrote the whole object before us, one after the other.

    The Go operator is known by its annotation, by what only the maker of an object owns, and until the object is ours
    by the names of its binary. A manager has an entry for each version of the API; the annotation is in one of them.
    """
    makers = {entry["manager"] for entry in _entries(live) if _has_hash(entry) or _is_of_its_maker(entry, live["kind"])}
    return frozenset({VERBATIM_MANAGER} | makers | (set() if owned_fields(live) else GO_OPERATORS)) - {
        BEFORE_FIRST_APPLY
    }


def _has_hash(entry: Mapping[str, Any]) -> bool:
    return bool(below(entry["fieldsV1"], *GO_OPERATOR_HASH))


def _is_of_its_maker(entry: Mapping[str, Any], kind: str) -> bool:
    fields = entry["fieldsV1"]
    # The selector of a workload can never be changed.
    has_selector = kind in WORKLOADS and bool(below(fields, "f:spec", "f:selector"))
    return entry["operation"] == UPDATE and (has_selector or all(below(fields, *path) for path in _FIELDS_OF_CREATOR))


def _is_of(entry: Mapping[str, Any], managers: frozenset[str]) -> bool:
    """True for what one of the managers wrote. What is applied is its own, unless it is the Go operator's manifest."""
    return entry["manager"] in managers and (entry["operation"] == UPDATE or _has_hash(entry))


def _left_over(live: Manifest, manifest: Manifest) -> FieldSet:
    """Return the parameters of a rolling update that nobody owns, when another type of update is wanted.

    The server has filled them in, and refuses the other type beside them: they go only if they are ours.
    """
    if not _ends_rolling(manifest):
        return {}
    strategy = _STRATEGIES[manifest["kind"]]
    parameters = (live["spec"].get(strategy) or {}).get("rollingUpdate") or {}
    found = field_set({"kind": live["kind"], "metadata": {}, "spec": {strategy: {"rollingUpdate": parameters}}})
    return difference(found, owned_fields(live)) if parameters else {}


def _ends_rolling(manifest: Manifest) -> bool:
    """True for a workload that wants its pods replaced in a way that takes no parameters."""
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
    """Return the path to the main container: it comes first and is called like the workload."""
    containers = manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers")
    return (*_POD, f'k:{{"name":"{containers[0]["name"]}"}}') if containers else None


def _entries(live: Manifest) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = live["metadata"].get("managedFields") or [_unrecorded(live)]
    return [entry for entry in entries if entry.get("fieldsV1")]


def _is_ours(entry: Mapping[str, Any]) -> bool:
    return entry["manager"] == FIELD_MANAGER and entry["operation"] == APPLY and not entry.get("subresource")


def _without(entry: Mapping[str, Any], fields: FieldSet) -> dict[str, Any]:
    return {**deepcopy(dict(entry)), "fieldsV1": difference(entry["fieldsV1"], fields)}


def _unrecorded(live: Manifest) -> dict[str, Any]:
    """Return the entry that the server itself would make of an object without managed fields, at the first apply."""
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
