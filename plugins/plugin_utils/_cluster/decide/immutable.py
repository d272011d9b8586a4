# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields that the API server will not change: seen before anything is written, changed by making the object again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.list_types import shape_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import same
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

HEADLESS = "None"
# Field of spec -> what it means when it is not stated; by kind (Kubernetes API, apps/v1).
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
    """Return the fields in which the manifest wants what only a new object can have."""
    if manifest["kind"] == "Service":
        return ("clusterIP",) if _is_headless(live) != _is_headless(manifest) else ()
    fields = _IMMUTABLE.get(manifest["kind"], {})
    shape = shape_of(manifest["kind"]).child("spec")
    old, new = live.get("spec") or {}, manifest.get("spec") or {}
    return tuple(
        field
        for field, unstated in fields.items()
        if not same(old.get(field, unstated), new.get(field, unstated), shape.child(field))
    )


def _is_headless(service: Manifest) -> bool:
    return bool(service["spec"].get("clusterIP") == HEADLESS)


def not_adoptable(group: str | None, manifest: Manifest, pods: Iterable[Manifest]) -> Finding | None:
    """Return why a workload is not recreated: pods that run would be lost to it."""
    desired = manifest["spec"]["selector"]["matchLabels"]
    lost = [pod["metadata"]["name"] for pod in pods if not desired.items() <= (pod["metadata"]["labels"] or {}).items()]
    if not lost:
        return None
    return Finding(
        reasons.PODS_WOULD_BE_ORPHANED,
        f"{key_of(manifest)} has to be recreated, but its pods {', '.join(sorted(lost))} do not carry the labels that "
        f"it would select ({', '.join(f'{name}={value}' for name, value in desired.items())}). Label or delete them.",
        group,
    )


def not_adoptable_pods(cluster: Cluster, steps: Iterable[Step], observed: Observed) -> tuple[Finding, ...]:
    """Return a finding for each workload that is not recreated, since it would lose pods that run."""
    groups = {group.key: group for group in cluster.groups}
    recreated = [step for step in steps if step.operation == "recreate" and step.key.kind in WORKLOADS and step.group]
    found = (not_adoptable(step.group, step.manifest, observed.pods_of(groups[step.group or ""])) for step in recreated)
    return tuple(finding for finding in found if finding is not None)
