# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deletion of a cluster (state: absent): its own objects are deleted, step by step, its PVCs are announced first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import deletes_claims, is_set
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import Deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import DryRuns, read_cluster, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
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

Announce = Callable[[Step], None]


def delete_resource(
    kind: Kind[Options, ClusterResult, Plan],
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
    deletion = deletion_of(api, _without_spec(resource))
    results = execute(_until_resource(deletion, resource), Context(api, announce=announce))
    found = (*failures(results, with_skipped=True), *deletion.problems)
    if found:
        done = tuple(result.step for result in results if result.is_done)
        return replace(outcome, plan=replace(plan, steps=done, findings=found), changed=bool(done))
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
    deletion.problems.clear()
    results = execute(deletion.of_variables(delete_claims), Context(api, announce=announce))
    remains = tuple(map(with_finalizers, _remaining(deletion, delete_claims)))
    plan = _with_steps(outcome.plan, (result.step for result in results if result.is_done))
    plan = replace(plan, findings=(*failures(results, with_skipped=True), *dict.fromkeys(deletion.problems)))
    changed = outcome.changed or any(result.is_done for result in results)
    warnings = tuple(dict.fromkeys((*outcome.warnings, *deletion.warnings)))
    return replace(outcome, plan=plan, changed=changed, warnings=warnings, remains=remains)


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


def deletion_of(api: KubernetesApi, cluster: Cluster, *, is_plan: bool = False, waits: bool = False) -> Deletion:
    """Return the deletion of a cluster, which reads between the steps."""
    return Deletion(cluster, DeletionReads(api, cluster), is_plan, waits)


def finalize(deletion: Deletion, resource: Manifest) -> tuple[Iterator[Step], Observed]:
    """Return the remaining steps for a terminating resource, and the live objects."""
    cluster, reads = deletion.cluster, deletion.reads
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.remove_finalizer(resource),) if finalizer.is_set(resource) else ()), Observed()
    observed = reads.labelled()
    return deletion.of_resource(resource, reads.with_all_claims(observed)), observed


def planned_finalization(api: KubernetesApi, cluster: Cluster, resource: Manifest) -> tuple[Step, ...]:
    """Return the steps for a terminating resource, as far as they are known before the first one is carried out."""
    steps, _observed = finalize(deletion_of(api, cluster, is_plan=True), resource)
    return tuple(steps)


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return the deletion of a resource: itself, its workloads, and the PVCs that its finalizer deletes."""
    deletion = deletion_of(api, _without_spec(resource), is_plan=True)
    steps = tuple(_removal(deletion, resource))
    return Plan(steps, warnings=tuple(deletion.warnings))


def _removal(deletion: Deletion, resource: Manifest) -> Iterator[Step]:
    """Yield the deletion of a resource; reads the live objects."""
    if len(deletion.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.DeleteResource(live=resource),))
    return deletion.with_resource(resource, deletion.reads.with_all_claims(deletion.reads.labelled()))


def _until_resource(deletion: Deletion, resource: Manifest) -> Iterator[Step]:
    """Yield the steps up to the deletion of the resource; its finalizer does the others.

    The resource may be deleted at once: so first delete objects that it does not own, and disown retained PVCs.
    """
    for step in _removal(deletion, resource):
        yield step
        if step.is_last:
            return


def _without_spec(resource: Manifest) -> Cluster:
    """Return the cluster of a resource whose spec may be invalid."""
    return Cluster.from_resource({**resource, "spec": {}})


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of a cluster without a resource; PVCs only if the spec is set, and does not retain them."""
    deletion = deletion_of(api, cluster, is_plan=True)
    steps = tuple(deletion.of_variables(delete_claims))
    return Plan(steps, warnings=tuple(deletion.warnings))


def workloads_without_resource(api: KubernetesApi, cluster: Cluster) -> list[Manifest]:
    """Return the live workloads of the cluster that no resource owns; none where they cannot be listed."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    try:
        found = [live for kind in WORKLOADS for live in api.list_objects(kind, cluster.namespace, selector)]
    except ApiError:
        # This is only a hint: a missing permission or an invalid label value must not fail the deletion.
        return []
    return [live for live in found if is_ours(live, cluster) and not is_terminating(live)]


def _remaining(deletion: Deletion, delete_claims: bool) -> list[Manifest]:
    """Return the remaining objects of a cluster without a resource, including terminating ones, as far as known."""
    cluster, found = deletion.cluster, list[Manifest]()
    deletion.reads.forget()
    try:
        observed = read_cluster(deletion.reads, cluster)
        found += (live for live in observed.of_kind(*targets.PRUNED_KINDS) if is_ours(live, cluster))
        if delete_claims:
            found += targets.remaining_claims(cluster, deletion.reads.claims(deletion.owned), deletion.owned)
    except KubernetesError as error:
        deletion.problems.append(Finding(reasons.APPLY_FAILED, str(error)))
    return found


def refusals(reads: DryRuns, planned: Iterable[Step]) -> tuple[Finding, ...]:
    """Return why the API server rejects planned deletions, as a dry run of each of them shows."""
    verdicts = (reads.dry_run(step) for step in planned if step.deletes)
    found = (
        Finding(each.rejection.reason, f"{_cause(each.rejection)} Nothing of the cluster is deleted.{_way(each.step)}")
        for each in verdicts
        if each.rejection is not None
    )
    return tuple(dict.fromkeys(found))


def _cause(rejection: Finding) -> str:
    """Return the message without the consequence for a group that goes on."""
    return rejection.message.removesuffix(" No object of a removed group is deleted.")


def _way(step: Step) -> str:
    """Return how the cluster can be deleted without a PVC, which a policy may protect while pods use it."""
    way = " To delete the cluster and keep its PVCs, set disablePVCDeletionFinalizer: true."
    return way if step.deletes_claim else ""


class DeletionReads(DryRuns):
    """Reads of the namespace of a cluster. What was read before a step is read again after it."""

    def __init__(self, api: KubernetesApi, cluster: Cluster) -> None:
        super().__init__(api, cluster.namespace)
        self._cluster = cluster

    def labelled(self) -> Observed:
        """Return the objects with the label of the cluster, including ReplicaSets."""
        return read_cluster(self, self._cluster).with_objects(replica_sets(self, self._cluster))

    def with_all_claims(self, observed: Observed) -> Observed:
        """Return the same with all PVCs of the namespace: a StatefulSet may own some that do not have our labels."""
        return observed.with_objects(self._of_kinds(CLAIM).objects.values())

    def claims(self, owned: Collection[str]) -> Observed:
        """Return all PVCs of the namespace; if the cluster has any, also all pods and workloads, which may use them.

        Those of the cluster may not have its labels: users can remove them.
        """
        claims = self._of_kinds(CLAIM)
        has_claims = bool(targets.remaining_claims(self._cluster, claims, owned))
        return claims.with_objects(self.users().objects.values()) if has_claims else claims

    def pods(self) -> Observed:
        """Return the pods with the labels of the cluster: few of the namespace's."""
        return self._of_kinds("Pod", selector=f"{names.CLUSTER_LABEL}={self._cluster.name}")

    def users(self) -> Observed:
        """Return all pods and workloads of the namespace: those of other owners may not have our labels."""
        return self._of_kinds("Pod", *WORKLOADS)

    def pause(self, seconds: float) -> None:
        """Leave controllers some time."""
        self._api.sleep(seconds)

    def _of_kinds(self, *kinds: str, selector: str = "") -> Observed:
        found = (live for kind in kinds for live in self.list_objects(kind, selector))
        return Observed().with_objects(found)
