# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods are stopped, PVCs marked or deleted, and objects owned only as the latest version of the resource specifies.

A slow reconcile of an earlier one would revert what a later reconcile has written. And it would own again what a
deletion with `--cascade=orphan` has orphaned: the finalizer would delete these objects and their PVCs.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import controller
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding, pause_finding


def outdated_resource(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding if the plan needs the latest resource, which was changed or deleted since it was read.

    The latest resource is needed for that; it must be read after the workloads. Not in check mode: nothing is written.
    """
    inputs = draft.inputs
    if inputs.check_mode or inputs.cluster.uid is None or not any(map(_needs_latest, draft.steps)):
        return ()
    if is_latest(inputs):
        return ()
    message = f"{names.KIND} {inputs.cluster.name} was modified concurrently, so nothing was written. Retry."
    return (Finding(reasons.APPLY_FAILED, message),)


def is_latest(inputs: Inputs) -> bool:
    """True if the specification of the resource is still the latest one, and is still to be carried out."""
    return is_current(inputs.resource, inputs.reads.get(names.KIND, inputs.cluster.name))


def is_current(resource: Manifest, latest: Manifest | None) -> bool:
    """True if the latest resource has the same specification, and is not being deleted."""
    return latest is not None and _version(latest) == _version(resource)


def _needs_latest(step: Step) -> bool:
    stops_pods = step.key.kind in WORKLOADS and (step.deletes or _lowers_replicas(step))
    return stops_pods or step.is_of_orphan or _owns_again(step)


def _lowers_replicas(step: Step) -> bool:
    """True for the write of a workload with fewer replicas than it has."""
    if not step.manifest or step.live is None:
        return False
    live = step.live["spec"].get("replicas", 1)
    return bool(step.created["spec"].get("replicas", live) < live)


def _owns_again(step: Step) -> bool:
    """True for an object that has no owner, and gets one."""
    if not step.manifest or step.live is None or controller(step.live) is not None:
        return False
    return bool(step.manifest["metadata"].get("ownerReferences"))


def _version(resource: Manifest) -> tuple[str | None, int | None, bool, bool]:
    """Return what identifies the specification; an annotation that pauses the cluster is no part of a generation."""
    metadata = resource["metadata"]
    is_paused = pause_finding(metadata.get("annotations") or {}, resource.get("spec") or {}) is not None
    return metadata.get("uid"), metadata.get("generation"), is_terminating(resource), is_paused
