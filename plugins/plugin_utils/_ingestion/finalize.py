# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalization of a terminating resource: terminate its supervisor or task, without waiting indefinitely."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import disallowed_secret, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import Deletion, decide_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    read_last_applied,
    resource_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import DeletionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconciled import Plan, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    API_VERSION,
    KIND,
    Ingestion,
    record_name,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding

_SHAPES = {"druidCluster": str, "ingestion": dict, "auth": dict, "endpoint": dict}


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Terminate the supervisor or task, and remove the finalizer. The spec may be invalid."""
    resource = _readable(resource)
    planned = Reconciled(resource, Plan(), Ingestion.from_resource(resource))
    return _delete(api, planned, _deletion(planned, options), options)


def finalize_without_resource(
    api: KubernetesApi, name: str, namespace: str, spec: Mapping[str, Any], options: Options
) -> Reconciled | None:
    """Terminate what the record names, then delete the record: the only reference to it. None without one."""
    metadata = {"name": name, "namespace": namespace}
    resource = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": dict(spec)}
    planned = Reconciled(resource, Plan(), Ingestion.from_resource(resource))
    found = api.get("ConfigMap", namespace, record_name(name))
    owner = resource_of(found) if found else None
    if owner is not None:
        return _refused(planned, owner)
    if read_last_applied(found, planned.ingestion).is_empty:
        return None
    return _delete(api, planned, replace(_deletion(planned, options), has_resource=False), options)


def _refused(planned: Reconciled, owner: str) -> Reconciled:
    message = (
        f"DruidIngestion {owner} in namespace {planned.ingestion.namespace} exists as a resource, and nothing "
        "was deleted. To delete it, use state: absent with name and without spec."
    )
    return planned.blocked(Finding(reasons.NAME_CONFLICT, message))


def _deletion(planned: Reconciled, options: Options) -> Deletion:
    ingestion = planned.ingestion
    refusal = disallowed_secret(secrets_of(ingestion), ingestion.namespace, options.allowed_reference_namespaces)
    return Deletion(ingestion, refusal=refusal)


def _delete(api: KubernetesApi, planned: Reconciled, deletion: Deletion, options: Options) -> Reconciled:
    """Decide, and carry out the plan; decide once more if Druid fails."""
    with ExitStack() as connections:
        reads = DeletionReads(api, deletion, options, connections)
        plan = decide_deletion(deletion, reads)
        planned = replace(planned, observed=reads.observed)
        if reads.client is not None:
            planned = _carried_out(api, reads.client, replace(planned, plan=plan), options)
            if planned.failed_step is None or not planned.failed_step.in_druid:
                return planned
            plan = decide_deletion(replace(deletion, failure=planned.plan.problems[-1]), reads)
    if not plan.steps:
        # the steps before the problem are completed
        warnings = (*planned.plan.warnings, *plan.warnings)
        return replace(planned, plan=replace(plan, steps=planned.plan.steps, warnings=warnings))
    return _carried_out(api, None, replace(planned, plan=plan, failed_step=None), options)


def _carried_out(api: KubernetesApi, client: DruidClient | None, planned: Reconciled, options: Options) -> Reconciled:
    if options.check_mode or not planned.plan.steps:
        return planned
    done = act(api, client, planned)
    return replace(done, is_deleted=done.failed_step is None)


def _readable(resource: Manifest) -> Manifest:
    """Return the resource with the readable fields of its spec: it may be stored under an older schema."""
    spec = resource.get("spec")
    fields = spec.items() if isinstance(spec, dict) else ()
    return {**resource, "spec": {name: value for name, value in fields if _is_readable(name, value)}}


def _is_readable(name: str, value: object) -> bool:
    if name == "endpoint" and isinstance(value, dict):
        return isinstance(value.get("url", ""), str)
    return isinstance(value, _SHAPES.get(name, object))
