# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalization of a terminating resource: terminate its supervisor or task, without waiting indefinitely.

A terminated supervisor stops only the tasks that it has already contacted. A task that has just started is not stopped
(observed with Druid 33). A suspended supervisor finds it later; a terminated one cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import wait_until_started
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import status_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionUnavailable,
    connect,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.connection import druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_elsewhere,
    of_status,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Finalizer,
    Plan,
    SaveLastApplied,
    Step,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import other_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import (
    KubernetesApi,
    is_namespace_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import require_live_api
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
_REMOVE_FINALIZER = (Finalizer(is_set=False),)
_SHAPES = {"druidCluster": str, "ingestion": dict, "auth": dict, "endpoint": dict}


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Terminate the supervisor or task, and remove the finalizer. The spec may be invalid."""
    resource = _readable(resource)
    ingestion = Ingestion.from_resource(resource)
    planned = Reconciled(resource, ingestion, Plan(findings=(_DELETING,)))
    if names.FINALIZER not in ingestion.finalizers:
        return planned
    if ingestion.retains:
        return _remove_finalizer(api, planned, options, f"deletionPolicy Retain: {_what(ingestion)} is left running.")
    keys = secrets_of(ingestion)
    refusal = disallowed_secret(keys, ingestion.namespace, options.allowed_reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    planned = replace(planned, observed=found)
    record = read_last_applied(found.record, ingestion)
    record = record if record.id or record.druid else of_status(ingestion)
    if is_elsewhere(record, ingestion):
        why = f"{_what(ingestion)} runs in another Druid ({record.druid}) than the spec names, and is left running."
        return _remove_finalizer(api, planned, options, f"{why[0].upper()}{why[1:]}")
    if not record.id:
        return _remove_finalizer(api, planned, options)
    if refusal is not None:
        return _retry_or_release(api, _blocked(planned, refusal), record, options)
    return _terminate(api, planned, record, options)


def _terminate(api: KubernetesApi, planned: Reconciled, record: LastApplied, options: Options) -> Reconciled:
    ingestion, found = planned.ingestion, planned.observed
    own, retained = _own(planned, record)
    if record.task is None and not own:
        return _remove_finalizer(api, planned, options, *retained)
    try:
        with connect(druid_connection(ingestion, found, options), options.timeouts, options.meter) as client:
            _wait_until_started(api, client, own, options)
            contacted = {each: fetch_contacted(client, each) for each in own}
            plan = Plan((*_terminations(client, record, own), *_REMOVE_FINALIZER), (_DELETING,), retained)
            done = _carried_out(api, client, replace(planned, plan=plan), options)
            if done.is_gone:
                left = chain.from_iterable(orphan_warnings(client, *each) for each in contacted.items())
                done = replace(done, plan=replace(done.plan, warnings=(*retained, *left)))
    except ConnectionUnavailable as error:
        if _is_permanent(error.finding, found):
            why = f"{error} So {_what(ingestion)} was not terminated: {record.id} may still run."
            return _remove_finalizer(api, planned, options, *retained, why)
        done = _blocked(planned, error.finding)
    except DruidError as error:
        done = _blocked(planned, error_findings.error_finding(error))
    is_done = not done.plan.problems or isinstance(done.failed_step, Finalizer)
    return done if is_done else _retry_or_release(api, done, record, options)


def _wait_until_started(api: KubernetesApi, client: DruidClient, supervisors: Iterable[str], options: Options) -> None:
    """Wait until the supervisors know their tasks: a termination orphans the others."""
    if options.check_mode:
        return
    require_live_api(api)
    for each in supervisors:
        wait_until_started(client, each)


def _blocked(planned: Reconciled, problem: Finding) -> Reconciled:
    return replace(planned, plan=Plan(findings=(problem, _DELETING)))


def _is_permanent(problem: Finding, found: Observed) -> bool:
    """True when the address or Secret of Druid is deleted; a wrong one may be fixed, so it is retried."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in found.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND


def _own(planned: Reconciled, record: LastApplied) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that no other resource specifies, and a message for each of the others."""
    siblings = planned.observed.siblings
    owners = {each: other_owner(planned.ingestion, siblings, each) for each in record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} also specifies supervisor {each}: it is not terminated."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _terminations(client: DruidClient, record: LastApplied, supervisors: Iterable[str]) -> Iterator[Step]:
    """Yield the terminations: of the supervisors, or of the task while it runs."""
    yield from (Terminate("supervisor", each) for each in supervisors)
    if record.task is not None and (status_of(client, record.task.id) or {}).get("statusCode") == batch.RUNNING:
        yield Terminate("task", record.task.id)


def _carried_out(api: KubernetesApi, client: DruidClient | None, planned: Reconciled, options: Options) -> Reconciled:
    if options.check_mode:
        return planned
    require_live_api(api)
    done = act(api, client, planned)
    return replace(done, is_gone=done.failed_step is None)


def _remove_finalizer(api: KubernetesApi, planned: Reconciled, options: Options, *why: str) -> Reconciled:
    plan = Plan(_REMOVE_FINALIZER, (_DELETING,), why)
    return _carried_out(api, None, Reconciled(planned.resource, planned.ingestion, plan), options)


def _retry_or_release(api: KubernetesApi, done: Reconciled, record: LastApplied, options: Options) -> Reconciled:
    """Retry a failed termination, unless the cluster or the namespace is also terminating."""
    require_live_api(api)
    parent = _terminating_parent(api, done)
    if parent is None:
        return replace(done, plan=_with_remedy(done.plan))
    texts = " ".join(problem.message for problem in done.plan.problems)
    why = f"{texts} The {parent} is also being deleted: {record.id} was not terminated and may still run."
    return _remove_finalizer(api, done, options, why)


def _terminating_parent(api: KubernetesApi, done: Reconciled) -> str | None:
    """Return the parent that is also terminating, if any."""
    cluster = done.observed.cluster
    if cluster is not None and is_terminating(cluster):
        return "cluster"
    return "namespace" if is_namespace_terminating(api, done.ingestion.namespace) else None


def _with_remedy(plan: Plan) -> Plan:
    """Add the remedy for a deletion while Druid does not respond."""
    remedy = "This is retried. To delete the resource without terminating what it specifies, set deletionPolicy Retain."
    problems = tuple(Finding(each.reason, f"{each.message} {remedy}") for each in plan.problems)
    others = tuple(each for each in plan.findings if not each.is_problem)
    return replace(plan, findings=(*problems, *others))


def _readable(resource: Manifest) -> Manifest:
    """Return the resource with the readable fields of its spec: it may be stored under an older schema."""
    spec = resource.get("spec")
    fields = spec.items() if isinstance(spec, dict) else ()
    return {**resource, "spec": {name: value for name, value in fields if _is_readable(name, value)}}


def _is_readable(name: str, value: object) -> bool:
    if name == "endpoint" and isinstance(value, dict):
        return isinstance(value.get("url", ""), str)
    return isinstance(value, _SHAPES.get(name, object))


def _what(ingestion: Ingestion) -> str:
    return f"the {'supervisor' if ingestion.is_supervisor else 'task'} of DruidIngestion {ingestion.name}"


def finalize_without_resource(api: KubernetesApi, planned: Reconciled, options: Options) -> Reconciled:
    """Terminate what the record names, then delete the record: it is the only reference to it."""
    ingestion = planned.ingestion
    keys = secrets_of(ingestion)
    refusal = disallowed_secret(keys, ingestion.namespace, options.allowed_reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    planned = replace(planned, observed=found)
    record, delete_last_applied = read_last_applied(found.record, ingestion), SaveLastApplied(None)
    if ingestion.retains:
        return _carried_out(api, None, replace(planned, plan=Plan((delete_last_applied,))), options)
    if refusal is not None:
        return replace(planned, plan=Plan(findings=(refusal,)))
    if is_elsewhere(record, ingestion):
        return replace(planned, plan=Plan(findings=(_elsewhere(record),)))
    own, retained = _own(planned, record)
    try:
        with connect(druid_connection(ingestion, found, options), options.timeouts, options.meter) as client:
            plan = Plan((*_terminations(client, record, own), delete_last_applied), warnings=retained)
            done = _carried_out(api, client, replace(planned, plan=plan), options)
            return replace(done, plan=_with_remedy(done.plan)) if isinstance(done.failed_step, Terminate) else done
    except ConnectionUnavailable as error:
        return replace(planned, plan=_with_remedy(Plan(findings=(error.finding,))))
    except DruidError as error:
        return replace(planned, plan=_with_remedy(Plan(findings=(error_findings.error_finding(error),))))


def _elsewhere(record: LastApplied) -> Finding:
    return Finding(
        reasons.INVALID_SPEC,
        f"spec: the ingestion runs in another Druid ({record.druid}). Specify that one, or set deletionPolicy Retain "
        "to leave it running.",
    )


_TASKS = path("druid", "indexer", "v1", "tasks")


def fetch_contacted(client: DruidClient, supervisor: str) -> frozenset[str] | None:
    """Return the ids of the tasks that a termination stops; None if the supervisor has no status or does not exist."""
    try:
        payload = supervisor_status.status_of(client, supervisor).get("payload")
    except ApiError:
        return None
    return None if payload is None else contacted(payload)


def orphan_warnings(client: DruidClient, supervisor: str, reached: Collection[str] | None) -> tuple[str, ...]:
    """Return warnings about tasks that may still run after the termination; `reached` are the contacted tasks."""
    if reached is None:
        return ()
    try:
        running = client.get(_TASKS, params={"state": "running"}) or ()
    except DruidError as error:
        return (f"Cannot check whether tasks of supervisor {supervisor} still run: {error}",)
    return tuple(
        f"Task {task} had just started when its supervisor {supervisor} was terminated, and may still run. Check it, "
        "and shut it down in Druid."
        for task in not_contacted(running, supervisor, reached)
    )


def contacted(payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the tasks that the supervisor has contacted: it reports their start time."""
    reading = [task for task in payload.get("activeTasks") or () if task.get("startTime")]
    return frozenset(task["id"] for task in (*reading, *(payload.get("publishingTasks") or ())))


def not_contacted(running: Iterable[Mapping[str, Any]], supervisor: str, reached: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the supervisor's tasks that it has not contacted; their group is ``index_kafka_<id>``."""
    own = [task["id"] for task in running if task.get("groupId") == f"{task.get('type')}_{supervisor}"]
    return tuple(task for task in own if task not in reached)
