# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The desired objects, given what runs.

Pod templates with duplicate merge keys, as the Go operator writes them, stay until something else changes. Server-side
apply rejects them, and the removal of the second entry would restart every pod of the group.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import without_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import specified_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    below,
    difference,
    field_set,
    shape_of,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import remove, same
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest


def desired_state(cluster: Cluster, observed: Observed) -> Desired:
    """Return the rendered objects of the cluster: what a running group must keep is preserved."""
    return keep_duplicates(render(cluster, observed.preserved(cluster)), observed)


_TEMPLATE = ("f:spec", "f:template")


def keep_duplicates(desired: Desired, observed: Observed) -> Desired:
    """Return the desired objects, without the pod template of each group that already runs the verbatim one.

    `verbatim` of the result has only the workloads of these groups.
    """
    kept = {key: workload for key, workload in desired.verbatim.items() if _runs(workload, observed)}
    groups = {
        key: tuple(_without_template(manifest) for manifest in manifests) if key in kept else manifests
        for key, manifests in desired.groups.items()
    }
    warnings = tuple(
        text for text in desired.warnings if not any(text.startswith(f"spec.nodes[{key}]:") for key in kept)
    )
    return replace(desired, groups=groups, warnings=warnings, verbatim=kept)


def _runs(desired: Manifest, observed: Observed) -> bool:
    live = observed.objects.get(key_of(desired))
    if live is None:
        return any(_has_duplicate_keys(pod) for pod in observed.orphans_of(desired["metadata"]["name"]))
    shape = shape_of(desired["kind"]).child("spec").child("template")
    return same(_without_foreign_fields(live, desired)["spec"]["template"], desired["spec"]["template"], shape)


def _without_foreign_fields(live: Manifest, desired: Manifest) -> Manifest:
    """Return the workload without the fields of others: the time of a restart, a sidecar, a variable of a webhook."""
    additions = difference(field_set(live), union(specified_fields(live), field_set(desired)))
    return remove(live, below(additions, *_TEMPLATE))


def _has_duplicate_keys(pod: Manifest) -> bool:
    """True for a pod without a workload, after an interrupted recreation, that has duplicate entries."""
    _template, dropped = without_duplicates({"spec": pod["spec"]})
    return bool(dropped)


def _without_template(manifest: Manifest) -> Manifest:
    if manifest["kind"] not in WORKLOADS:
        return manifest
    spec = {name: value for name, value in manifest["spec"].items() if name != "template"}
    return {**manifest, "spec": spec}
