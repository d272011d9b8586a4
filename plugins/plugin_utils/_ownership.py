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

from ansible_collections.druidops.druid.plugins.plugin_utils._field_set import (
    FieldSet,
    below,
    difference,
    field_set,
    intersection,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import FIELD_MANAGER, Manifest

APPLY = "Apply"
UPDATE = "Update"
# Keeps the live replicas while a HorizontalPodAutoscaler governs them: dropping the field would reset it to 1.
REPLICAS_MANAGER = "druidops-replicas"
# Makes a workload whose pod template says something twice: that cannot be applied, only created.
VERBATIM_MANAGER = "druidops-verbatim"
REPLICAS: FieldSet = {"f:spec": {"f:replicas": {}}}
# Parts that a manifest may leave out on purpose: then they stay with whom they are.
_LEFT_OUT = (("f:spec",), ("f:spec", "f:template"), ("f:spec", "f:replicas"))
# What the API server calls the owner of everything in an object that had no managed fields.
BEFORE_FIRST_APPLY = "before-first-apply"
GO_OPERATOR_HASH = ("f:metadata", "f:annotations", "f:druidOpResourceHash")
FINALIZERS = ("f:metadata", "f:finalizers")
# Where even the Go operator's annotation stays. A Deployment's generation moves with its annotations, and with the
# generation whoever watches it; a claim would be refused to a Go operator that finds it without and replaces it.
KEEPS_HASH = ("Deployment", "PersistentVolumeClaim")
# What stays with its owner when an object is taken over.
_STAYS: Mapping[str, tuple[tuple[str, ...], ...]] = dict.fromkeys(KEEPS_HASH, (FINALIZERS, GO_OPERATOR_HASH))
_POD = ("f:spec", "f:template", "f:spec", "f:containers")
# Subtrees in which nobody else has a say.
_EXCLUSIVE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ConfigMap": (("f:data",), ("f:binaryData",)),
    "Service": (("f:spec", "f:ports"),),
}
# Where a workload says how its pods are replaced, and the one type that takes parameters.
_STRATEGIES: Mapping[str, str] = {"StatefulSet": "updateStrategy", "Deployment": "strategy"}
_ROLLING = "RollingUpdate"


def owned(live: Manifest) -> FieldSet:
    """Return the fields that our manager has applied."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if _is_ours(entry))


def owned_by_others(live: Manifest) -> FieldSet:
    """Return the fields that other managers own, those of subresources included."""
    return _all(entry["fieldsV1"] for entry in _entries(live) if not _is_ours(entry))


def rewritten(live: Manifest, manifest: Manifest) -> list[dict[str, Any]] | None:
    """Return the managed fields with which ``manifest`` can be applied to ``live``; None when they are so already."""
    wanted = field_set(manifest)
    released = _released(live, wanted)
    others = [(entry, _taken(entry, manifest, wanted)) for entry in _entries(live) if not _is_ours(entry)]
    taken = _all((*(fields for _entry_of_another, fields in others), _left_over(live, manifest)))
    if not taken and not released:
        return None
    entries = [_without(entry, fields) for entry, fields in others if not (released and _keeps_replicas(entry))]
    added = [_entry(live, FIELD_MANAGER, difference(union(owned(live), taken), released))]
    if released:
        added.append(_entry(live, REPLICAS_MANAGER, released))
    return [entry for entry in entries + added if entry["fieldsV1"]]


def _keeps_replicas(entry: Mapping[str, Any]) -> bool:
    """True for the entry of an earlier handover: a manager has one entry, and it is made anew."""
    return bool(entry["manager"] == REPLICAS_MANAGER and entry["operation"] == APPLY)


def _released(live: Manifest, wanted: FieldSet) -> FieldSet:
    """Return the replicas of a workload when we own them and want to own them no longer."""
    return difference(intersection(owned(live), REPLICAS), wanted)


def _taken(entry: Mapping[str, Any], manifest: Manifest, wanted: FieldSet) -> FieldSet:
    """Return what of another manager's entry becomes ours."""
    if entry.get("subresource"):
        return {}
    fields = entry["fieldsV1"]
    foreign = (below(fields, *path) for path in _exclusive(manifest))
    exclusive = _all(part for part in foreign if difference(part, wanted))
    if entry["manager"] == BEFORE_FIRST_APPLY:
        return _all((exclusive, _recognised(fields, manifest, wanted)))
    if _is_predecessor(entry, manifest):
        left_out = (path for path in _LEFT_OUT if not below(wanted, *path))
        return _without_parts(fields, (*_stays(manifest), *left_out))
    return exclusive


def _recognised(fields: FieldSet, manifest: Manifest, wanted: FieldSet) -> FieldSet:
    """Return what we take of fields that nobody is known to have written: what is wanted, so that it can go later.

    The rest may be anybody's: an annotation that restarted the pods, the volume of a claim.
    """
    known = _all((intersection(fields, wanted), below(fields, *GO_OPERATOR_HASH)))
    return _without_parts(known, _stays(manifest))


def _stays(manifest: Manifest) -> tuple[tuple[str, ...], ...]:
    return _STAYS.get(manifest["kind"], (FINALIZERS,))


def _is_predecessor(entry: Mapping[str, Any], manifest: Manifest) -> bool:
    """True for whoever wrote the whole object before us.

    The Go operator is known by its annotation, whatever its binary is called, and later by the command of the main
    container, which nobody else writes.
    """
    fields = entry["fieldsV1"]
    if entry["manager"] == VERBATIM_MANAGER or below(fields, *GO_OPERATOR_HASH):
        return True
    main = _main_container(manifest)
    return entry["operation"] == UPDATE and main is not None and bool(below(fields, *main, "f:command"))


def _left_over(live: Manifest, manifest: Manifest) -> FieldSet:
    """Return the parameters of a rolling update that nobody owns, when another type of update is wanted.

    The server has filled them in, and refuses the other type beside them: they go only if they are ours.
    """
    if not _ends_rolling(manifest):
        return {}
    strategy = _STRATEGIES[manifest["kind"]]
    parameters = (live["spec"].get(strategy) or {}).get("rollingUpdate") or {}
    found = field_set({"kind": live["kind"], "metadata": {}, "spec": {strategy: {"rollingUpdate": parameters}}})
    return difference(found, owned(live)) if parameters else {}


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
