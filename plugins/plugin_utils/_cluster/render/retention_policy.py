# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which PVCs the StatefulSet controller deletes: never those of a stopped group, or of a cluster that retains them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import DELETE, Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

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
