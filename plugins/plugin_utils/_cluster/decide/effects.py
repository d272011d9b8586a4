# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others do because of a step: pods that stop, PVCs that go or stay, Services whose names no longer resolve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claim_updates import orphaned_by
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.removed_roles import lost_roles
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import pods_above, pvcs_above
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import deletes_scaled_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.adoption import (
    adoption,
    volumes_of_templates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    ordinals,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Effect, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

CLAIM = "PersistentVolumeClaim"


def with_effects(
    steps: Sequence[Step], observed: Observed, cluster: Cluster | None = None, since: str | None = None
) -> tuple[Step, ...]:
    """Return the steps of a plan with their effects; `observed` is the live state before the plan.

    The cluster, and since when it exists, decide what becomes of PVCs that are not used any more.
    """
    state = _State(observed, {step.key: step for step in steps}, cluster, since)
    return tuple(_with_effects(step, state) for step in steps)


def _with_effects(step: Step, state: _State) -> Step:
    more: dict[str, Any] = {"adoption": adoption(step, state.observed)} if step.creates else {}
    return replace(step, effects=tuple(_effects(step, state)), **more)


def may_delete_claims(steps: Sequence[Step], observed: Observed) -> bool:
    """True if PVCs may be deleted because of the steps, with pods or with a StatefulSet."""
    state = _State(observed, {step.key: step for step in steps})
    return any(_is_deleted_set(step) or bool(_ordinals_with_pvcs(_scaling(step, state), state)) for step in steps)


def _is_deleted_set(step: Step) -> bool:
    return step.deletes and step.key.kind == "StatefulSet"


@dataclass(frozen=True)
class _State:
    observed: Observed
    steps: Mapping[ObjectKey, Step]
    cluster: Cluster | None = None
    since: str | None = None

    def after(self, key: ObjectKey) -> Manifest | None:
        """Return the object after its step; an object without a step does not change."""
        step = self.steps.get(key)
        return self.observed.objects.get(key) if step is None else step.after

    def is_deleted(self, key: ObjectKey) -> bool:
        step = self.steps.get(key)
        return step is not None and step.deletes


class _Scaling(NamedTuple):
    """A workload, and its replicas before and after a step."""

    workload: Manifest
    before: int
    after: int


def _effects(step: Step, state: _State) -> Iterator[Effect]:
    scaling = _scaling(step, state)
    if scaling is not None:
        yield from _scaled(scaling, state)
        yield from _other_volumes(step, scaling.workload, state)
    elif step.deletes and step.live is not None and step.key.kind in WORKLOADS:
        yield from _stopped(step.key, replicas(step.live))
        yield from _retained(step.live, 0, state)
        lost = () if state.cluster is None else lost_roles(step, state.cluster)
        yield from (Effect(text, is_destructive=True) for text in lost)
    elif step.deletes and step.key.kind == "Service":
        yield Effect(f"the name {step.key.name} no longer resolves (Service deleted)")
    elif step.deletes and step.live is not None and step.key.kind == "Pod" and step.group is None:
        yield from _retained_of(step.live, state)


def _scaling(step: Step, state: _State) -> _Scaling | None:
    if step.after is None or not step.manifest:
        return None
    if step.key.kind in WORKLOADS:
        return _Scaling(step.after, _replicas_before(step, state.observed), replicas(step.after))
    return _autoscaling(step.after, state) if step.key.kind == "HorizontalPodAutoscaler" else None


def _replicas_before(step: Step, observed: Observed) -> int:
    """Return the replicas of the workload, or of the deleted one whose pods it adopts."""
    return observed.orphaned_replicas(step.key.name) if step.live is None else replicas(step.live)


def _autoscaling(autoscaler: Manifest, state: _State) -> _Scaling | None:
    """Return the effect of a maximum that is below the replicas of the workload."""
    target = autoscaler["spec"]["scaleTargetRef"]
    workload = state.after(ObjectKey(target["kind"], target["name"]))
    if workload is None or workload["kind"] not in WORKLOADS or not replicas(workload):
        return None
    before = replicas(workload)
    return _Scaling(workload, before, min(before, autoscaler["spec"]["maxReplicas"]))


def _scaled(scaling: _Scaling, state: _State) -> Iterator[Effect]:
    workload, before, after = scaling
    key = key_of(workload)
    yield from _stopped(key, before - after)
    if not deletes_scaled_pvcs(workload) and before > after:
        yield from _retained(workload, after, state)
    ordinals = _ordinals_with_pvcs(scaling, state)
    for name in pvcs_above(key.name, template_names(workload), after, state.observed):
        if int(name.rpartition("-")[2]) in ordinals:
            yield Effect(f"delete {CLAIM} {name} (whenScaled: Delete)", is_destructive=True)


def _ordinals_with_pvcs(scaling: _Scaling | None, state: _State) -> set[int]:
    """Return the ordinals of the pods whose PVCs the controller deletes when it stops them.

    They include those that it stops because of an earlier change.
    """
    if scaling is None or scaling.workload["kind"] != "StatefulSet" or not deletes_scaled_pvcs(scaling.workload):
        return set()
    name = scaling.workload["metadata"]["name"]
    return {*range(scaling.after, scaling.before), *pods_above(name, scaling.after, state.observed)}


def _stopped(key: ObjectKey, number: int) -> Iterator[Effect]:
    if number > 0:
        yield Effect(f"stop {number} pod{'' if number == 1 else 's'} of {key}")


def _other_volumes(step: Step, workload: Manifest, state: _State) -> Iterator[Effect]:
    """Yield what becomes of the volumes of running pods if claim templates are added, removed or renamed."""
    if workload["kind"] != "StatefulSet" or step.key.kind != "StatefulSet":
        return
    (name, after), before = (step.key.name, template_names(workload)), _former_templates(step, state)
    left = pvcs_above(name, [each for each in before if each not in after], 0, state.observed)
    if left:
        number, claims = _number(len(left), "PVC"), join_limited(left)
        yield Effect(f"abandon {number} of {step.key}, whose claim template is removed; the data stays: {claims}")
    for template in after if before else ():
        needed = (f"{template}-{name}-{ordinal}" for ordinal in ordinals(workload))
        new = [each for each in needed if ObjectKey(CLAIM, each) not in state.observed.objects]
        if template not in before and new:
            yield Effect(f"start with empty volumes {template}: {_number(len(new), 'pod')} of {step.key}")


def _former_templates(step: Step, state: _State) -> list[str]:
    """Return the claim templates of the live StatefulSet, or of the deleted one whose pods it adopts."""
    if step.live is not None:
        return template_names(step.live) if replicas(step.live) else []
    pods = state.observed.orphans_of(step.key.name)
    return [*dict.fromkeys(volume for pod in pods for volume in volumes_of_templates(pod))]


def _retained_of(pod: Manifest, state: _State) -> Iterator[Effect]:
    """Yield what becomes of the PVCs of a pod whose workload is deleted, and whose group is removed."""
    found = [f"{template}-{pod['metadata']['name']}" for template in volumes_of_templates(pod)]
    labels = pod["metadata"].get("labels") or {}
    workload = {"kind": "StatefulSet", "metadata": {"name": labels.get(names.GROUP_LABEL, "")}, "spec": {}}
    yield from _kept(workload, 0, key_of(pod), [each for each in found if _is_present(each, state)], state)


def _is_present(name: str, state: _State) -> bool:
    live = state.observed.objects.get(ObjectKey(CLAIM, name))
    return live is not None and not is_terminating(live)


def _retained(workload: Manifest, ordinal: int, state: _State) -> Iterator[Effect]:
    if workload["kind"] == "StatefulSet":
        found = pvcs_above(workload["metadata"]["name"], template_names(workload), ordinal, state.observed)
        yield from _kept(workload, ordinal, key_of(workload), found, state)


def _kept(workload: Manifest, ordinal: int, owner: ObjectKey, found: Iterable[str], state: _State) -> Iterator[Effect]:
    kept = [name for name in found if not state.is_deleted(ObjectKey(CLAIM, name))]
    orphaned = _orphaned(workload, ordinal, kept, state)
    for claims, verb, remark in ((orphaned, "orphan", _remark(state)), (sorted({*kept} - {*orphaned}), "retain", "")):
        if claims:
            text = f"{verb} {_number(len(claims), 'PVC')} of {owner}{remark}: {join_limited(claims)}"
            yield Effect(text, is_destructive=verb == "orphan")


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _orphaned(workload: Manifest, ordinal: int, names: list[str], state: _State) -> list[str]:
    if state.cluster is None:
        return []
    claims = (state.observed.objects[ObjectKey(CLAIM, name)] for name in names)
    return orphaned_by(state.cluster, workload, ordinal, claims, state.since)


def _remark(state: _State) -> str:
    seconds = state.cluster.orphan_grace_seconds if state.cluster else 0
    return f" (deleteOrphanPvc: marked, then deleted after {seconds} s)"
