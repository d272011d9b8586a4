# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource that is being deleted: what it describes is ended first, and nothing is waited for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
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
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, names, orphaned_tasks
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
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor_owner import other_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import namespace
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import require_live_api
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
_REMOVE_FINALIZER = (Finalizer(is_set=False),)
_SHAPES = {"druidCluster": str, "ingestion": dict, "auth": dict, "endpoint": dict}


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """End what the resource describes, and let it go. Its spec may be anything: nobody has to mend it first."""
    if names.FINALIZER not in (resource["metadata"].get("finalizers") or ()):
        return Reconciled(resource, Plan(findings=(_DELETING,)))
    resource = _readable(resource)
    ingestion = Ingestion.from_resource(resource)
    if ingestion.retains:
        return _remove_finalizer(
            api, resource, options, f"deletionPolicy Retain: {_what(ingestion)} is left to itself."
        )
    keys = secrets_of(ingestion)
    refusal = disallowed_secret(keys, ingestion.namespace, options.allowed_reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    record = read_last_applied(found.record, resource)
    record = record if record.id or record.druid else of_status(resource)
    if is_elsewhere(record, ingestion):
        why = f"{_what(ingestion)} was given to another Druid ({record.druid}) than is stated, and is left to itself."
        return _remove_finalizer(api, resource, options, f"{why[0].upper()}{why[1:]}")
    if not record.id:
        return _remove_finalizer(api, resource, options)
    if refusal is not None:
        return _retry_or_release(api, _blocked(resource, refusal, found), record, options)
    return _terminate(api, resource, found, record, options)


def _terminate(
    api: KubernetesApi, resource: Manifest, found: Observed, record: LastApplied, options: Options
) -> Reconciled:
    ingestion = Ingestion.from_resource(resource)
    own, staying = _own(resource, found, record)
    if record.task is None and not own:
        return _remove_finalizer(api, resource, options, *staying)
    try:
        with connect(druid_connection(ingestion, found, options), options.timeouts, options.meter) as client:
            _let_start(api, client, own, options)
            heard = {each: orphaned_tasks.fetch_contacted(client, each) for each in own}
            plan = Plan((*_terminations(client, record, own), *_REMOVE_FINALIZER), (_DELETING,))
            done = _carried_out(api, client, Reconciled(resource, plan, None, found, staying), options)
            if done.is_gone:
                left = chain.from_iterable(orphaned_tasks.warnings(client, *each) for each in heard.items())
                done = replace(done, warnings=(*staying, *left))
    except ConnectionUnavailable as error:
        if _is_for_good(error.finding, found):
            why = f"{error} So {_what(ingestion)} was not ended: {record.id} may run on."
            return _remove_finalizer(api, resource, options, *staying, why)
        done = _blocked(resource, error.finding, found)
    except DruidError as error:
        done = _blocked(resource, error_findings.error_finding(error), found)
    is_done = not done.plan.problems or isinstance(done.failed_step, Finalizer)
    return done if is_done else _retry_or_release(api, done, record, options)


def _let_start(api: KubernetesApi, client: DruidClient, supervisors: Iterable[str], options: Options) -> None:
    """Have the supervisors know their tasks before they are ended: those that they do not know are left behind."""
    if options.check_mode:
        return
    require_live_api(api)
    for each in supervisors:
        wait_until_started(client, each)


def _blocked(resource: Manifest, problem: Finding, found: Observed) -> Reconciled:
    return Reconciled(resource, Plan(findings=(problem, _DELETING)), observed=found)


def _is_for_good(problem: Finding, found: Observed) -> bool:
    """True when what leads to Druid is gone; what is only wrong, or is just being recreated, can be waited for."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in found.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND


def _own(resource: Manifest, found: Observed, record: LastApplied) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that nobody else describes, and what there is to say of the others."""
    owners = {each: other_owner(resource, found.siblings, each) for each in record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} describes supervisor {each}, too: it stays."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _terminations(client: DruidClient, record: LastApplied, supervisors: Iterable[str]) -> Iterator[Step]:
    """Yield what is to be ended: the supervisors, or the task while it runs."""
    yield from (Terminate("supervisor", each) for each in supervisors)
    if record.task is not None and (status_of(client, record.task.id) or {}).get("statusCode") == batch.RUNNING:
        yield Terminate("task", record.task.id)


def _carried_out(api: KubernetesApi, client: DruidClient | None, planned: Reconciled, options: Options) -> Reconciled:
    if options.check_mode:
        return planned
    require_live_api(api)
    acted = act(api, client, planned.resource, planned.plan.steps)
    plan, is_gone = acted.plan(planned.plan), acted.finding is None
    return Reconciled(acted.live, plan, None, planned.observed, planned.warnings, acted.failed, is_gone)


def _remove_finalizer(api: KubernetesApi, resource: Manifest, options: Options, *why: str) -> Reconciled:
    planned = Reconciled(resource, Plan(_REMOVE_FINALIZER, (_DELETING,)), warnings=why)
    return _carried_out(api, None, planned, options)


def _retry_or_release(api: KubernetesApi, done: Reconciled, record: LastApplied, options: Options) -> Reconciled:
    """It could not be ended: it is tried again, unless the cluster or the namespace goes, too."""
    require_live_api(api)
    parent = _terminating_parent(api, done.resource, done.observed)
    if parent is None:
        return replace(done, plan=_with_way_out(done.plan))
    texts = " ".join(problem.message for problem in done.plan.problems)
    why = f"{texts} Its {parent} is being deleted, too: {record.id} was not ended and may run on."
    return _remove_finalizer(api, done.resource, options, why)


def _terminating_parent(api: KubernetesApi, resource: Manifest, found: Observed) -> str | None:
    """Return what goes together with the resource, and would wait for it."""
    if found.cluster is not None and is_terminating(found.cluster):
        return "cluster"
    return "namespace" if namespace.is_namespace_terminating(api, resource["metadata"]["namespace"]) else None


def _with_way_out(plan: Plan) -> Plan:
    """Say how to have the resource go although Druid does not answer."""
    way_out = (
        "It is tried again. To let the resource go and leave to itself what it describes, set deletionPolicy Retain."
    )
    problems = tuple(Finding(each.reason, f"{each.message} {way_out}") for each in plan.problems)
    others = tuple(each for each in plan.findings if not each.is_problem)
    return Plan(plan.steps, (*problems, *others))


def _readable(resource: Manifest) -> Manifest:
    """Return the resource with what can be read of its spec: it may be stored under the schema of another day."""
    spec = resource.get("spec")
    fields = spec.items() if isinstance(spec, dict) else ()
    return {**resource, "spec": {name: value for name, value in fields if _is_readable(name, value)}}


def _is_readable(name: str, value: object) -> bool:
    if name == "endpoint" and isinstance(value, dict):
        return isinstance(value.get("url", ""), str)
    return isinstance(value, _SHAPES.get(name, object))


def _what(ingestion: Ingestion) -> str:
    return f"the {'supervisor' if ingestion.is_supervisor else 'task'} of DruidIngestion {ingestion.name}"


def finalize_without_resource(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """End what the record names and remove that; without the record nobody would know of it any more."""
    ingestion = Ingestion.from_resource(resource)
    keys = secrets_of(ingestion)
    refusal = disallowed_secret(keys, ingestion.namespace, options.allowed_reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    record, forget_last_applied = read_last_applied(found.record, resource), SaveLastApplied(None)
    if ingestion.retains:
        return _carried_out(api, None, Reconciled(resource, Plan((forget_last_applied,)), None, found), options)
    if refusal is not None:
        return Reconciled(resource, Plan(findings=(refusal,)), observed=found)
    if is_elsewhere(record, ingestion):
        return Reconciled(resource, Plan(findings=(_elsewhere(record),)), observed=found)
    own, staying = _own(resource, found, record)
    try:
        with connect(druid_connection(ingestion, found, options), options.timeouts, options.meter) as client:
            steps = (*_terminations(client, record, own), forget_last_applied)
            done = _carried_out(api, client, Reconciled(resource, Plan(steps), None, found, staying), options)
            return replace(done, plan=_with_way_out(done.plan)) if isinstance(done.failed_step, Terminate) else done
    except ConnectionUnavailable as error:
        return Reconciled(resource, _with_way_out(Plan(findings=(error.finding,))), observed=found)
    except DruidError as error:
        return Reconciled(
            resource, _with_way_out(Plan(findings=(error_findings.error_finding(error),))), observed=found
        )


def _elsewhere(record: LastApplied) -> Finding:
    return Finding(
        reasons.INVALID_SPEC,
        f"spec: what is to be ended was given to another Druid ({record.druid}). State that one, or deletionPolicy "
        "Retain to leave it to itself.",
    )
