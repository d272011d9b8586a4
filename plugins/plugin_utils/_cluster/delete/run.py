# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletion of a cluster (state: absent): its own objects are deleted, its PVCs are announced first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import deletes_claims, is_set
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import Deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.refusals import refusals
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.sequence import (
    deletion_of,
    release_before_removal,
    remaining,
    resource_removal,
    variable_removal,
    workloads_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import DryRuns
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconciled import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, execute, failures
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import InvalidResource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import (
    Outcome,
    Progress,
    until_deleted,
    until_nothing_remains,
    with_finalizers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_Found = TypeVar("_Found")
Announce = Callable[[Step], None]


def delete_resource(
    kind: Kind[Options, Reconciled, Plan],
    api: KubernetesApi,
    request: Request[Options],
    progress: Progress,
    clock: Clock,
) -> Outcome[Plan]:
    """Delete the resource and run its finalizer, as the operator does; with `wait` until it is deleted."""
    try:
        resource = api.get(names.KIND, request.namespace, request.name)
    except ApiError as error:
        if not error.is_missing_kind:
            raise
        # A cluster without a resource can exist without the CRD.
        raise KubernetesError(" ".join((str(error), *_defined_by_variables(api, request)))) from error
    if resource is None:
        return Outcome(Plan(), warnings=_defined_by_variables(api, request))
    request = replace(request, options=replace(request.options, announce=_announce_claims(progress)))
    if is_terminating(resource):
        return until_deleted(kind, api, request, resource, Outcome(Plan()), progress, clock, _with_new_steps)
    plan = resource_removal(api, resource)
    outcome = Outcome(plan, changed=True, warnings=plan.warnings)
    if refused := refusals(DryRuns(api, request.namespace), _of_task(resource, plan)):
        return replace(outcome, plan=replace(plan, steps=(), findings=refused), changed=False)
    if request.options.check_mode:
        return outcome
    announce = request.options.announce
    _announce_all(plan, announce)
    # The resource may be deleted at once: so first delete objects that it does not own, and disown retained PVCs.
    results = execute(release_before_removal(api, resource), Context(api, announce=announce))
    found = failures(results, with_skipped=True)
    if found:
        done = tuple(result.step for result in results if result.is_done)
        return replace(outcome, plan=replace(plan, steps=done, findings=found), changed=bool(done))
    api.delete(names.KIND, request.namespace, request.name, resource["metadata"]["uid"])
    return until_deleted(kind, api, request, resource, outcome, progress, clock, _with_new_steps)


def _of_task(resource: Manifest, plan: Plan) -> Iterator[Step]:
    """Yield the steps of the task and of the finalizer: if PVCs stay, Kubernetes deletes the owned objects."""
    has_to_finalize = is_set(resource) and deletes_claims(resource.get("spec"))
    for step in plan.steps:
        yield step
        if step.key.kind == names.KIND and not has_to_finalize:
            return


def _defined_by_variables(api: KubernetesApi, request: Request[Options]) -> tuple[str, ...]:
    """Return a warning if a cluster of this name without a resource exists."""
    left = workloads_without_resource(api, _named(request))
    if not left:
        return ()
    objects = join_limited(str(key_of(live)) for live in left)
    return (
        f"There is no Druid {request.name} in namespace {request.namespace}, and nothing was deleted. Workloads of a "
        f"cluster {request.name} without a resource exist: {objects}. To delete that cluster, set without_resource to "
        "true (in the role: druid_cluster_without_resource), or set its spec.",
    )


def _named(request: Request[Options]) -> Cluster:
    """Return a cluster of which only the name is known."""
    return Cluster.from_resource({"metadata": {"name": request.name, "namespace": request.namespace}})


def _with_new_steps(outcome: Outcome[Plan], report: Report[Plan]) -> Outcome[Plan]:
    """Return the outcome after one more reconcile: the plan has the steps of the deletion already."""
    return replace(outcome.after(report), plan=_with_steps(outcome.plan, report.plan.steps))


def delete_without_resource(
    api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
) -> Outcome[Plan]:
    """Delete a cluster that has no resource; with `wait` until all of its objects are deleted."""
    _refuse_a_resource(api, request)
    cluster = _named(request)
    delete_claims = request.spec is not None and deletes_claims(request.spec)
    plan = variable_removal(api, cluster, delete_claims)
    if refused := refusals(DryRuns(api, request.namespace), plan.steps):
        return Outcome(replace(plan, steps=(), findings=refused), warnings=plan.warnings)
    announce = _announce_claims(progress)
    _announce_all(plan, announce)
    if request.options.check_mode:
        return Outcome(plan, changed=plan.changes, warnings=plan.warnings)

    deletion = deletion_of(api, cluster, waits=True)

    def attempt(last: Outcome[Plan]) -> Outcome[Plan]:
        return _delete_everything(api, deletion, delete_claims, last, announce)

    outcome = Outcome(plan, warnings=plan.warnings)
    return until_nothing_remains(_is_complete, attempt, outcome, request, progress, clock)


def _is_complete(outcome: Outcome[Plan]) -> bool:
    return not (outcome.remains or outcome.plan.findings)


def _refuse_a_resource(api: KubernetesApi, request: Request[Options]) -> None:
    """InvalidResource if the cluster has a resource: the PVCs of both kinds look alike."""
    try:
        resource = api.get(names.KIND, request.namespace, request.name)
    except ApiError as error:
        if not error.is_missing_kind:
            raise
        return
    if resource is not None:
        raise InvalidResource(
            f"Druid {request.name} exists in namespace {request.namespace}: that cluster has a resource, and nothing "
            "was deleted. To delete it with its resource, omit spec and without_resource."
        )


def _delete_everything(
    api: KubernetesApi, deletion: Deletion, delete_claims: bool, outcome: Outcome[Plan], announce: Announce
) -> Outcome[Plan]:
    """Return the outcome after an attempt to delete everything, with the remaining objects.

    Errors are recorded as findings, so that completed steps are still reported.
    """
    errors: list[str] = []
    results = execute(_until_error(deletion.of_variables(delete_claims), errors), Context(api, announce=announce))
    remains = tuple(map(with_finalizers, _until_error(remaining(deletion, delete_claims), errors)))
    unknown = (Finding(reasons.APPLY_FAILED, error) for error in dict.fromkeys(errors))
    plan = _with_steps(outcome.plan, (result.step for result in results if result.is_done))
    plan = replace(plan, findings=(*failures(results, with_skipped=True), *unknown))
    changed = outcome.changed or any(result.is_done for result in results)
    warnings = tuple(dict.fromkeys((*outcome.warnings, *deletion.warnings)))
    return replace(outcome, plan=plan, changed=changed, warnings=warnings, remains=remains)


def _until_error(found: Iterator[_Found], errors: list[str]) -> Iterator[_Found]:
    try:
        yield from found
    except KubernetesError as error:
        errors.append(str(error))


def _with_steps(plan: Plan, steps: Iterable[Step]) -> Plan:
    """Return the plan with additional steps, such as PVCs that were created in the meantime."""
    known = {step.key for step in plan.steps}
    more = {step.key: step for step in steps if step.key not in known}
    return replace(plan, steps=(*plan.steps, *more.values()))


def _announce_claims(progress: Progress) -> Announce:
    """Return a function that announces each PVC once, before its deletion."""
    announced: set[ObjectKey] = set()

    def announce(step: Step) -> None:
        if step.deletes_claim and step.key not in announced:
            announced.add(step.key)
            progress(f"Deletes PVC {step.key.name} and the data in its volume.")

    return announce


def _announce_all(plan: Plan, announce: Announce) -> None:
    for step in plan.steps:
        announce(step)
