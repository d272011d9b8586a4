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
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import DryRuns, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import connected_once
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding, Rank, pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def reconcile_once(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Reconciled:
    """Reconcile a Druid resource: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return _finalize(api, resource, options)
    return _reconcile(api, resource, options, now)


def _finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Finalize a terminating resource. Its spec is ignored, since it may be invalid."""
    cluster = Cluster.from_resource({**resource, "spec": {}})
    deletion = deletion_of(api, cluster, is_plan=options.check_mode, waits=not options.keep_finalizer)
    with options.phases("observe"):
        refused = refusals(DryRuns(api, cluster.namespace), planned_finalization(api, cluster, resource))
        steps, observed = finalize(deletion, resource)
    done = Reconciled(resource, cluster, observed, Plan((), (_deleting(()), *refused)))
    if refused:
        return done
    done = done if options.check_mode else _acted(done, steps, Context(api), options)
    planned = tuple(steps) if options.check_mode else tuple(result.step for result in done.results)
    return replace(done, plan=Plan(planned, (_deleting(deletion.running),), tuple(deletion.warnings)))


def _deleting(running: Iterable[str]) -> Finding:
    waits = f" Its PVCs are deleted when these pods are terminating: {join_limited(running)}." if running else ""
    return Finding(reasons.DELETING, f"The resource is being deleted.{waits}", is_problem=False, rank=Rank.DELETING)


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Reconciled:
    with options.phases("observe"):
        inputs = observe(api, resource, options, now)
    with options.phases("decide"):
        plan, draft = decide(inputs)
    secrets = inputs.reads.secrets
    done = Reconciled(resource, inputs.cluster, inputs.observed, plan)
    if draft is not None:
        stored = stored_replicas(draft.verdicts)
        done = replace(done, observed=draft.inputs.observed, inputs=draft.inputs, stored_replicas=stored)
    if inputs.schema_errors:
        return done
    paused = pause_finding(done.cluster.annotations, done.cluster.spec)
    is_plan = options.check_mode or paused is not None
    if not is_plan:
        with connected_once(partial(_connected, api, done, options, secrets)) as druid:
            done = _acted(done, plan.steps, Context(api, druid), options)
    # after the writes in Kubernetes: no repair waits for Druid
    with connected_once(partial(_connected, api, done, options, secrets)) as druid:
        done = _in_druid(done, Context(api, druid), options, is_plan=is_plan)
    # Messages must not contain the values of the Secrets that were read.
    observed = replace(done.observed, references={**done.observed.references, **inputs.reads.read_secrets()})
    return replace(done, observed=observed, plan=done.plan if paused is None else done.plan.paused(paused))


def _connected(
    api: KubernetesApi, done: Reconciled, options: Options, secrets: dict[ReferenceKey, Manifest | None], purpose: str
) -> AbstractContextManager[Any]:
    # The import of the HTTP client is slow, and most reconciles need nothing of Druid.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import connected

    return connected(api, done, options, secrets, purpose)


def _in_druid(done: Reconciled, context: Context, options: Options, *, is_plan: bool) -> Reconciled:
    """Return the reconcile with what follows in Druid, unless the cluster is blocked or stopped."""
    is_blocked = any(finding.is_problem and finding.group is None for finding in done.plan.findings)
    if done.inputs is None or is_blocked or done.cluster.stopped:
        return done
    desired = specified(done.cluster)
    for feature in FEATURES:
        desired = feature.desired_in_druid(desired, done.inputs)
    for feature in FEATURES:
        with options.phases("decide"):
            found = feature.in_druid(done, desired, context.druid)
        plan = done.plan
        texts = tuple(dict.fromkeys((*plan.warnings, *found.warnings)))
        done = replace(done, plan=replace(plan, findings=(*plan.findings, *found.findings), warnings=texts))
        if is_plan:
            done = replace(done, plan=replace(done.plan, steps=(*done.plan.steps, *found.steps)))
        elif found.steps:
            done = _acted(done, found.steps, context, options)
    return done


def _acted(done: Reconciled, steps: Iterable[Step], context: Context, options: Options) -> Reconciled:
    """Carry out the steps; return the reconcile with their results, and the live state updated from these."""
    with options.phases("act"):
        results = execute(steps, replace(context, announce=options.announce))
    observed, warnings = done.observed, dict.fromkeys(done.plan.warnings)
    for result in results:
        if result.is_done:
            observed = result.step.observed_after(observed, result.live)
            warnings |= dict.fromkeys(result.warnings)
    plan = replace(done.plan, warnings=tuple(warnings))
    return replace(done, results=(*done.results, *results), observed=observed, plan=plan)
