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
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding, pause_finding


def outdated_resource(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding if the plan needs the latest resource, which was changed or deleted since it was read.

    The latest resource is needed for that; it must be read after the workloads. Not in check mode: nothing is written.
    """
    inputs = draft.inputs
    if inputs.check_mode or inputs.cluster.uid is None or not any(step.needs_latest for step in draft.steps):
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


def _version(resource: Manifest) -> tuple[str | None, int | None, bool, bool]:
    """Return what identifies the specification; an annotation that pauses the cluster is no part of a generation."""
    metadata = resource["metadata"]
    is_paused = pause_finding(metadata.get("annotations") or {}, resource.get("spec") or {}) is not None
    return metadata.get("uid"), metadata.get("generation"), is_terminating(resource), is_paused
