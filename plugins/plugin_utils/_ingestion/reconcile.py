# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of an ingestion: observe, ask Druid, decide, act, report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils import _schema
from ansible_collections.druidops.druid.plugins.plugin_utils._druid import trouble
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.access import (
    NoAccess,
    connected,
    refused,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import decide_on_the_server
from ansible_collections.druidops.druid.plugins.plugin_utils._going import is_going
from ansible_collections.druidops.druid.plugins.plugin_utils._hands_off import hands_off
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, reasons, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.afterwards import look_again
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.ask import has_own_ids, see
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource import kept
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide, finalizer, held
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.ending import end
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.made import made_of, spared
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reach import reach
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record, is_ours, read
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report, report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.seen import Seen, SeenSupervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.settings import Pass, Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.siblings import described, older_owner
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._status import report_unreadable


def reconcile(api: KubernetesApi, resource: Manifest, settings: Settings, now: datetime) -> Report:
    """Make one pass for a resource: as read from the API, or (without a uid) made of variables.

    KubernetesError when the API cannot be read, and the conditions say so; all else is in the report.
    """
    go_through = end if is_going(resource) else _carry_on
    try:
        done = go_through(api, resource, settings)
    except KubernetesError as error:
        if not settings.check_mode:
            report_unreadable(api, resource, error, now)
        raise
    with settings.meter.phases("report"):
        return report(api, done, settings.check_mode, now)


def _carry_on(api: KubernetesApi, resource: Manifest, settings: Settings) -> Pass:
    obstacles = _obstacles(resource, settings)
    if obstacles:
        return Pass(resource, Plan(findings=obstacles))
    ingestion = Ingestion.from_resource(resource)
    keys = secrets_of(ingestion)
    with settings.meter.phases("observe"):
        found = observe(api, ingestion, keys)
    if found.record is not None and not is_ours(found.record, ingestion):
        return Pass(resource, Plan(findings=(_collision(ingestion),)), observed=found)
    try:
        with connected(reach(ingestion, found, settings), settings.patience, settings.meter) as client:
            return _with_druid(api, client, resource, found, settings)
    except NoAccess as error:
        return Pass(resource, Plan(findings=(error.finding,)), observed=found)
    except DruidError as error:
        return Pass(resource, Plan(findings=(trouble.finding(error),)), observed=found)


def _with_druid(
    api: KubernetesApi, client: DruidClient, resource: Manifest, found: Observed, settings: Settings
) -> Pass:
    ingestion, record = Ingestion.from_resource(resource), read(found.record, resource)
    made = made_of(found.record, ingestion)
    with settings.meter.phases("decide"):
        seen = see(client, ingestion, record, made)
        owner = _older(client, resource, found, seen)
        if owner is not None:
            return Pass(resource, Plan(findings=(_duplicate(seen, owner),)), observed=found)
        others = described(resource, found.siblings)
        extras = tuple(spared(step, made) for step in kept(client, ingestion, record))
        plan = decide(ingestion, record, seen, extras, is_recorded=found.record is not None, others=others)
    plan = replace(plan, steps=(*_finalizer(resource["metadata"]), *plan.steps))
    pause = hands_off(ingestion.annotations, ingestion.spec)
    warnings = (*_warnings(ingestion, seen), *_told(extras))
    planned = Pass(resource, plan if pause is None else held(plan, pause), seen, found, warnings)
    return _carried_out(api, client, planned, record, settings)


def _carried_out(api: KubernetesApi, client: DruidClient, planned: Pass, record: Record, settings: Settings) -> Pass:
    """Do what is planned, and look how it is afterwards."""
    if settings.check_mode or not planned.plan.steps:
        return planned
    decide_on_the_server(api)
    with settings.meter.phases("act"):
        acted = act(api, client, planned.resource, planned.plan.steps)
    warnings = (*planned.warnings, *_told(acted.given))
    done = replace(planned, resource=acted.live, plan=acted.plan(planned.plan), warnings=warnings, tried=acted.failed)
    if acted.finding is not None:
        return done
    return look_again(api, client, done, acted.record or record)


def _told(steps: Iterable[Converge]) -> tuple[str, ...]:
    return tuple(text for step in steps for text in step.resource.warnings)


def _older(client: DruidClient, resource: Manifest, found: Observed, seen: Seen) -> str | None:
    if not isinstance(seen, SeenSupervisor):
        return None
    own_ids = has_own_ids(client, Ingestion.from_resource(resource), found.siblings)
    return older_owner(resource, found.siblings, seen.id, has_own_ids=own_ids)


def _finalizer(metadata: Mapping[str, Any]) -> tuple[Any, ...]:
    return finalizer(metadata.get("finalizers") or []) if metadata.get("uid") else ()


def _warnings(ingestion: Ingestion, seen: Seen | None) -> tuple[str, ...]:
    of_druid = seen.warnings if isinstance(seen, SeenSupervisor) else ()
    return (*validate.warnings(ingestion), *of_druid)


def _obstacles(resource: Manifest, settings: Settings) -> tuple[Finding, ...]:
    """Return what is wrong with the resource itself; of one that has another shape no field is read."""
    misshapen = _misshapen(resource)
    if misshapen:
        return misshapen
    ingestion = Ingestion.from_resource(resource)
    refusal = refused(secrets_of(ingestion), ingestion.namespace, settings.reference_namespaces)
    return (*validate.problems(ingestion), *(() if refusal is None else (refusal,)))


def _misshapen(resource: Manifest) -> tuple[Finding, ...]:
    problems = _schema.misshapen(_schema.spec_of(names.KIND), resource.get("spec"))
    remedy = "Such a value is stored, and cannot be read as this version does. Change the field."
    return tuple(Finding(reasons.INVALID_SPEC, f"{problem}. {remedy}") for problem in problems)


def _collision(ingestion: Ingestion) -> Finding:
    name = names.record_name(ingestion.name)
    return Finding(
        reasons.NAME_COLLISION,
        f"ConfigMap {name} in namespace {ingestion.namespace} is not this resource's, and that is where it would keep "
        "what Druid was given. Remove it if it is nobody's, or give this ingestion another name.",
    )


def _duplicate(seen: Seen, owner: str) -> Finding:
    return Finding(
        reasons.DUPLICATE,
        f"Supervisor {seen.id} is described by DruidIngestion {owner}, which is older and keeps it. Remove one.",
    )
