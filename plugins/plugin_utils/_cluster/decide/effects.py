# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others do because of a step: pods that stop, PVCs that go or stay, Services whose names no longer resolve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import (
    deletes_scaled_pvcs,
    pods_above,
    pvcs_above,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Effect, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

CLAIM = "PersistentVolumeClaim"


def with_effects(steps: Sequence[Step], observed: Observed) -> tuple[Step, ...]:
    """Return the steps of a plan with their effects; `observed` is the live state before the plan."""
    state = _State(observed, {step.key: step for step in steps})
    return tuple(replace(step, effects=tuple(_effects(step, state))) for step in steps)


@dataclass(frozen=True)
class _State:
    observed: Observed
    steps: Mapping[ObjectKey, Step]

    def after(self, key: ObjectKey) -> Manifest | None:
        """Return the object after its step; an object without a step does not change."""
        step = self.steps.get(key)
        return self.observed.objects.get(key) if step is None else step.after

    def is_deleted(self, key: ObjectKey) -> bool:
        step = self.steps.get(key)
        return step is not None and step.operation == "delete"


def _effects(step: Step, state: _State) -> Iterator[Effect]:
    if step.patch is not None:
        return
    if step.key.kind in WORKLOADS:
        yield from _of_workload(step, state)
    elif step.key.kind == "HorizontalPodAutoscaler":
        yield from _of_autoscaler(step, state)
    elif step.key.kind == "Service" and step.operation == "delete":
        yield Effect(f"the name {step.key.name} no longer resolves (Service deleted)")


def _of_workload(step: Step, state: _State) -> Iterator[Effect]:
    if step.live is None:
        return
    if step.operation == "delete":
        yield from _stopped(step.key, replicas(step.live))
        yield from _retained(step.live, 0, state)
    elif step.after is not None:
        yield from _scaled(step.after, replicas(step.live), replicas(step.after), state)


def _of_autoscaler(step: Step, state: _State) -> Iterator[Effect]:
    """Yield the effects of a maximum that is below the replicas of the workload."""
    if step.after is None:
        return
    target = step.after["spec"]["scaleTargetRef"]
    workload = state.after(ObjectKey(target["kind"], target["name"]))
    if workload is not None and workload["kind"] in WORKLOADS and replicas(workload):
        before = replicas(workload)
        yield from _scaled(workload, before, min(before, step.after["spec"]["maxReplicas"]), state)


def _scaled(workload: Manifest, before: int, after: int, state: _State) -> Iterator[Effect]:
    key = key_of(workload)
    yield from _stopped(key, before - after)
    if workload["kind"] != "StatefulSet":
        return
    if not deletes_scaled_pvcs(workload):
        if before > after:
            yield from _retained(workload, after, state)
        return
    # The controller deletes the PVC of each pod that it stops, those of an earlier change included.
    ordinals = {*range(after, before), *pods_above(key.name, after, state.observed)}
    for name in pvcs_above(key.name, template_names(workload), after, state.observed):
        if int(name.rpartition("-")[2]) in ordinals:
            yield Effect(f"delete {CLAIM} {name} (whenScaled: Delete)", is_destructive=True)


def _stopped(key: ObjectKey, number: int) -> Iterator[Effect]:
    if number > 0:
        yield Effect(f"stop {number} pod{'' if number == 1 else 's'} of {key}")


def _retained(workload: Manifest, ordinal: int, state: _State) -> Iterator[Effect]:
    if workload["kind"] != "StatefulSet":
        return
    found = pvcs_above(workload["metadata"]["name"], template_names(workload), ordinal, state.observed)
    kept = [name for name in found if not state.is_deleted(ObjectKey(CLAIM, name))]
    if kept:
        number = f"{len(kept)} PVC{'' if len(kept) == 1 else 's'}"
        yield Effect(f"retain {number} of {key_of(workload)}: {join_limited(kept)}")
