# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others do because of a step: pods that stop, PVCs that go or stay, Services and roles that are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM, orphaned_by
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import deletes_scaled_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.restarts import volumes_of_templates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Effect, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    ordinal_of,
    ordinals,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


@dataclass(frozen=True)
class Planned:
    """The steps of a plan, and the live state before it.

    The cluster, and since when it exists, decide what becomes of PVCs that are not used any more.
    """

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


def with_effects(
    steps: Sequence[Step], observed: Observed, cluster: Cluster | None = None, since: str | None = None
) -> tuple[Step, ...]:
    """Return the steps of a plan with their effects."""
    planned = Planned(observed, {step.key: step for step in steps}, cluster, since)
    return tuple(step.with_effects(planned) for step in steps)


def may_delete_claims(steps: Sequence[Step], observed: Observed) -> bool:
    """True if PVCs may be deleted because of the steps, with pods or with a StatefulSet."""
    planned = Planned(observed, {step.key: step for step in steps})
    return any(step.may_delete_claims(planned) for step in steps)


class _Scaling(NamedTuple):
    """A workload, and its replicas before and after a step."""

    workload: Manifest
    before: int
    after: int


def of_write(step: Step, planned: Planned) -> Iterator[Effect]:
    """Yield the effects of the write of a workload or autoscaler."""
    scaling = _scaling(step, planned)
    if scaling is not None:
        yield from _scaled(scaling, planned)
        yield from _other_volumes(step, scaling.workload, planned)


def scales_with_claims(step: Step, planned: Planned) -> bool:
    """True if the write of a workload or autoscaler may delete PVCs with the pods that it stops."""
    return bool(_ordinals_with_pvcs(_scaling(step, planned), planned))


def of_deletion(step: Step, live: Manifest, planned: Planned) -> Iterator[Effect]:
    """Yield the effects of the deletion of an object."""
    if step.key.kind in WORKLOADS:
        yield from _stopped(step.key, replicas(live))
        yield from _retained(live, 0, planned)
        lost = () if planned.cluster is None else lost_roles(step, planned.cluster)
        yield from (Effect(text, is_destructive=True) for text in lost)
    elif step.key.kind == "Service":
        yield Effect(f"the name {step.key.name} no longer resolves (Service deleted)")
    elif step.key.kind == "Pod" and step.group is None:
        yield from _retained_of(live, planned)


def _scaling(step: Step, planned: Planned) -> _Scaling | None:
    if step.after is None or not step.manifest:
        return None
    if step.key.kind in WORKLOADS:
        return _Scaling(step.after, _replicas_before(step, planned.observed), replicas(step.after))
    return _autoscaling(step.after, planned) if step.key.kind == "HorizontalPodAutoscaler" else None


def _replicas_before(step: Step, observed: Observed) -> int:
    """Return the replicas of the workload, or of the deleted one whose pods it adopts."""
    return observed.orphaned_replicas(step.key.name) if step.live is None else replicas(step.live)


def _autoscaling(autoscaler: Manifest, planned: Planned) -> _Scaling | None:
    """Return the effect of a maximum that is below the replicas of the workload."""
    target = autoscaler["spec"]["scaleTargetRef"]
    workload = planned.after(ObjectKey(target["kind"], target["name"]))
    if workload is None or workload["kind"] not in WORKLOADS or not replicas(workload):
        return None
    before = replicas(workload)
    return _Scaling(workload, before, min(before, autoscaler["spec"]["maxReplicas"]))


def _scaled(scaling: _Scaling, planned: Planned) -> Iterator[Effect]:
    workload, before, after = scaling
    key = key_of(workload)
    yield from _stopped(key, before - after)
    if not deletes_scaled_pvcs(workload) and before > after:
        yield from _retained(workload, after, planned)
    ordinals = _ordinals_with_pvcs(scaling, planned)
    for name in pvcs_above(key.name, template_names(workload), after, planned.observed):
        if int(name.rpartition("-")[2]) in ordinals:
            yield Effect(f"delete {CLAIM} {name} (whenScaled: Delete)", is_destructive=True)


def _ordinals_with_pvcs(scaling: _Scaling | None, planned: Planned) -> set[int]:
    """Return the ordinals of the pods whose PVCs the controller deletes when it stops them.

    They include those that it stops because of an earlier change.
    """
    if scaling is None or scaling.workload["kind"] != "StatefulSet" or not deletes_scaled_pvcs(scaling.workload):
        return set()
    name = scaling.workload["metadata"]["name"]
    return {*range(scaling.after, scaling.before), *pods_above(name, scaling.after, planned.observed)}


def _stopped(key: ObjectKey, number: int) -> Iterator[Effect]:
    if number > 0:
        yield Effect(f"stop {number} pod{'' if number == 1 else 's'} of {key}")


def _other_volumes(step: Step, workload: Manifest, planned: Planned) -> Iterator[Effect]:
    """Yield what becomes of the volumes of running pods if claim templates are added, removed or renamed."""
    if workload["kind"] != "StatefulSet" or step.key.kind != "StatefulSet":
        return
    (name, after), before = (step.key.name, template_names(workload)), _former_templates(step, planned)
    left = pvcs_above(name, [each for each in before if each not in after], 0, planned.observed)
    if left:
        number, claims = _number(len(left), "PVC"), join_limited(left)
        yield Effect(f"abandon {number} of {step.key}, whose claim template is removed; the data stays: {claims}")
    for template in after if before else ():
        needed = (f"{template}-{name}-{ordinal}" for ordinal in ordinals(workload))
        new = [group for group in needed if ObjectKey(CLAIM, group) not in planned.observed.objects]
        if template not in before and new:
            yield Effect(f"start with empty volumes {template}: {_number(len(new), 'pod')} of {step.key}")


def _former_templates(step: Step, planned: Planned) -> list[str]:
    """Return the claim templates of the live StatefulSet, or of the deleted one whose pods it adopts."""
    if step.live is not None:
        return template_names(step.live) if replicas(step.live) else []
    pods = planned.observed.orphans_of(step.key.name)
    return [*dict.fromkeys(volume for pod in pods for volume in volumes_of_templates(pod))]


def _retained_of(pod: Manifest, planned: Planned) -> Iterator[Effect]:
    """Yield what becomes of the PVCs of a pod whose workload is deleted, and whose group is removed."""
    claims = [f"{template}-{pod['metadata']['name']}" for template in volumes_of_templates(pod)]
    labels = pod["metadata"].get("labels") or {}
    workload = {"kind": "StatefulSet", "metadata": {"name": labels.get(names.GROUP_LABEL, "")}, "spec": {}}
    yield from _kept(workload, 0, key_of(pod), [claim for claim in claims if _is_present(claim, planned)], planned)


def _is_present(name: str, planned: Planned) -> bool:
    live = planned.observed.objects.get(ObjectKey(CLAIM, name))
    return live is not None and not is_terminating(live)


def _retained(workload: Manifest, ordinal: int, planned: Planned) -> Iterator[Effect]:
    if workload["kind"] == "StatefulSet":
        claims = pvcs_above(workload["metadata"]["name"], template_names(workload), ordinal, planned.observed)
        yield from _kept(workload, ordinal, key_of(workload), claims, planned)


def _kept(
    workload: Manifest, ordinal: int, owner: ObjectKey, found: Iterable[str], planned: Planned
) -> Iterator[Effect]:
    kept = [name for name in found if not planned.is_deleted(ObjectKey(CLAIM, name))]
    orphaned = _orphaned(workload, ordinal, kept, planned)
    for claims, verb, remark in ((orphaned, "orphan", _remark(planned)), (sorted({*kept} - {*orphaned}), "retain", "")):
        if claims:
            text = f"{verb} {_number(len(claims), 'PVC')} of {owner}{remark}: {join_limited(claims)}"
            yield Effect(text, is_destructive=verb == "orphan")


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _orphaned(workload: Manifest, ordinal: int, names: list[str], planned: Planned) -> list[str]:
    if planned.cluster is None:
        return []
    claims = (planned.observed.objects[ObjectKey(CLAIM, name)] for name in names)
    return orphaned_by(planned.cluster, workload, ordinal, claims, planned.since)


def _remark(planned: Planned) -> str:
    seconds = planned.cluster.orphan_grace_seconds if planned.cluster else 0
    return f" (deleteOrphanPvc: marked, then deleted after {seconds} s)"


class _Role(NamedTuple):
    """Node types one of which is needed by others, and what happens without one."""

    types: tuple[str, ...]
    needed_by: tuple[str, ...]
    consequence: str


_WORKERS = ("middleManager", "indexer")
_ROLES = (
    _Role(("coordinator",), ("historical", "broker", "overlord", *_WORKERS), "segments are neither loaded nor moved"),
    _Role(("overlord",), _WORKERS, "no task starts"),
    _Role(("broker",), ("historical", "router", *_WORKERS), "no query is answered"),
    _Role(("historical",), ("broker",), "queries do not find the segments any more"),
    _Role(_WORKERS, ("overlord",), "no task runs"),
)
_AS_OVERLORD, _RUNNER = "druid.coordinator.asOverlord.enabled", "druid.indexer.runner.type"
# Runners of tasks that need workers; without the property, Druid has the first one.
_REMOTE = ("httpRemote", "remote")


def lost_roles(step: Step, cluster: Cluster) -> Iterator[str]:
    """Yield what the deletion of a workload with pods takes from the groups that stay: its role has no other group."""
    if not step.removes_group or step.key.kind not in WORKLOADS or step.live is None or not replicas(step.live):
        return
    if not cluster.groups:
        yield "no group of the cluster is left"
    removed = (step.live["metadata"].get("labels") or {}).get(names.COMPONENT_LABEL)
    types = _served_types(cluster)
    for role in _ROLES:
        needing = sorted(group.key for group in cluster.groups if types.get(group.key, set()) & {*role.needed_by})
        if removed in role.types and needing and not any({*role.types} & served for served in types.values()):
            lost = " or ".join(role.types)
            yield f"no group of nodeType {lost} is left for {join_limited(needing)}: {role.consequence}"


def role_warnings(cluster: Cluster, steps: Iterable[Step]) -> Iterator[str]:
    """Yield a warning for each role that the steps remove."""
    for step in steps:
        for text in lost_roles(step, cluster):
            yield f"{step.key} is deleted, and {text}. If that is not intended, specify the group again"


def _served_types(cluster: Cluster) -> Mapping[str, set[str]]:
    """Return the node types that each group is: a Coordinator can be an Overlord, and an Overlord have no workers."""
    return {group.key: {*_types(group)} for group in cluster.groups}


def _types(group: Group) -> Iterator[str]:
    specified = group.properties
    yield group.node_type
    is_overlord = group.node_type == "overlord" or specified.get(_AS_OVERLORD) == "true"
    if group.node_type == "coordinator" and is_overlord:
        yield "overlord"
    if is_overlord and specified.get(_RUNNER, _REMOTE[0]) not in _REMOTE:
        yield from _WORKERS


def pods_above(name: str, ordinal: int, observed: Observed) -> Iterator[int]:
    """Yield the ordinals of the pods of the StatefulSet from `ordinal` on."""
    for pod in observed.of_kind("Pod"):
        number = ordinal_of(pod, name)
        if number is not None and number >= ordinal:
            yield number


def pvcs_above(name: str, templates: Iterable[str], ordinal: int, observed: Observed) -> list[str]:
    """Return the names of the PVCs of the StatefulSet's pods from `ordinal` on, except terminating ones."""
    stems = "|".join(map(re.escape, templates))
    pattern = re.compile(rf"(?:{stems})-{re.escape(name)}-([0-9]+)")
    matches = (
        pattern.fullmatch(live["metadata"]["name"])
        for live in observed.of_kind("PersistentVolumeClaim")
        if not is_terminating(live)
    )
    matching = [match for match in matches if match is not None and int(match[1]) >= ordinal]
    return [match[0] for match in sorted(matching, key=lambda match: (int(match[1]), match[0]))]
