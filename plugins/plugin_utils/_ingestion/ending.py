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
from ansible_collections.druidops.druid.plugins.plugin_utils._druid import trouble
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.access import (
    NoAccess,
    connected,
    refused,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import decide_on_the_server
from ansible_collections.druidops.druid.plugins.plugin_utils._going import is_going
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import (
    batch,
    left_behind,
    names,
    namespace,
    reasons,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import End, Finalizer, Plan, Remember, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reach import reach
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import (
    Record,
    is_elsewhere,
    of_status,
    read,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Pass, Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.siblings import other_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest

_DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
_LET_GO = (Finalizer(is_set=False),)
_SHAPES = {"druidCluster": str, "ingestion": dict, "auth": dict, "endpoint": dict}


def end(api: KubernetesApi, resource: Manifest, settings: Settings) -> Pass:
    """End what the resource describes, and let it go. Its spec may be anything: nobody has to mend it first."""
    if names.FINALIZER not in (resource["metadata"].get("finalizers") or ()):
        return Pass(resource, Plan(findings=(_DELETING,)))
    resource = _readable(resource)
    ingestion = Ingestion.from_resource(resource)
    if ingestion.retains:
        return _let_go(api, resource, settings, f"deletionPolicy Retain: {_what(ingestion)} is left to itself.")
    keys = secrets_of(ingestion)
    refusal = refused(keys, ingestion.namespace, settings.reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    record = read(found.record, resource)
    record = record if record.id or record.druid else of_status(resource)
    if is_elsewhere(record, ingestion):
        why = f"{_what(ingestion)} was given to another Druid ({record.druid}) than is stated, and is left to itself."
        return _let_go(api, resource, settings, f"{why[0].upper()}{why[1:]}")
    if not record.id:
        return _let_go(api, resource, settings)
    if refusal is not None:
        return _waits_or_goes(api, _stuck(resource, refusal, found), record, settings)
    return _end_in_druid(api, resource, found, record, settings)


def _end_in_druid(api: KubernetesApi, resource: Manifest, found: Observed, record: Record, settings: Settings) -> Pass:
    ingestion = Ingestion.from_resource(resource)
    own, stay = _own(resource, found, record)
    if record.task is None and not own:
        return _let_go(api, resource, settings, *stay)
    try:
        with connected(reach(ingestion, found, settings), settings.patience, settings.meter) as client:
            _let_start(api, client, own, settings)
            heard = {each: left_behind.told(client, each) for each in own}
            plan = Plan((*_ends(client, record, own), *_LET_GO), (_DELETING,))
            done = _carried_out(api, client, Pass(resource, plan, None, found, stay), settings)
            if done.is_gone:
                left = chain.from_iterable(left_behind.warnings(client, *each) for each in heard.items())
                done = replace(done, warnings=(*stay, *left))
    except NoAccess as error:
        if _is_for_good(error.finding, found):
            why = f"{error} So {_what(ingestion)} was not ended: {record.id} may run on."
            return _let_go(api, resource, settings, *stay, why)
        done = _stuck(resource, error.finding, found)
    except DruidError as error:
        done = _stuck(resource, trouble.finding(error), found)
    is_done = not done.plan.problems or isinstance(done.tried, Finalizer)
    return done if is_done else _waits_or_goes(api, done, record, settings)


def _let_start(api: KubernetesApi, client: DruidClient, supervisors: Iterable[str], settings: Settings) -> None:
    """Have the supervisors know their tasks before they are ended: those that they do not know are left behind."""
    if settings.check_mode:
        return
    decide_on_the_server(api)
    for each in supervisors:
        wait_until_started(client, each)


def _stuck(resource: Manifest, problem: Finding, found: Observed) -> Pass:
    return Pass(resource, Plan(findings=(problem, _DELETING)), observed=found)


def _is_for_good(problem: Finding, found: Observed) -> bool:
    """True when what leads to Druid is gone; what is only wrong, or is just being recreated, can be waited for."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in found.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND


def _own(resource: Manifest, found: Observed, record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the supervisors that nobody else describes, and what there is to say of the others."""
    owners = {each: other_owner(resource, found.siblings, each) for each in record.supervisors}
    own = tuple(each for each, owner in owners.items() if owner is None)
    texts = (
        f"DruidIngestion {owner} describes supervisor {each}, too: it stays."
        for each, owner in owners.items()
        if owner is not None
    )
    return own, tuple(texts)


def _ends(client: DruidClient, record: Record, supervisors: Iterable[str]) -> Iterator[Step]:
    """Yield what is to be ended: the supervisors, or the task while it runs."""
    yield from (End("supervisor", each) for each in supervisors)
    if record.task is not None and (status_of(client, record.task.id) or {}).get("statusCode") == batch.RUNNING:
        yield End("task", record.task.id)


def _carried_out(api: KubernetesApi, client: DruidClient | None, planned: Pass, settings: Settings) -> Pass:
    if settings.check_mode:
        return planned
    decide_on_the_server(api)
    acted = act(api, client, planned.resource, planned.plan.steps)
    plan, is_gone = acted.plan(planned.plan), acted.finding is None
    return Pass(acted.live, plan, None, planned.observed, planned.warnings, acted.failed, is_gone)


def _let_go(api: KubernetesApi, resource: Manifest, settings: Settings, *why: str) -> Pass:
    planned = Pass(resource, Plan(_LET_GO, (_DELETING,)), warnings=why)
    return _carried_out(api, None, planned, settings)


def _waits_or_goes(api: KubernetesApi, done: Pass, record: Record, settings: Settings) -> Pass:
    """It could not be ended: it is tried again, unless the cluster or the namespace goes, too."""
    decide_on_the_server(api)
    going = _going(api, done.resource, done.observed)
    if going is None:
        return replace(done, plan=_with_way_out(done.plan))
    texts = " ".join(problem.message for problem in done.plan.problems)
    why = f"{texts} Its {going} is being deleted, too: {record.id} was not ended and may run on."
    return _let_go(api, done.resource, settings, why)


def _going(api: KubernetesApi, resource: Manifest, found: Observed) -> str | None:
    """Return what goes together with the resource, and would wait for it."""
    if found.cluster is not None and is_going(found.cluster):
        return "cluster"
    return "namespace" if namespace.is_terminating(api, resource["metadata"]["namespace"]) else None


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


def end_by_variable(api: KubernetesApi, resource: Manifest, settings: Settings) -> Pass:
    """End what the record names and remove that; without the record nobody would know of it any more."""
    ingestion = Ingestion.from_resource(resource)
    keys = secrets_of(ingestion)
    refusal = refused(keys, ingestion.namespace, settings.reference_namespaces)
    found = observe(api, ingestion, keys if refusal is None else ())
    record, forget = read(found.record, resource), Remember(None)
    if ingestion.retains:
        return _carried_out(api, None, Pass(resource, Plan((forget,)), None, found), settings)
    if refusal is not None:
        return Pass(resource, Plan(findings=(refusal,)), observed=found)
    if is_elsewhere(record, ingestion):
        return Pass(resource, Plan(findings=(_elsewhere(record),)), observed=found)
    own, stay = _own(resource, found, record)
    try:
        with connected(reach(ingestion, found, settings), settings.patience, settings.meter) as client:
            steps = (*_ends(client, record, own), forget)
            done = _carried_out(api, client, Pass(resource, Plan(steps), None, found, stay), settings)
            return replace(done, plan=_with_way_out(done.plan)) if isinstance(done.tried, End) else done
    except NoAccess as error:
        return Pass(resource, _with_way_out(Plan(findings=(error.finding,))), observed=found)
    except DruidError as error:
        return Pass(resource, _with_way_out(Plan(findings=(trouble.finding(error),))), observed=found)


def _elsewhere(record: Record) -> Finding:
    return Finding(
        reasons.INVALID_SPEC,
        f"spec: what is to be ended was given to another Druid ({record.druid}). State that one, or deletionPolicy "
        "Retain to leave it to itself.",
    )
