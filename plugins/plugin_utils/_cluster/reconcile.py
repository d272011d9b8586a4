# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reconcile: observe, decide, act, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import dynamic_config
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.groups import with_names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.refusals import refusals
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.sequence import (
    deletion_of,
    finalize,
    planned_finalization,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import observe
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding, pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import (
    Context,
    Result,
    execute,
    without_druid,
)
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
        refused = refusals(api, planned_finalization(api, cluster, resource))
        steps, observed = finalize(deletion, resource)
    if refused:
        return Reconciled(resource, cluster, observed, Plan((), (_deleting(()), *refused)))
    results = () if options.check_mode else _act(api, steps, options)
    planned = tuple(steps) if options.check_mode else tuple(result.step for result in results)
    plan = Plan(planned, (_deleting(deletion.running),), tuple(deletion.warnings))
    return _with_written(Reconciled(resource, cluster, observed, plan, results))


def _deleting(running: Iterable[str]) -> Finding:
    waits = f" Its PVCs are deleted when these pods are terminating: {join_limited(running)}." if running else ""
    return Finding(reasons.DELETING, f"The resource is being deleted.{waits}", is_problem=False)


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Reconciled:
    with options.phases("observe"):
        inputs = observe(api, resource, options, now)
    with options.phases("decide"):
        plan, live = decide(inputs)
    secrets = inputs.reads.secrets
    done = Reconciled(resource, inputs.cluster, replace(live, references={**live.references, **secrets}), plan)
    if inputs.schema_errors:
        return done
    paused = pause_finding(done.cluster.annotations, done.cluster.spec)
    if paused is not None:
        done = _dynamic_config(api, done, options, read_only=True)
        return replace(done, plan=done.plan.paused(paused))
    if options.check_mode:
        return _dynamic_config(api, done, options, read_only=True)
    done = _with_written(replace(done, results=_act(api, plan.steps, options, done)))
    return _dynamic_config(api, done, options, read_only=False)


def _act(
    api: KubernetesApi, steps: Iterable[Step], options: Options, planned: Reconciled | None = None
) -> tuple[Result[Step], ...]:
    to_druid = without_druid if planned is None else partial(_to_druid, api, planned, options)
    with options.phases("act"):
        return execute(steps, Context(api, to_druid, options.announce))


def _to_druid(
    api: KubernetesApi, planned: Reconciled, options: Options, purpose: str, write: Callable[[Any], Finding | None]
) -> Finding | None:
    # The import of the HTTP client is slow, and most plans write nothing in Druid.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_calls import write_to_druid

    return write_to_druid(api, planned.resource, planned.cluster, planned.observed, options, purpose, write)


def _dynamic_config(api: KubernetesApi, done: Reconciled, options: Options, *, read_only: bool) -> Reconciled:
    """Reconcile the dynamic configurations, unless the whole cluster is blocked or stopped."""
    is_blocked = any(finding.is_problem and finding.group is None for finding in done.plan.findings)
    if is_blocked or done.cluster.stopped:
        return done
    due = dynamic_config.due(done.cluster, done.observed)
    if done.plan.decommission is not None:
        due = with_names(due, done.plan.decommission.ours)
    findings, warnings = (*done.plan.findings, *due.findings), (*done.plan.warnings, *due.warnings)
    done = replace(done, plan=replace(done.plan, findings=findings, warnings=warnings))
    if not due.configs:
        return done
    # The import of the HTTP client is slow, and most clusters have no dynamicConfig.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dynamic_config import configure

    return configure(api, done, due.configs, options, read_only=read_only)


def _with_written(done: Reconciled) -> Reconciled:
    """Return the reconcile with the live state updated from the results of the writes."""
    observed = done.observed
    for result in done.results:
        if result.is_done:
            observed = result.step.observed_after(observed, result.live)
    return replace(done, observed=observed)
