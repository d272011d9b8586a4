# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Immutable fields: detected before any write, changed by recreating the object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import RECREATE, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import differs
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import shape_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding

HEADLESS = "None"
# Field of spec -> its default; by kind (Kubernetes API, apps/v1).
_IMMUTABLE: Mapping[str, Mapping[str, Any]] = {
    "StatefulSet": {
        "serviceName": "",
        "podManagementPolicy": "OrderedReady",
        "selector": {},
        "volumeClaimTemplates": [],
    },
    "Deployment": {"selector": {}},
}


def immutable_changes(live: Manifest, manifest: Manifest, admitted: Manifest | None = None) -> tuple[str, ...]:
    """Return the immutable fields that differ between the live object and the manifest.

    `admitted` is what admission makes of the manifest, if a dry run has shown it: what it changes is no difference.
    """
    admitted = manifest if admitted is None else admitted
    if manifest["kind"] == "Service":
        is_overridden = is_headless(admitted) != is_headless(manifest)
        return ("clusterIP",) if is_headless(live) != is_headless(manifest) and not is_overridden else ()
    shape = shape_of(manifest["kind"]).child("spec")
    old, new, after = (each.get("spec") or {} for each in (live, manifest, admitted))
    return tuple(
        field
        for field, default in _IMMUTABLE.get(manifest["kind"], {}).items()
        if differs(old.get(field, default), new.get(field, default), after.get(field, default), shape.child(field))
    )


def immutable_part(manifest: Manifest) -> Manifest:
    """Return the manifest with its immutable fields only."""
    fields = ("clusterIP",) if manifest["kind"] == "Service" else _IMMUTABLE.get(manifest["kind"], {})
    spec = {field: manifest["spec"][field] for field in fields if field in manifest["spec"]}
    return {**manifest, "metadata": {}, "spec": spec}


def with_stored_fields(manifest: Manifest, live: Manifest) -> Manifest:
    """Return the manifest with the immutable fields of the live object, for an update of all others."""
    changed = immutable_changes(live, manifest)
    if not changed:
        return manifest
    kept = {field: live["spec"][field] for field in changed if field in live["spec"]}
    others = {field: value for field, value in manifest["spec"].items() if field not in changed}
    return {**manifest, "spec": {**others, **kept}}


def is_headless(service: Manifest) -> bool:
    """True for a Service that resolves to its pods, and also resolves the name of each of them."""
    return bool(service["spec"].get("clusterIP") == HEADLESS)


def orphaned_pods(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each workload that is not recreated because it would orphan running pods."""
    groups, live = {group.key: group for group in draft.inputs.cluster.groups}, draft.inputs.observed
    recreated = (step for step in draft.applies if step.operation is RECREATE and step.key.kind in WORKLOADS)
    found = (_not_adoptable(step, live.pods_of(groups[step.group or ""])) for step in recreated)
    return tuple(finding for finding in found if finding is not None)


def _not_adoptable(step: Step, pods: Iterable[Manifest]) -> Finding | None:
    desired = step.manifest["spec"]["selector"]["matchLabels"]
    lost = [pod["metadata"]["name"] for pod in pods if not desired.items() <= (pod["metadata"]["labels"] or {}).items()]
    if not lost:
        return None
    explain = _changed_node_type if _node_type(step.live) != _node_type(step.manifest) else _missing_labels
    return Finding(reasons.PODS_WOULD_BE_ORPHANED, explain(step, ", ".join(sorted(lost))), step.group)


def _missing_labels(step: Step, lost: str) -> str:
    desired = step.manifest["spec"]["selector"]["matchLabels"]
    return (
        f"{step.key} must be recreated, but its pods {lost} do not have the labels of its "
        f"selector ({', '.join(f'{name}={value}' for name, value in desired.items())}). Label or delete the pods."
    )


def _changed_node_type(step: Step, lost: str) -> str:
    """Return why a nodeType stays: the pods of the former one would have no controller, and come back if deleted."""
    return (
        f"{step.key}: the nodeType of a group with pods cannot change from {_node_type(step.live)} to "
        f"{_node_type(step.manifest)} (pods: {lost}). Set it back. Then give the group with the other nodeType another "
        "key, or stop the group (stopped: true), and change its nodeType when it has no pods."
    )


def _node_type(workload: Manifest | None) -> str | None:
    """Return the nodeType that a workload selects by."""
    labels: dict[str, str] = (workload or {}).get("spec", {}).get("selector", {}).get("matchLabels") or {}
    return labels.get(names.COMPONENT_LABEL)
