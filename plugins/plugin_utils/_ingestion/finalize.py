# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalization of a terminating resource: terminate its supervisor or task, without waiting indefinitely."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import status_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionUnavailable,
    connect,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, lost_record, names, noted
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.connection import druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import (
    Deletion,
    Read,
    decide_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    of_status,
    read_last_applied,
    resource_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Plan, Terminate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import (
    confirmed,
    noted_record,
    only_named,
    recorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import (
    KubernetesApi,
    is_namespace_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_SHAPES = {"druidCluster": str, "ingestion": dict, "auth": dict, "endpoint": dict}


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Terminate the supervisor or task, and remove the finalizer. The spec may be invalid."""
    resource = _readable(resource)
    planned = Reconciled(resource, Ingestion.from_resource(resource), Plan())
    return _delete(api, planned, _deletion(planned, options), options)


def finalize_without_resource(
    api: KubernetesApi, name: str, namespace: str, spec: Mapping[str, Any], options: Options
) -> Reconciled | None:
    """Terminate what the record names, then delete the record: the only reference to it. None without one."""
    metadata = {"name": name, "namespace": namespace}
    resource = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata, "spec": dict(spec)}
    planned = Reconciled(resource, Ingestion.from_resource(resource), Plan())
    found = api.get("ConfigMap", namespace, names.record_name(name))
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
    return replace(planned, plan=Plan(findings=(Finding(reasons.NAME_CONFLICT, message),)))


def _deletion(planned: Reconciled, options: Options) -> Deletion:
    ingestion = planned.ingestion
    refusal = disallowed_secret(secrets_of(ingestion), ingestion.namespace, options.allowed_reference_namespaces)
    return Deletion(ingestion, refusal=refusal)


@dataclass(frozen=True)
class _Inputs:
    """What the plan depends on, and what was read for it; `client` is connected as soon as Druid was read."""

    deletion: Deletion
    planned: Reconciled
    client: DruidClient | None = None


def _delete(api: KubernetesApi, planned: Reconciled, deletion: Deletion, options: Options) -> Reconciled:
    """Read what the plan needs, and carry it out; decide once more if Druid fails."""
    with ExitStack() as connections:
        inputs = _Inputs(deletion, planned)
        while isinstance(plan := decide_deletion(inputs.deletion), Read):
            inputs = _read(api, options, connections, inputs, plan)
        planned, deletion = inputs.planned, inputs.deletion
        if inputs.client is None:
            return _without_druid(api, planned, deletion, plan, options)
        try:
            planned = _carried_out(api, inputs.client, replace(planned, plan=plan), options)
        except DruidError as error:
            problem = error_findings.error_finding(error)
        else:
            if not isinstance(planned.failed_step, Terminate):
                return planned
            problem = planned.plan.problems[-1]
    return _delete(api, planned, replace(deletion, problem=problem), options)


def _read(api: KubernetesApi, options: Options, connections: ExitStack, inputs: _Inputs, what: Read) -> _Inputs:
    deletion, planned = inputs.deletion, inputs.planned
    if what is Read.RECORD:
        planned = _with_observed(api, planned, deletion)
        return _Inputs(_with_record(planned, deletion), planned)
    if what is Read.PARENTS:
        return _Inputs(replace(deletion, parent=_terminating_parent(api, planned)), planned)
    return _with_druid(api, inputs, options, connections)


def _with_observed(api: KubernetesApi, planned: Reconciled, deletion: Deletion) -> Reconciled:
    keys = secrets_of(planned.ingestion) if deletion.refusal is None else ()
    return replace(planned, observed=observe(api, planned.ingestion, keys))


def _with_record(planned: Reconciled, deletion: Deletion) -> Deletion:
    found, ingestion = planned.observed, planned.ingestion
    record, unconfirmed = recorded(found.record, ingestion)
    is_reported = deletion.has_resource and found.record is None
    if is_reported and record.is_empty:
        record, _also = confirmed(of_status(ingestion), ingestion)
        record = noted_record(ingestion) if record.is_empty else record
    warnings = (*unconfirmed, *noted.warnings(found.config_map, ingestion))
    return replace(deletion, record=record, siblings=found.siblings, is_reported=is_reported, unconfirmed=warnings)


def _with_druid(api: KubernetesApi, inputs: _Inputs, options: Options, connections: ExitStack) -> _Inputs:
    """Return the inputs with the state of the task and a connection, or with the problem."""
    deletion, found = inputs.deletion, inputs.planned.observed
    try:
        details = druid_connection(api, inputs.planned.ingestion, found, options)
        client = connections.enter_context(connect(details, options.timeouts, options.meter))
        deletion = _with_task(client, deletion)
    except ConnectionUnavailable as error:
        is_lasting = _is_lasting(error.finding, found)
        return replace(inputs, deletion=replace(deletion, problem=error.finding, is_lasting=is_lasting))
    except DruidError as error:
        return replace(inputs, deletion=replace(deletion, problem=error_findings.error_finding(error)))
    return replace(inputs, deletion=deletion, client=client)


def _without_druid(
    api: KubernetesApi, planned: Reconciled, deletion: Deletion, plan: Plan, options: Options
) -> Reconciled:
    """Carry out the plan in Kubernetes."""
    if deletion.problem is not None and not plan.steps:
        # the steps before the problem are completed
        return replace(planned, plan=replace(planned.plan, findings=plan.findings))
    return _carried_out(api, None, replace(planned, plan=plan, failed_step=None), options)


def _with_task(client: DruidClient, deletion: Deletion) -> Deletion:
    """Return the deletion with the state of the task. One that only the status names must be of this resource."""
    task = deletion.record.task if deletion.record else None
    status = (status_of(client, task.id) if task else None) or {}
    if deletion.record is None or task is None or status.get("statusCode") != batch.RUNNING:
        return replace(deletion, is_task_running=False)
    is_own = lost_record.is_of_resource(deletion.ingestion, task.id, status, deletion.record.revision)
    if is_own or not deletion.is_reported:
        return replace(deletion, is_task_running=True)
    warning = only_named(f"task {task.id}")
    return replace(deletion, is_task_running=False, unconfirmed=(*deletion.unconfirmed, warning))


def _is_lasting(problem: Finding, found: Observed) -> bool:
    """True when the address or Secret of Druid is deleted; a wrong one may be fixed, so it is retried."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in found.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND


def _carried_out(api: KubernetesApi, client: DruidClient | None, planned: Reconciled, options: Options) -> Reconciled:
    if options.check_mode or not planned.plan.steps:
        return planned
    done = act(api, client, planned)
    return replace(done, is_deleted=done.failed_step is None)


def _terminating_parent(api: KubernetesApi, planned: Reconciled) -> str:
    """Return the parent that is also terminating, "" if none is."""
    cluster = planned.observed.cluster
    if cluster is not None and is_terminating(cluster):
        return "cluster"
    return "namespace" if is_namespace_terminating(api, planned.ingestion.namespace) else ""


def _readable(resource: Manifest) -> Manifest:
    """Return the resource with the readable fields of its spec: it may be stored under an older schema."""
    spec = resource.get("spec")
    fields = spec.items() if isinstance(spec, dict) else ()
    return {**resource, "spec": {name: value for name, value in fields if _is_readable(name, value)}}


def _is_readable(name: str, value: object) -> bool:
    if name == "endpoint" and isinstance(value, dict):
        return isinstance(value.get("url", ""), str)
    return isinstance(value, _SHAPES.get(name, object))
