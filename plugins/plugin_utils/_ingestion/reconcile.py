# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of an ingestion: observe, read Druid's state, decide, act, report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import (
    ConnectionUnavailable,
    connect,
    disallowed_secret,
    secrets_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.act import act
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.connection import druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource_config import datasource_changes
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import decide, finalizer, without_steps
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import DruidState, SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.finalize import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_ours,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.normalization import (
    read_normalized,
    skip_normalized,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe_druid import fetch_state, has_own_ids
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.readback import read_back
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import REPORTING
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor_owner import (
    described_supervisors,
    older_owner,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import require_live_api
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.paused import pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reconcile import reconcile_and_report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report


def reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Report[Plan]:
    """Reconcile a DruidIngestion: from the API, or (without a uid) built from a spec.

    KubernetesError if the API cannot be read; the conditions report it. All other problems are in the report.
    """
    reconcile_once = finalize if is_terminating(resource) else _reconcile
    return reconcile_and_report(REPORTING, reconcile_once, api, resource, options, now)


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    blockers = _blockers(resource, options)
    if blockers:
        return Reconciled(resource, Plan(findings=blockers))
    ingestion = Ingestion.from_resource(resource)
    keys = secrets_of(ingestion)
    with options.meter.phases("observe"):
        found = observe(api, ingestion, keys)
    if found.record is not None and not is_ours(found.record, ingestion):
        return Reconciled(resource, Plan(findings=(_collision(ingestion),)), observed=found)
    try:
        with connect(druid_connection(ingestion, found, options), options.timeouts, options.meter) as client:
            return _with_druid(api, client, resource, found, options)
    except ConnectionUnavailable as error:
        return Reconciled(resource, Plan(findings=(error.finding,)), observed=found)
    except DruidError as error:
        return Reconciled(resource, Plan(findings=(error_findings.error_finding(error),)), observed=found)


def _with_druid(
    api: KubernetesApi, client: DruidClient, resource: Manifest, found: Observed, options: Options
) -> Reconciled:
    ingestion, record = Ingestion.from_resource(resource), read_last_applied(found.record, resource)
    normalized = read_normalized(found.record, ingestion)
    with options.meter.phases("decide"):
        druid_state = fetch_state(client, ingestion, record, normalized)
        owner = _older(client, resource, found, druid_state)
        if owner is not None:
            return Reconciled(resource, Plan(findings=(_duplicate(druid_state, owner),)), observed=found)
        others = described_supervisors(resource, found.siblings)
        extras = tuple(skip_normalized(step, normalized) for step in datasource_changes(client, ingestion, record))
        plan = decide(ingestion, record, druid_state, extras, is_recorded=found.record is not None, others=others)
    plan = replace(plan, steps=(*_finalizer(resource["metadata"]), *plan.steps))
    pause = pause_finding(ingestion.annotations, ingestion.spec)
    warnings = (*_warnings(ingestion, druid_state), *_druid_warnings(extras))
    planned = Reconciled(resource, plan if pause is None else without_steps(plan, pause), druid_state, found, warnings)
    return _carried_out(api, client, planned, record, options)


def _carried_out(
    api: KubernetesApi, client: DruidClient, planned: Reconciled, record: LastApplied, options: Options
) -> Reconciled:
    """Execute the plan, and read back Druid's state."""
    if options.check_mode or not planned.plan.steps:
        return planned
    require_live_api(api)
    with options.meter.phases("act"):
        acted = act(api, client, planned.resource, planned.plan.steps)
    warnings = (*planned.warnings, *_druid_warnings(acted.applied))
    done = replace(
        planned, resource=acted.live, plan=acted.plan(planned.plan), warnings=warnings, failed_step=acted.failed
    )
    if acted.finding is not None:
        return done
    return read_back(api, client, done, acted.record or record)


def _druid_warnings(steps: Iterable[Converge]) -> tuple[str, ...]:
    return tuple(text for step in steps for text in step.resource.warnings)


def _older(client: DruidClient, resource: Manifest, found: Observed, druid_state: DruidState) -> str | None:
    if not isinstance(druid_state, SupervisorState):
        return None
    own_ids = has_own_ids(client, Ingestion.from_resource(resource), found.siblings)
    return older_owner(resource, found.siblings, druid_state.id, has_own_ids=own_ids)


def _finalizer(metadata: Mapping[str, Any]) -> tuple[Any, ...]:
    return finalizer(metadata.get("finalizers") or []) if metadata.get("uid") else ()


def _warnings(ingestion: Ingestion, druid_state: DruidState | None) -> tuple[str, ...]:
    of_druid = druid_state.warnings if isinstance(druid_state, SupervisorState) else ()
    return (*validate.warnings(ingestion), *of_druid)


def _blockers(resource: Manifest, options: Options) -> tuple[Finding, ...]:
    """Return problems of the resource itself; after a schema error no field is read."""
    errors = _schema_errors(resource)
    if errors:
        return errors
    ingestion = Ingestion.from_resource(resource)
    refusal = disallowed_secret(secrets_of(ingestion), ingestion.namespace, options.allowed_reference_namespaces)
    return (*validate.problems(ingestion), *(() if refusal is None else (refusal,)))


def _schema_errors(resource: Manifest) -> tuple[Finding, ...]:
    problems = schema.schema_errors(schema.spec_of(names.KIND), resource.get("spec"))
    remedy = "The value was stored under another version of the CRD. Change the field."
    return tuple(Finding(reasons.INVALID_SPEC, f"{problem}. {remedy}") for problem in problems)


def _collision(ingestion: Ingestion) -> Finding:
    name = names.record_name(ingestion.name)
    return Finding(
        reasons.NAME_CONFLICT,
        f"ConfigMap {name} in namespace {ingestion.namespace} does not belong to this resource, which needs that name "
        "for its last applied spec. Delete the ConfigMap if it is unused, or rename this ingestion.",
    )


def _duplicate(druid_state: DruidState, owner: str) -> Finding:
    return Finding(
        reasons.DUPLICATE_SUPERVISOR,
        f"DruidIngestion {owner}, which is older, also specifies supervisor {druid_state.id}. Delete one of them.",
    )
