# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reconcile: observe, decide, act, report."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import stored_replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.deletion import (
    deletion_of,
    finalize,
    planned_finalization,
    refusals,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import specified
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import DryRuns, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import connected_once
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank, pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def reconcile_once(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> ClusterResult:
    """Reconcile a Druid resource: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return _finalize(api, resource, options)
    return _reconcile(api, resource, options, now)


def _finalize(api: KubernetesApi, resource: Manifest, options: Options) -> ClusterResult:
    """Finalize a terminating resource. Its spec is ignored, since it may be invalid."""
    cluster = Cluster.from_resource({**resource, "spec": {}})
    deletion = deletion_of(api, cluster, is_plan=options.check_mode, waits=not options.keep_finalizer)
    with options.phases("observe"):
        refused = refusals(DryRuns(api, cluster.namespace), planned_finalization(api, cluster, resource))
        steps, observed = finalize(deletion, resource)
    result = ClusterResult(resource, cluster, observed, Plan((), (_deleting(()), *refused)))
    if refused:
        return result
    result = result if options.check_mode else _acted(result, steps, Context(api), options)
    planned = tuple(steps) if options.check_mode else tuple(step_result.step for step_result in result.results)
    return replace(
        result, plan=Plan(planned, (*deletion.problems, _deleting(deletion.running)), tuple(deletion.warnings))
    )


def _deleting(running: Iterable[str]) -> Finding:
    waits = f" Its PVCs are deleted when these pods are terminating: {join_limited(running)}." if running else ""
    return Finding(reasons.DELETING, f"The resource is being deleted.{waits}", is_problem=False, rank=Rank.DELETING)


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> ClusterResult:
    with options.phases("observe"):
        inputs = observe(api, resource, options, now)
    with options.phases("decide"):
        plan, draft = decide(inputs)
    result = ClusterResult(resource, inputs.cluster, inputs.observed, plan)
    if draft is not None:
        stored = stored_replicas(draft.verdicts)
        result = replace(result, observed=draft.inputs.observed, inputs=draft.inputs, stored_replicas=stored)
    if inputs.schema_errors:
        return result
    paused = pause_finding(result.cluster.annotations, result.cluster.spec)
    is_plan = options.check_mode or paused is not None
    if not is_plan:
        with connected_once(partial(_connected, inputs.reads, result, options)) as druid:
            result = _acted(result, plan.steps, Context(api, druid), options)
    # after the writes in Kubernetes: no repair waits for Druid
    with connected_once(partial(_connected, inputs.reads, result, options)) as druid:
        result = _in_druid(result, Context(api, druid), options, is_plan=is_plan)
    # Messages must not contain the values of the Secrets that were read.
    observed = replace(result.observed, references={**result.observed.references, **inputs.reads.read_secrets()})
    return replace(result, observed=observed, plan=result.plan if paused is None else result.plan.paused(paused))


def _connected(reads: Reads, result: ClusterResult, options: Options, purpose: str) -> AbstractContextManager[Any]:
    # The import of the HTTP client is slow, and most reconciles need nothing of Druid.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_connection import connected

    return connected(reads, result, options, purpose)


def _in_druid(result: ClusterResult, context: Context, options: Options, *, is_plan: bool) -> ClusterResult:
    """Return the reconcile with what follows in Druid, unless the cluster is blocked or stopped."""
    is_blocked = any(finding.is_problem and finding.group is None for finding in result.plan.findings)
    if result.inputs is None or is_blocked or result.cluster.stopped:
        return result
    desired = specified(result.cluster)
    for feature in FEATURES:
        desired = feature.desired_in_druid(desired, result.inputs)
    for feature in FEATURES:
        with options.phases("decide"):
            planned = feature.in_druid(result, desired, result.inputs.reads)
        plan = result.plan
        texts = tuple(dict.fromkeys((*plan.warnings, *planned.warnings)))
        result = replace(result, plan=replace(plan, findings=(*plan.findings, *planned.findings), warnings=texts))
        if is_plan:
            result = replace(result, plan=replace(result.plan, steps=(*result.plan.steps, *planned.steps)))
        elif planned.steps:
            result = _acted(result, planned.steps, context, options)
    return result


def _acted(result: ClusterResult, steps: Iterable[Step], context: Context, options: Options) -> ClusterResult:
    """Carry out the steps; return the reconcile with their results, and the live state updated from these."""
    with options.phases("act"):
        results = execute(steps, replace(context, announce=options.announce))
    observed, warnings = result.observed, dict.fromkeys(result.plan.warnings)
    for step_result in results:
        if step_result.is_done:
            observed = step_result.step.observed_after(observed, step_result.live)
            warnings |= dict.fromkeys(step_result.warnings)
    plan = replace(result.plan, warnings=tuple(warnings))
    return replace(result, results=(*result.results, *results), observed=observed, plan=plan)
