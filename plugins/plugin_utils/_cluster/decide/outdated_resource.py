# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods are stopped, and with them PVCs deleted, only as the latest version of the resource specifies.

A slow reconcile of an earlier one would revert what a later reconcile has written.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import GetResource
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def outdated_resource(draft: Draft) -> tuple[Finding, ...] | GetResource:
    """Return a finding if pods would be stopped and the resource was changed or deleted since it was read.

    The latest resource is needed for that; it must be read after the workloads. Not in check mode: nothing is written.
    """
    inputs = draft.inputs
    if inputs.check_mode or inputs.cluster.uid is None or not any(map(_stops_pods, draft.steps)):
        return ()
    if not inputs.latest:
        return GetResource()
    [latest] = inputs.latest
    if latest is not None and _version(latest) == _version(inputs.resource):
        return ()
    message = f"{names.KIND} {inputs.cluster.name} was modified concurrently, so nothing was written. Retry."
    return (Finding(reasons.APPLY_FAILED, message),)


def _stops_pods(step: Step) -> bool:
    return step.key.kind in WORKLOADS and (step.operation == "delete" or step.lowers_replicas)


def _version(resource: Manifest) -> tuple[str | None, int | None]:
    return resource["metadata"].get("uid"), resource["metadata"].get("generation")
