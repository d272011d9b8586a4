# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that the controller of their StatefulSet never replaces: evicted or deleted, one at a time, as budgets allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    LASTING_SECONDS,
    MIN_RESTARTS,
    is_failing,
    is_unschedulable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import (
    NO_RESTART,
    Eviction,
    Restart,
    Step,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    REVISION_LABEL,
    first_ordinal,
    missing_volumes,
    ordinal_of,
    pods_to_keep,
    replicas,
    subdomain,
    updated_ordinals,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
    selector_matches,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Operation, StepResult
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_READY = ("Ready", "True")


@dataclass(frozen=True, kw_only=True)
class Evict(Delete):
    """The eviction of a pod, which has to be tried: a dry run shows nothing."""

    restart: Restart = NO_RESTART

    @property
    def operation(self) -> Operation:
        return super().operation._replace(verb="evict")

    @property
    def verdicts(self) -> None:
        return None

    def carry_out(self, context: Context) -> StepResult[Step]:
        context.api.evict(self.namespace, self.key.name, self.live["metadata"]["uid"])
        return StepResult(self)


def evictions(inputs: Inputs, others: Iterable[Step]) -> tuple[Evict, ...]:
    """Return the eviction of the next pod of each group, unless one of the other steps replaces its pods."""
    replaced = {step.group for step in others if _replaces_pods(step)}
    groups = (group for group in inputs.cluster.groups if group.key not in replaced)
    outdated = ((group, outdated_pods(group, inputs.observed)) for group in groups)
    return tuple(_eviction(group, pods, inputs) for group, pods in outdated if pods)


def outdated_pods(group: Group, observed: Observed) -> list[Manifest]:
    """Return the pods that the controller never replaces, in the order of their eviction.

    It creates a pod only if those before it have their volumes: of those without, the lowest ordinal is the first one.
    """
    workload = observed.workload(group)
    pods = [*_replaceable(group, observed)]
    if workload is None or not pods:
        return []
    unmatched = [pod for pod in reversed(pods) if missing_volumes(pod, workload)]
    name = workload["spec"].get("serviceName") or ""
    return [*unmatched, *(pod for pod in pods if subdomain(pod) != name and pod not in unmatched)]


def is_stuck(group: Group, observed: Observed) -> bool:
    """True if the controller replaces no pod, since one does not have the volume of a claim template."""
    pods, workload = outdated_pods(group, observed), observed.workload(group)
    return workload is not None and bool(pods and missing_volumes(pods[0], workload))


def exhausted_budgets(steps: Iterable[Step], inputs: Inputs) -> Iterator[str]:
    """Yield a warning for each eviction that is not allowed, and will not be by itself."""
    for step in steps:
        eviction = step.restart.eviction
        if eviction is None or not eviction.budgets:
            continue
        known = _with_all_budgets(inputs).objects
        refusal = lasting_refusal(tuple(known[key] for key in eviction.budgets), inputs.now)
        if refusal is not None:
            cause, end = refusal
            yield (
                f"{cause}, so {step.restart.pods} of group {step.group} stay as they are ({eviction.cause}): "
                f"they restart when {end}, or when they are deleted"
            )


def _replaceable(group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods of a StatefulSet but those that stay as its update strategy requests, and terminating ones."""
    workload = observed.workload(group)
    if workload is None or workload["kind"] != "StatefulSet" or is_terminating(workload):
        return
    if waits_for_deletion(workload):
        return
    name = workload["metadata"]["name"]
    pods = {ordinal_of(pod, name): pod for pod in observed.pods_of(group) if not is_terminating(pod)}
    first, kept = first_ordinal(workload), pods_to_keep(workload, group.partition)
    ordinals = range(first + kept, first + replicas(workload))
    yield from (pods[number] for number in reversed(ordinals) if number in pods)


def _replaces_pods(step: Step) -> bool:
    return (step.recreates and step.key.kind in WORKLOADS) or step.key.kind == "Pod" or bool(step.restart.pods)


def _eviction(group: Group, pods: list[Manifest], inputs: Inputs) -> Evict:
    observed = inputs.observed
    workload = observed.workload(group) or {}
    missing = missing_volumes(pods[0], workload)
    cause = f"subdomain: {subdomain(pods[0])} -> {workload['spec'].get('serviceName') or '(none)'}"
    eviction = Eviction(
        key_of(workload),
        f"volumeClaimTemplates: {', '.join(missing)}" if missing else cause,
        tuple(map(key_of, blocking_budgets(pods[0], _with_all_budgets(inputs).of_kind(BUDGET)))),
        has_begun=len(pods) < len([*_replaceable(group, observed)]),
        is_ready=_are_others_ready(pods[0], workload, observed.pods_of(group), inputs.now) if missing else None,
    )
    return Evict(group=group.key, live=pods[0], restart=Restart(len(pods), eviction=eviction))


def _are_others_ready(first: Manifest, workload: Manifest, pods: Iterable[Manifest], now: datetime) -> bool:
    """True if all pods before the first one without a volume exist, and all that exist have been ready for long enough.

    The controller cannot create one after it: more replicas would wait forever.
    """
    name, seconds = workload["metadata"]["name"], workload["spec"].get("minReadySeconds") or 0
    by_ordinal = {ordinal: pod for pod in pods if (ordinal := ordinal_of(pod, name)) is not None}
    start = first_ordinal(workload)
    own = {ordinal: pod for ordinal, pod in by_ordinal.items() if start <= ordinal < start + replicas(workload)}
    has_earlier = own.keys() >= {*range(start, ordinal_of(first, name) or 0)}
    return has_earlier and all(_has_been_ready(pod, seconds, now) for pod in own.values())


def _has_been_ready(pod: Manifest, seconds: int, now: datetime) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    since = [
        condition.get("lastTransitionTime", "")
        for condition in conditions
        if (condition["type"], condition["status"]) == _READY
    ]
    return bool(since) and not is_terminating(pod) and (not seconds or seconds_since(since[0], now) >= seconds)


def _with_all_budgets(inputs: Inputs) -> Observed:
    """Return the live objects with the PodDisruptionBudgets of others: they may not allow an eviction."""
    return inputs.observed.with_objects(inputs.reads.list_objects(BUDGET))


BUDGET = "PodDisruptionBudget"
# Its controller counts the pods again a moment after an eviction, and when the new pod is ready.
_DELAY_SECONDS = 60


def blocking_budgets(pod: Manifest, budgets: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return those of the budgets of the namespace because of which the API server would not evict the pod now."""
    labels = pod["metadata"].get("labels") or {}
    selecting = [budget for budget in budgets if selector_matches(budget["spec"].get("selector"), labels)]
    blocking = selecting if len(selecting) > 1 else [each for each in selecting if not _allows(each)]
    return tuple(sorted(blocking, key=lambda each: str(each["metadata"]["name"])))


def lasting_refusal(budgets: tuple[Manifest, ...], now: datetime) -> tuple[str, str] | None:
    """Return why the budgets do not allow the eviction, and until when; None if they may do so in a moment."""
    if len(budgets) > 1:
        listed = join_limited([each["metadata"]["name"] for each in budgets])
        return (
            f"{BUDGET}s {listed} select the same pods, and Kubernetes evicts no pod that more than one selects",
            "only one selects them",
        )
    [budget] = budgets
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if not _is_observed(budget) or status.get("disruptedPods"):
        return None
    expected = status.get("expectedPods", 0)
    if expected and status.get("currentHealthy", 0) >= expected:
        return f"{BUDGET} {name} does not allow the eviction of any pod", "it allows it"
    allowed = _condition(status)
    since = str(allowed.get("lastTransitionTime") or "")
    if not since or seconds_since(since, now) < _DELAY_SECONDS:
        return None
    if not expected:
        return (
            f"{BUDGET} {name} has not counted its pods since {since}",
            f"it does, as after any change: {_recount(name)}",
        )
    cause = f" ({allowed.get('message')})" if allowed.get("reason") == "SyncFailed" else ""
    return f"{BUDGET} {name} has not allowed any eviction since {since}{cause}", "it allows it"


def _recount(name: str) -> str:
    """Return a command after which the controller counts the pods of a budget again.

    When a pod changes, it counts one of the budgets that select it, whichever that is (getPdbForPod). So a StatefulSet
    that is recreated while there are two can leave one of them with the pods that had no owner, even if the other one
    is deleted.
    """
    return f"kubectl annotate pdb {name} counted=again --overwrite"


def _allows(budget: Manifest) -> bool:
    return _is_observed(budget) and (budget.get("status") or {}).get("disruptionsAllowed", 0) > 0


def _is_observed(budget: Manifest) -> bool:
    """True if its controller has counted the pods for its current specification."""
    observed = (budget.get("status") or {}).get("observedGeneration", 0)
    return bool(observed >= budget["metadata"].get("generation", 0))


def _condition(status: Manifest) -> dict[str, Any]:
    conditions = (condition for condition in status.get("conditions") or () if condition["type"] == "DisruptionAllowed")
    return next((condition for condition in conditions if condition["status"] == "False"), {})


def failing_pods(inputs: Inputs) -> tuple[Delete, ...]:
    """Return the deletion of the first failing pod of each group that blocks the update of its group."""
    if not inputs.cluster.get("forceDeleteStsPodOnError"):
        return ()
    groups = (group for group in inputs.cluster.groups if not group.is_deployment)
    pods = ((group, next(_blocking(group, inputs.observed, inputs.now), None)) for group in groups)
    return tuple(Delete(group=group.key, live=pod) for group, pod in pods if pod is not None)


def _blocking(group: Group, observed: Observed, now: datetime) -> Iterator[Manifest]:
    workload = observed.workload(group)
    if workload is None or not (_is_ordered(workload) or is_stuck(group, observed)) or not _waits(workload):
        return
    name, revision = workload["metadata"]["name"], workload["status"]["updateRevision"]
    pods = ((ordinal_of(pod, name), pod) for pod in observed.pods_of(group) if not is_terminating(pod))
    ordered = sorted((each for each in pods if each[0] is not None), key=lambda each: each[0] or 0)
    failing = [(ordinal, pod) for ordinal, pod in ordered if _cannot_start(pod) and _has_been_tried(pod, now)]
    for ordinal, pod in failing:
        is_old = (pod["metadata"].get("labels") or {}).get(REVISION_LABEL) != revision
        if ordinal in updated_ordinals(workload) and is_old:
            yield pod
    end = first_ordinal(workload) + replicas(workload)
    surplus = [pod for ordinal, pod in failing if (ordinal or 0) >= end]
    if len(surplus) > 1:
        yield surplus[-1]


def _cannot_start(pod: Manifest) -> bool:
    return is_failing(pod) or is_unschedulable(pod)


def _has_been_tried(pod: Manifest, now: datetime) -> bool:
    """True if a start can no longer be expected: the first attempt can fail for a reason that passes."""
    status = pod.get("status") or {}
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    is_old = seconds_since(pod["metadata"].get("creationTimestamp") or "", now) >= LASTING_SECONDS
    return is_old or any(container.get("restartCount", 0) >= MIN_RESTARTS for container in containers)


def _is_ordered(workload: Manifest) -> bool:
    """True if the controller updates the pods one by one."""
    return bool(workload["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady")


def _waits(workload: Manifest) -> bool:
    """True if the controller updates the pods, and has observed the current spec."""
    spec, status = workload["spec"], workload.get("status") or {}
    rolls = (spec.get("updateStrategy") or {}).get("type", "RollingUpdate") == "RollingUpdate"
    is_observed = status.get("observedGeneration", 0) >= workload["metadata"]["generation"]
    return rolls and is_observed and bool(status.get("updateRevision"))
