# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate of a rollout: one group restarts at a time, and pods stay until those that replace them are available.

Only what restarts pods waits, with the ConfigMap and the Services that belong to the new pods. Everything else of a
group is written: missing objects, replicas, metadata, PodDisruptionBudget, HorizontalPodAutoscaler, Ingress and PVCs.

A controller replaces the pods of a changed template one by one. A pod that has to be evicted waits until all pods are
available, whichever group they belong to, and for PodDisruptionBudgets, also of others. Other groups do not wait for
those. A removed workload waits, too, with everything else of its group: the group may be one of the others under its
earlier name, and a group can change its kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import NOTHING, Waits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import (
    OPEN,
    druid_gate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import exhausted_budgets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import (
    GroupState,
    group_states,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.restart_order import (
    behind_blocked,
    order_warnings,
    rollout_order,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS

# Objects that the new pods of a group depend on.
_OF_NEW_PODS = ("ConfigMap", "Service", *WORKLOADS)


@dataclass(frozen=True)
class Gated:
    """The steps of this reconcile, those of later ones in the order of the restarts, and warnings.

    `waits`: see the plan.
    """

    steps: tuple[Step, ...]
    later: tuple[Step, ...] = ()
    warnings: tuple[str, ...] = ()
    waits: Waits = NOTHING


def gate(steps: Sequence[Step], inputs: Inputs, blocked: Sequence[Step] = ()) -> Gated:
    """Return what is written now, and what is pending until the pods of other groups are available, and Druid is well.

    `blocked` are the restarts of blocked groups. Druid is asked if the pods are available and the next group is about
    to restart.
    """
    restarts = {step.group or "": step for step in steps if step.restart.pods}
    order = rollout_order(inputs.cluster, (*restarts.values(), *blocked))
    current = group_states(inputs.cluster, inputs.observed, as_it_is=True)
    states = {state.key: _without_stuck_controller(state, restarts.get(state.key)) for state in current}
    created = {step.group for step in steps if step.live is None and step.key.kind in WORKLOADS}
    rolls = bool(inputs.cluster.spec.get("rollingDeploy"))
    behind = behind_blocked(order.groups, blocked, restarts, states, inputs.cluster.annotations)
    possible = {
        key: step for key, step in restarts.items() if not (step.restart.eviction and step.restart.eviction.budgets)
    }
    possible = {key: step for key, step in possible.items() if key not in behind}
    allowed = _allowed(order.groups, possible, states, created) if rolls else possible.keys()
    allowed = {key for key in allowed if _is_due(possible[key], states[key])}
    druid = OPEN
    if rolls and _is_next(order.groups, possible, states, created, allowed):
        druid = druid_gate(inputs, allowed, is_last=len(restarts) == 1)
        allowed = set() if druid.not_recovered else allowed
    held = frozenset(step.key for step in steps if _is_held(step, restarts.keys() - allowed))
    removals = _pending_removals(steps, inputs.cluster, states, created, bool(possible))
    position = {key: number for number, key in enumerate(order.groups)}
    later = [step for step in steps if step.key in held | removals]
    refused = tuple(exhausted_budgets(restarts.values(), inputs))
    return Gated(
        tuple(_in_order(_now(steps, held, removals), () if rolls else order.groups, restarts, inputs)),
        tuple(sorted(later, key=lambda step: position.get(step.group or "", len(position)))),
        (
            *(order.warnings if rolls and len(restarts) > 1 else ()),
            *order_warnings(behind, blocked),
            *refused,
            *druid.warnings,
        ),
        Waits(druid.not_recovered, druid.before, refused),
    )


def _is_next(
    order: Sequence[str],
    restarts: Mapping[str, Step],
    states: Mapping[str, GroupState],
    created: Collection[str | None],
    allowed: Collection[str],
) -> bool:
    """True if all pods are available, so that the first pods of the next group may restart."""
    begins = (key for key in allowed if not ((eviction := restarts[key].restart.eviction) and eviction.has_begun))
    return any(begins) and all(states[key].is_complete and key not in created for key in order)


def _without_stuck_controller(state: GroupState, step: Step | None) -> GroupState:
    """Return the state as complete if the controller replaces no pod, and all pods that it has created are ready.

    Such a group waits for its turn, or for its PodDisruptionBudget, and others do not wait for it.
    """
    eviction = step.restart.eviction if step is not None else None
    if eviction is None or not eviction.is_ready:
        return state
    return replace(state, desired=state.ready, is_settled=True, is_available=True)


def _allowed(
    order: Sequence[str],
    restarts: Mapping[str, Step],
    states: Mapping[str, GroupState],
    created: Collection[str | None],
) -> Collection[str]:
    """Return the groups that may restart now; `created` are those whose workload is missing.

    While all groups are available, that is the one whose pods are being evicted, or the first one in order. Otherwise
    only those that are not: all without a ready pod, and one with ready pods.
    """
    unavailable = [key for key in order if not states[key].is_complete or key in created]
    if not unavailable:
        waiting = [key for key in order if key in restarts]
        return [
            *(key for key in waiting if (eviction := restarts[key].restart.eviction) and eviction.has_begun),
            *waiting,
        ][:1]
    down = [key for key in unavailable if key in restarts and states[key].is_down]
    working = [key for key in unavailable if key not in down and (key in restarts or states[key].is_rolling)]
    first = sorted(working, key=lambda key: _precedence(states[key], restarts.get(key)))[:1]
    return {key for key in restarts if key in (*down, *first)}


def _precedence(state: GroupState, step: Step | None) -> tuple[int, bool, bool]:
    """Return which group with ready pods may restart while pods are not available, the lowest value first.

    That is a fix in the middle of a rollout; then none as long as pods are being replaced; then a repair; then none as
    long as workers are drained.
    """
    is_due = step is not None and _is_due(step, state)
    if (state.is_rolling and not state.is_held) or (step and step.restart.eviction):
        rank = 0
    elif is_due and state.cause is not None:
        rank = 1
    else:
        rank = 2 if state.is_held else 3
    return rank, not is_due, state.cause is None


def _is_due(step: Step, state: GroupState) -> bool:
    """True unless a pod would be evicted while another one of its group is not available or is being replaced."""
    eviction = step.restart.eviction
    if eviction is None:
        return True
    return state.is_complete if eviction.is_ready is None else eviction.is_ready


def _is_held(step: Step, held: Collection[str]) -> bool:
    """True for a step that belongs to the restart of a group that waits."""
    if step.restart.eviction is not None:
        return step.group in held
    return step.group in held and step.live is not None and not step.deletes and step.key.kind in _OF_NEW_PODS


def _in_order(steps: Iterable[Step], order: Sequence[str], restarts: Collection[str], inputs: Inputs) -> Iterator[Step]:
    """Yield the steps. Groups that restart at the same time are written in order, and none after one that fails."""
    unordered = [*steps]
    restarting = [key for key in order if key in restarts]
    ordered = sorted(
        (step for step in unordered if _is_held(step, restarting)), key=lambda step: restarting.index(step.group or "")
    )
    if inputs.cluster.annotations.get(names.RESTART_OUT_OF_ORDER_ANNOTATION) != "true":
        earlier = {key: frozenset(restarting[:number]) for number, key in enumerate(restarting)}
        ordered = [replace(step, follows=earlier[step.group or ""]) for step in ordered]
    for step in unordered:
        yield ordered.pop(0) if _is_held(step, restarting) else step


def _now(steps: Sequence[Step], held: Collection[object], removals: Collection[object]) -> Iterator[Step]:
    for step in steps:
        if step.key in removals:
            continue
        if step.key not in held:
            yield step
        elif (rest := step.without_restart()) is not None:
            yield rest


def _pending_removals(
    steps: Sequence[Step],
    cluster: Cluster,
    states: Mapping[str, GroupState],
    created: Collection[str | None],
    is_rolling: bool,
) -> frozenset[ObjectKey]:
    """Return the objects whose removal is pending.

    `created`: the groups whose workload is created; `is_rolling`: groups restart now or later.
    """
    if cluster.annotations.get(names.REMOVE_IMMEDIATELY_ANNOTATION) == "true":
        return frozenset()
    is_changing = is_rolling or bool(created) or not all(state.is_complete for state in states.values())
    of_groups = _of_removed_groups(steps) if is_changing else ()
    replaced = (step for step in steps if step.group in states and step.deletes and _runs(step))
    of_kinds = (step for step in replaced if step.group in created or not states[step.group or ""].is_complete)
    return frozenset(step.key for step in (*of_groups, *of_kinds))


def _of_removed_groups(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that remove groups, unless none of them has pods."""
    removals = [step for step in steps if step.is_removal]
    return removals if any(_runs(step) for step in removals) else []


def _runs(step: Step) -> bool:
    return step.key.kind in WORKLOADS and step.live is not None and replicas(step.live) > 0
