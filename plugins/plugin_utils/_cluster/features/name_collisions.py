# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Desired objects whose names belong to objects of other owners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    describe_owner,
    is_of_resource,
    is_ours,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import LEAVES
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan


class NameCollisions(Feature):
    """Blocks the groups whose names are taken."""

    def judge(self, draft: DraftPlan) -> tuple[Finding, ...]:
        """Return a finding for each name of an object of another owner."""
        return name_collisions(draft)


def name_collisions(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each desired name of an existing object that does not belong to this cluster.

    It is one finding if a resource has the cluster's own name.
    """
    inputs, cluster = draft.inputs, draft.inputs.cluster
    existing = inputs.with_objects(inputs.reads.unlisted(inputs)).observed.objects
    pairs = ((group, existing.get(key_of(manifest))) for group, manifest in desired_objects(inputs.desired))
    taken = [(group, live) for group, live in pairs if live is not None and not is_ours(live, cluster)]
    if any(is_of_resource(live, cluster) for _group, live in taken):
        return (Finding(reasons.NAME_CONFLICT, _kept_by_resource(cluster)),)
    return tuple(_finding(group, live) for group, live in taken)


def _finding(group: str | None, live: Manifest) -> Finding:
    leaf = str(key_of(live)) if live["kind"] in LEAVES else None
    return Finding(reasons.NAME_CONFLICT, _collision(live), group, object=leaf)


def _kept_by_resource(cluster: Cluster) -> str:
    return (
        f"The objects of that name belong to the resource Druid {cluster.name} in namespace {cluster.namespace}. They "
        "are not changed. To reconcile that resource, omit spec and without_resource. For another cluster, choose "
        "another name. If the resource was deleted, wait until its objects are deleted."
    )


def _collision(live: Manifest) -> str:
    return (
        f"{key_of(live)} exists and does not belong to this cluster: {describe_owner(live)}. It is not changed. "
        "Rename the group, or delete or rename the object."
    )
