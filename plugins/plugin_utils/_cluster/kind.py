# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind Druid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.run import (
    delete_resource,
    delete_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.metrics import TELEMETRY
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind, Output
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import Submitted


def _submitted(resource: Manifest, submitted: Submitted) -> Plan:
    if submitted.operation is None:
        return Plan()
    return Plan((Apply(manifest=resource, live=submitted.live, after=submitted.stored),))


def _details(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"nodes": status.get("nodes", "")}


# Reasons of Ready for which kubectl describe shows more.
_WITH_UNREADY_PODS = frozenset(
    {
        reasons.PODS_NOT_READY,
        reasons.ROLLING_OUT,
        reasons.PODS_FAILING,
        reasons.PODS_NOT_CREATED,
        reasons.PODS_NOT_SCHEDULED,
        reasons.ROLLOUT_STALLED,
    }
)


def _hint(outcome: Outcome[Plan], request: Request[Options]) -> str:
    """Return the command that shows why a wait for pods timed out."""
    conditions = outcome.report.status["conditions"] if outcome.report and not outcome.problems else ()
    has_unready = any(each["type"] == "Ready" and each["reason"] in _WITH_UNREADY_PODS for each in conditions)
    if not outcome.timed_out or not has_unready:
        return ""
    selector = f"--namespace {request.namespace} --selector {names.CLUSTER_LABEL}={request.name}"
    return f"Inspect them: kubectl describe statefulsets,deployments,replicasets,pods {selector}"


DRUID = Kind(
    name=names.KIND,
    finalizer=names.FINALIZER,
    variable="druid_cluster_resource",
    arguments=ARGUMENTS,
    to_options=to_options,
    plan=Plan,
    reconcile=reconcile,
    submitted=_submitted,
    delete_resource=delete_resource,
    delete_without_resource=delete_without_resource,
    output=Output(plan_output.lines, plan_output.diff, _details, _hint, plan_output.flags),
    telemetry=TELEMETRY,
    role_variables=("install_crds",),
)
