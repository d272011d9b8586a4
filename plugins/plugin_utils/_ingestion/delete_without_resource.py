# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deletion of an ingestion without a resource: the record names what to terminate."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.finalize import finalize_without_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    read_last_applied,
    resource_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import REPORTING
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome, Progress
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request


def delete_without_resource(
    api: KubernetesApi, request: Request[Options], _progress: Progress, clock: Clock
) -> Outcome[Plan]:
    """Terminate what the ConfigMap names, and delete the ConfigMap; do nothing if there is none."""
    resource = _resource(request)
    planned = Reconciled(resource, Ingestion.from_resource(resource), Plan())
    found = api.get("ConfigMap", request.namespace, names.record_name(request.name))
    owner = resource_of(found) if found else None
    record = read_last_applied(found, planned.ingestion)
    if owner is None and record.is_empty:
        return Outcome(Plan())
    finalized = finalize_without_resource(api, planned, request.options) if owner is None else _refused(planned, owner)
    return Outcome(Plan()).after(report(REPORTING, api, finalized, request.options.check_mode, clock.now()))


def _refused(planned: Reconciled, owner: str) -> Reconciled:
    message = (
        f"DruidIngestion {owner} in namespace {planned.ingestion.namespace} exists as a resource, and nothing "
        "was deleted. To delete it, use state: absent with name and without spec."
    )
    return replace(planned, plan=Plan(findings=(Finding(reasons.NAME_CONFLICT, message),)))


def _resource(request: Request[Options]) -> Manifest:
    metadata = {"name": request.name, "namespace": request.namespace}
    spec = dict(request.spec or {})
    return {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata, "spec": spec}
