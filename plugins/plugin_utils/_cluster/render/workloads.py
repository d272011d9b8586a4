# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workload of a group: its StatefulSet or Deployment.

The StatefulSet controller never deletes the PVCs of a stopped group, or of a cluster that retains them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.group_objects import (
    group_manifest,
    service_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import (
    DELETE,
    Preserved,
    selector,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def workload(group: Group, template: Mapping[str, Any], preserved: Preserved) -> dict[str, Any]:
    """Return the group's StatefulSet or Deployment."""
    metadata = {
        "name": group.unique_name,
        "labels": names.group_labels(group),
        "annotations": {**_specified_annotations(group), **_before_stop(group, preserved)},
    }
    spec = {
        "selector": {"matchLabels": selector(group, preserved)},
        # An autoscaler, or another client that scales the group, owns this field.
        "replicas": None if group.keeps_replicas else group.replicas,
        "template": template,
        "minReadySeconds": group.first_present("minReadySeconds"),
        "revisionHistoryLimit": group.node.get("revisionHistoryLimit"),
        **(_of_deployment(group) if group.is_deployment else _of_stateful_set(group, preserved)),
    }
    return group_manifest(group, "apps/v1", group.kind, metadata, spec=spec)


def _specified_annotations(group: Group) -> dict[str, str]:
    """Return the workloadAnnotations without those that are records of the live state."""
    specified, records = (
        group.merged("workloadAnnotations"),
        (names.REPLICAS_BEFORE_STOP_ANNOTATION, names.DRAIN_ANNOTATION, names.DECOMMISSION_ANNOTATION),
    )
    return {key: value for key, value in specified.items() if key not in records}


def _before_stop(group: Group, preserved: Preserved) -> dict[str, str]:
    """Return the annotation with which a stopped group later resumes, if the spec does not set its replicas then."""
    if not group.stopped:
        return {}
    replicas = group.first_replicas if preserved.replicas is None else preserved.replicas
    return {names.REPLICAS_BEFORE_STOP_ANNOTATION: str(replicas)}


def _of_stateful_set(group: Group, preserved: Preserved) -> dict[str, Any]:
    return {
        # The first Service defines the DNS names of the pods.
        "serviceName": next(iter(service_names(group)), ""),
        "podManagementPolicy": group.first_non_empty("podManagementPolicy") or "Parallel",
        "updateStrategy": group.first_present("updateStrategy") or None,
        "volumeClaimTemplates": _claim_templates(group) or None,
        "persistentVolumeClaimRetentionPolicy": retention_policy(group, preserved),
    }


def _claim_templates(group: Group) -> list[dict[str, Any]]:
    claims = group.concatenated("volumeClaimTemplates")
    return [{name: value for name, value in claim.items() if name != "status"} for claim in claims]


def _of_deployment(group: Group) -> dict[str, Any]:
    return {
        "strategy": group.node.get("strategy") or _rolling_update(group),
        "progressDeadlineSeconds": group.first_present("progressDeadlineSeconds"),
    }


def _rolling_update(group: Group) -> dict[str, Any]:
    limits = {name: group.node[name] for name in ("maxSurge", "maxUnavailable") if group.node.get(name) is not None}
    return {"type": "RollingUpdate", "rollingUpdate": limits or None}


RETAIN = "Retain"
_POLICY = ("f:spec", "f:persistentVolumeClaimRetentionPolicy")


def retention_policy(group: Group, preserved: Preserved) -> Mapping[str, Any] | None:
    """Return the persistentVolumeClaimRetentionPolicy of the group's StatefulSet; None when nothing has to be set.

    The replicas of a stopped group and `whenScaled` are in the same manifest, so no controller sees 0 replicas beside
    `whenScaled: Delete`. Delete is set again when all replicas are ready.
    """
    specified: Mapping[str, Any] | None = group.node.get("persistentVolumeClaimRetentionPolicy")
    if deletion_is_disabled(group) or (group.cluster.keeps_pvcs and preserved.sets_when_deleted):
        specified = {**(specified or {}), "whenDeleted": RETAIN}
    if group.stopped or _is_resuming(group, preserved, specified or {}):
        return {**(specified or {}), "whenScaled": RETAIN}
    return specified


def deletion_is_disabled(group: Group) -> bool:
    """True when the group specifies whenDeleted: Delete, and the cluster retains all PVCs."""
    specified = group.node.get("persistentVolumeClaimRetentionPolicy") or {}
    return group.cluster.keeps_pvcs and specified.get("whenDeleted") == DELETE


def retains_scaled(group: Group) -> bool:
    """True if the spec explicitly retains PVCs when the group has fewer pods."""
    policy = group.node.get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get("whenScaled") == RETAIN)


def retains_explicitly(stateful_set: Manifest) -> bool:
    """True if we have set Retain: it was specified, or the group was stopped. Kubernetes defaults to it, too."""
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    if not policy:
        return False
    set_by_us = below(owned_fields(stateful_set), *_POLICY)
    names = (name for step in set_by_us.values() for fields in step.values() for name in fields)
    return any(policy.get(name.removeprefix("f:")) == RETAIN for name in names)


def _is_resuming(group: Group, preserved: Preserved, specified: Mapping[str, Any]) -> bool:
    """True while PVCs are retained on scaling, Delete is specified, and not all replicas are ready."""
    if specified.get("whenScaled") != DELETE or not preserved.retains_scaled_pvcs:
        return False
    return not (preserved.ready_replicas and (group.keeps_replicas or preserved.ready_replicas == group.replicas))
