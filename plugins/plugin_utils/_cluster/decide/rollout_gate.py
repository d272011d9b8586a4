# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate of a rollout: one group restarts at a time, and a removed group stays until the others are available.

Only what restarts pods waits, with the ConfigMap and the Services that belong to the new pods. Everything else of a
group is written: missing objects, replicas, metadata, PodDisruptionBudget, HorizontalPodAutoscaler, Ingress and PVCs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.live_template import without_restart
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.readiness import (
    GroupState,
    group_states,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout_order import rollout_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS

# Objects that the new pods of a group depend on.
_OF_NEW_PODS = ("ConfigMap", "Service", *WORKLOADS)


@dataclass(frozen=True)
class Gated:
    """The steps of this reconcile, those of later ones in the order of the restarts, and warnings."""

    steps: tuple[Step, ...]
    later: tuple[Step, ...] = ()
    warnings: tuple[str, ...] = ()


def gate(steps: Sequence[Step], inputs: Inputs) -> Gated:
    """Return what is written now, and what is pending until the pods of other groups are available."""
    restarts = {step.group or "": step for step in steps if step.restarted_pods}
    order = rollout_order(inputs.cluster, restarts.values())
    states = {state.key: state for state in group_states(inputs.cluster, inputs.live, as_it_is=True)}
    rolls = bool(inputs.cluster.spec.get("rollingDeploy"))
    allowed = _allowed(order.groups, restarts, states) if rolls else restarts.keys()
    held = {step.key for step in steps if _is_held(step, restarts.keys() - allowed)}
    removals = (
        {step.key for step in steps if _removes(step)} if _waits_for_groups(steps, inputs, states, held) else set()
    )
    waiting = [step for step in steps if step.key in held | removals]
    position = {key: number for number, key in enumerate(order.groups)}
    return Gated(
        tuple(_now(steps, held, removals)),
        tuple(sorted(waiting, key=lambda step: position.get(step.group or "", len(position)))),
        order.warnings if rolls and len(restarts) > 1 else (),
    )


def _allowed(order: Sequence[str], restarts: Collection[str], states: Mapping[str, GroupState]) -> Collection[str]:
    """Return the groups that may restart now.

    While all groups are available, that is the first one in order. Otherwise only a group that is not: a change in the
    middle of its own rollout, or a repair.
    """
    unavailable = [key for key in order if not states[key].is_complete]
    if not unavailable:
        return [key for key in order if key in restarts][:1]
    broken = {key for key in unavailable if states[key].is_broken}
    current = next((key for key in unavailable if key not in broken), None)
    return {key for key in restarts if key in broken or key == current}


def _is_held(step: Step, held: Collection[str]) -> bool:
    """True for a step that belongs to the restart of a group that waits."""
    return step.group in held and step.operation in ("update", "recreate") and step.key.kind in _OF_NEW_PODS


def _now(steps: Sequence[Step], held: Collection[object], removals: Collection[object]) -> Iterator[Step]:
    for step in steps:
        if step.key in removals:
            continue
        if step.key not in held:
            yield step
        elif (rest := without_restart(step)) is not None:
            yield rest


def _removes(step: Step) -> bool:
    return step.removes_group or step.prepares_removal


def _waits_for_groups(
    steps: Sequence[Step], inputs: Inputs, states: Mapping[str, GroupState], held: Collection[object]
) -> bool:
    """True if a removed group with pods has to stay: another one may replace it, and is not available yet."""
    if inputs.cluster.annotations.get(names.REMOVE_IMMEDIATELY_ANNOTATION) == "true":
        return False
    if not any(step.removes_group and _runs(step) for step in steps):
        return False
    is_changing = any(step.restarted_pods or _creates_pods(step) for step in steps)
    return bool(held) or is_changing or not all(state.is_complete for state in states.values())


def _runs(step: Step) -> bool:
    return step.key.kind in WORKLOADS and step.live is not None and replicas(step.live) > 0


def _creates_pods(step: Step) -> bool:
    return step.operation == "create" and step.key.kind in WORKLOADS
