# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the Go operator still writes the cluster. Two operators would revert each other's writes indefinitely."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import field_ownership
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding


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
