# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Immutable fields: detected before any write, changed by recreating the object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.list_types import shape_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import same
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

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


def immutable_changes(live: Manifest, manifest: Manifest) -> tuple[str, ...]:
    """Return the immutable fields that differ between the live object and the manifest."""
    if manifest["kind"] == "Service":
        return ("clusterIP",) if _is_headless(live) != _is_headless(manifest) else ()
    fields = _IMMUTABLE.get(manifest["kind"], {})
    shape = shape_of(manifest["kind"]).child("spec")
    old, new = live.get("spec") or {}, manifest.get("spec") or {}
    return tuple(
        field
        for field, default in fields.items()
        if not same(old.get(field, default), new.get(field, default), shape.child(field))
    )


def _is_headless(service: Manifest) -> bool:
    return bool(service["spec"].get("clusterIP") == HEADLESS)


def not_adoptable(group: str | None, manifest: Manifest, pods: Iterable[Manifest]) -> Finding | None:
    """Return a finding if the recreated workload would not select running pods."""
    desired = manifest["spec"]["selector"]["matchLabels"]
    lost = [pod["metadata"]["name"] for pod in pods if not desired.items() <= (pod["metadata"]["labels"] or {}).items()]
    if not lost:
        return None
    return Finding(
        reasons.PODS_WOULD_BE_ORPHANED,
        f"{key_of(manifest)} must be recreated, but its pods {', '.join(sorted(lost))} do not have the labels of its "
        f"selector ({', '.join(f'{name}={value}' for name, value in desired.items())}). Label or delete the pods.",
        group,
    )


def orphaned_pods(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each workload that is not recreated because it would orphan running pods."""
    groups, live = {group.key: group for group in draft.inputs.cluster.groups}, draft.inputs.live
    recreated = (step for step in draft.applies if step.operation == "recreate" and step.key.kind in WORKLOADS)
    found = (not_adoptable(step.group, step.manifest, live.pods_of(groups[step.group or ""])) for step in recreated)
    return tuple(finding for finding in found if finding is not None)
