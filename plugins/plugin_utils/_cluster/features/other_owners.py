# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that others own or write: the Go operator that still runs, and desired names that are taken.

Two operators would revert each other's writes indefinitely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    describe_owner,
    is_of_resource,
    is_ours,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import LEAVES
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import field_ownership
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan


class Takeover(Feature):
    """Refuses to write what the Go operator writes."""

    refuses_finalizer = True

    def refuse(self, inputs: Inputs) -> tuple[Finding, ...]:
        """Return a finding if the Go operator is still running."""
        return go_operator_conflict(inputs)


def go_operator_conflict(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding if objects that we took over have the Go operator's annotation again.

    The takeover removed it, so only a write of the Go operator can add it. After a rollback the user confirms with an
    annotation of the resource that the Go operator is stopped.
    """
    cluster, objects = inputs.cluster, inputs.observed.objects
    if cluster.annotations.get(names.TAKE_OVER_ANNOTATION) == "true":
        return ()
    back = sorted(str(key_of(live)) for live in objects.values() if _is_contested(live, cluster))
    return (_conflict(back),) if back else ()


def _conflict(back: list[str]) -> Finding:
    more = f" and {len(back) - 1} more" if len(back) > 1 else ""
    return Finding(
        reasons.CONFLICTING_OPERATOR,
        f"The Go operator also writes this cluster: its annotation {names.RESOURCE_HASH_ANNOTATION} was set again on "
        f"{back[0]}{more}. Nothing is changed. Stop the Go operator, then annotate the Druid resource with "
        f"{names.TAKE_OVER_ANNOTATION}=true.",
    )


def _is_contested(live: Manifest, cluster: Cluster) -> bool:
    annotations = live["metadata"].get("annotations") or {}
    # The takeover leaves the annotation on objects of these kinds.
    if live["kind"] in field_ownership.KEEPS_HASH or names.RESOURCE_HASH_ANNOTATION not in annotations:
        return False
    owned = field_ownership.owned_fields(live)
    # We own the annotation if a takeover was interrupted: it is removed next.
    return bool(owned) and not below(owned, *field_ownership.GO_OPERATOR_HASH) and is_ours(live, cluster)


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
