# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that differ from their desired state. A change of immutable fields recreates the object."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    is_ours,
    scaled_before_interruption,
    scaled_by_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import without_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare, differs
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    REPLICAS,
    owned_fields,
    specified_fields,
    with_foreign_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    below,
    difference,
    field_set,
    intersection,
    shape_of,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import remove, same
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan


def desired_objects(desired: Desired) -> Iterator[tuple[str | None, Manifest]]:
    """Yield each desired object with the key of its group (None: shared by all)."""
    yield from ((None, manifest) for manifest in desired.common)
    yield from ((group, manifest) for group, manifests in desired.groups.items() for manifest in manifests)


def unlisted_objects(inputs: Inputs) -> tuple[Manifest, ...]:
    """Return the desired objects that exist, but that the LISTs do not contain: without our label, or of others.

    The dry run of a creation, which is needed anyway, fails if there is such an object.
    """
    if all(key_of(manifest) in inputs.observed.objects for _group, manifest in desired_objects(inputs.desired)):
        return ()
    steps = changed_objects(inputs.cluster, inputs.desired, inputs.observed)
    existing = (inputs.reads.existing(step) for step in steps if step.live is None)
    return tuple(live for live in existing if live is not None)


def dry_runs_of_recreations(inputs: Inputs) -> tuple[Verdict, ...]:
    """Return the dry runs of the objects that seem to need a recreation: admission may be the only reason for it."""
    objects = inputs.observed.objects
    pairs = ((manifest, objects.get(key_of(manifest))) for _group, manifest in desired_objects(inputs.desired))
    if not any(live is not None and immutable_changes(live, manifest) for manifest, live in pairs):
        return ()
    steps = changed_objects(inputs.cluster, inputs.desired, inputs.observed)
    due = (step for step in steps if step.recreates and not _is_ending(step))
    # An object of another owner is not recreated.
    ours = (each for each in due if each.live is None or is_ours(each.live, inputs.cluster))
    return tuple(map(inputs.reads.dry_run_of_creation, ours))


def _is_ending(step: Step) -> bool:
    return step.live is not None and is_terminating(step.live)


def changed_objects(
    cluster: Cluster, desired: Desired, observed: Observed, admitted: Mapping[ObjectKey, Manifest] | None = None
) -> tuple[Apply, ...]:
    """Return a step for each desired object that is missing or differs, in rollout order.

    `admitted`: what admission makes of the objects that would be recreated.
    """
    first_replicas = {
        group.unique_name: _first_replicas(group, observed) for group in cluster.groups if group.keeps_replicas
    }
    verbatim = {key_of(manifest): manifest for manifest in desired.verbatim.values()}
    scaled = scaled_before_interruption(cluster, observed)
    steps = (
        _change(group, manifest, verbatim.get(key_of(manifest)), observed.objects, first_replicas, scaled, admitted)
        for group, manifest in desired_objects(desired)
    )
    return tuple(step for step in steps if step is not None)


def _first_replicas(group: Group, observed: Observed) -> int:
    """Return the number of pods of a group that is created, recreated under another kind, or resumes."""
    kept = observed.replicas(group)
    if kept is None:
        return group.first_replicas
    return group.within_limits(kept) if group.autoscaled else kept


def _change(
    group: str | None,
    manifest: Manifest,
    verbatim: Manifest | None,
    objects: Mapping[ObjectKey, Manifest],
    first_replicas: Mapping[str, int],
    scaled: Collection[str],
    admitted: Mapping[ObjectKey, Manifest] | None,
) -> Apply | None:
    live = objects.get(key_of(manifest))
    former = scaled_by_autoscaler(manifest) if _is_one_of(manifest, scaled) else None
    if live is None:
        initial = _initial(verbatim or manifest, first_replicas) or verbatim
        return Apply(manifest=manifest, group=group, initial=initial, former=former)
    if manifest["kind"] == "PersistentVolumeClaim":
        manifest = _frozen(manifest, live)
    elif is_terminating(live) or immutable_changes(live, manifest, (admitted or {}).get(key_of(manifest))):
        initial = _recreated(manifest, live, first_replicas)
        return Recreate(manifest=manifest, group=group, live=live, initial=initial)
    elif key_of(manifest) in (admitted or {}):
        manifest = with_stored_fields(manifest, live)
    if _is_resuming(live, manifest, first_replicas):
        manifest = _initial(manifest, first_replicas) or manifest
    comparison = compare(live, manifest, former)
    if comparison.is_settled:
        return None
    return Apply(
        manifest=manifest,
        group=group,
        live=live,
        after=comparison.predicted,
        managed_fields=comparison.managed_fields,
        former=former,
    )


def _frozen(claim: Manifest, live: Manifest) -> Manifest:
    """Return the PVC with its live spec: an apply never changes a volume."""
    return {**claim, "spec": {name: live["spec"].get(name, value) for name, value in claim["spec"].items()}}


def _is_resuming(live: Manifest, manifest: Manifest, first_replicas: Mapping[str, int]) -> bool:
    """True for a workload that we stopped: an autoscaler ignores a workload with 0 replicas."""
    if not (_is_one_of(manifest, first_replicas) and live["spec"].get("replicas") == 0):
        return False
    return first_replicas[manifest["metadata"]["name"]] > 0 and bool(intersection(owned_fields(live), REPLICAS))


def _initial(manifest: Manifest, first_replicas: Mapping[str, int]) -> Manifest | None:
    """Return the manifest with initial replicas if the live ones are kept: without them a workload starts with 1."""
    if not _is_one_of(manifest, first_replicas):
        return None
    return _with_replicas(manifest, first_replicas[manifest["metadata"]["name"]])


def _recreated(manifest: Manifest, live: Manifest, first_replicas: Mapping[str, int]) -> Manifest | None:
    """Return the manifest with the fields of other managers, and replicas that are kept."""
    recreated = with_foreign_fields(live, manifest)
    if _is_resuming(live, manifest, first_replicas):
        return _initial(recreated, first_replicas)
    if _is_one_of(manifest, first_replicas):
        recreated = _with_replicas(recreated, live["spec"].get("replicas", 1))
    return None if recreated is manifest else recreated


def _is_one_of(manifest: Manifest, workloads: Collection[str]) -> bool:
    return manifest["kind"] in WORKLOADS and manifest["metadata"]["name"] in workloads


def _with_replicas(manifest: Manifest, replicas: int) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "replicas": replicas}}


def desired_state(cluster: Cluster, observed: Observed) -> Desired:
    """Return the rendered objects of the cluster: what a running group must keep is preserved."""
    return keep_duplicates(render(cluster, observed.preserved(cluster)), observed)


_TEMPLATE = ("f:spec", "f:template")


def keep_duplicates(desired: Desired, observed: Observed) -> Desired:
    """Return the desired objects, without the pod template of each group that already runs the verbatim one.

    `verbatim` of the result has only the workloads of these groups, and `duplicates` those of the others.
    """
    kept = {key: workload for key, workload in desired.verbatim.items() if _runs(workload, observed)}
    groups = {
        key: tuple(_without_template(manifest) for manifest in manifests) if key in kept else manifests
        for key, manifests in desired.groups.items()
    }
    removed = {key: texts for key, texts in desired.duplicates.items() if key not in kept}
    return replace(desired, groups=groups, verbatim=kept, duplicates=removed)


def _runs(desired: Manifest, observed: Observed) -> bool:
    live = observed.objects.get(key_of(desired))
    if live is None:
        return any(_has_duplicate_keys(pod) for pod in observed.orphans_of(desired["metadata"]["name"]))
    shape = shape_of(desired["kind"]).child("spec").child("template")
    return same(_without_foreign_fields(live, desired)["spec"]["template"], desired["spec"]["template"], shape)


def _without_foreign_fields(live: Manifest, desired: Manifest) -> Manifest:
    """Return the workload without the fields of others: the time of a restart, a sidecar, a variable of a webhook."""
    additions = difference(field_set(live), union(specified_fields(live), field_set(desired)))
    return remove(live, below(additions, *_TEMPLATE))


def _has_duplicate_keys(pod: Manifest) -> bool:
    """True for a pod without a workload, after an interrupted recreation, that has duplicate entries."""
    _template, dropped = without_duplicates({"spec": pod["spec"]})
    return bool(dropped)


def _without_template(manifest: Manifest) -> Manifest:
    if manifest["kind"] not in WORKLOADS:
        return manifest
    spec = {name: value for name, value in manifest["spec"].items() if name != "template"}
    return {**manifest, "spec": spec}


HEADLESS = "None"
# Field of spec -> its default; by kind (Kubernetes API, apps/v1).
_IMMUTABLE: Mapping[str, Mapping[str, Any]] = {
    "StatefulSet": {
        "serviceName": "",
        "podManagementPolicy": "OrderedReady",
        "selector": {},
        "volumeClaimTemplates": [],
    },
    "Deployment": {"selector": {}},
}


def immutable_changes(live: Manifest, manifest: Manifest, admitted: Manifest | None = None) -> tuple[str, ...]:
    """Return the immutable fields that differ between the live object and the manifest.

    `admitted` is what admission makes of the manifest, if a dry run has shown it: what it changes is no difference.
    """
    admitted = manifest if admitted is None else admitted
    if manifest["kind"] == "Service":
        is_overridden = is_headless(admitted) != is_headless(manifest)
        return ("clusterIP",) if is_headless(live) != is_headless(manifest) and not is_overridden else ()
    shape = shape_of(manifest["kind"]).child("spec")
    old, new, after = (each.get("spec") or {} for each in (live, manifest, admitted))
    return tuple(
        field
        for field, default in _IMMUTABLE.get(manifest["kind"], {}).items()
        if differs(old.get(field, default), new.get(field, default), after.get(field, default), shape.child(field))
    )


def immutable_part(manifest: Manifest) -> Manifest:
    """Return the manifest with its immutable fields only."""
    fields = ("clusterIP",) if manifest["kind"] == "Service" else _IMMUTABLE.get(manifest["kind"], {})
    spec = {field: manifest["spec"][field] for field in fields if field in manifest["spec"]}
    return {**manifest, "metadata": {}, "spec": spec}


def with_stored_fields(manifest: Manifest, live: Manifest) -> Manifest:
    """Return the manifest with the immutable fields of the live object, for an update of all others."""
    changed = immutable_changes(live, manifest)
    if not changed:
        return manifest
    kept = {field: live["spec"][field] for field in changed if field in live["spec"]}
    others = {field: value for field, value in manifest["spec"].items() if field not in changed}
    return {**manifest, "spec": {**others, **kept}}


def is_headless(service: Manifest) -> bool:
    """True for a Service that resolves to its pods, and also resolves the name of each of them."""
    return bool(service["spec"].get("clusterIP") == HEADLESS)


def orphaned_pods(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each workload that is not recreated because it would orphan running pods."""
    groups, live = {group.key: group for group in draft.inputs.cluster.groups}, draft.inputs.observed
    recreated = (step for step in draft.applies if step.recreates and step.key.kind in WORKLOADS)
    findings = (_not_adoptable(step, live.pods_of(groups[step.group or ""])) for step in recreated)
    return tuple(finding for finding in findings if finding is not None)


def _not_adoptable(step: Step, pods: Iterable[Manifest]) -> Finding | None:
    desired = step.manifest["spec"]["selector"]["matchLabels"]
    lost = [pod["metadata"]["name"] for pod in pods if not desired.items() <= (pod["metadata"]["labels"] or {}).items()]
    if not lost:
        return None
    explain = _changed_node_type if _node_type(step.live) != _node_type(step.manifest) else _missing_labels
    return Finding(reasons.PODS_WOULD_BE_ORPHANED, explain(step, ", ".join(sorted(lost))), step.group)


def _missing_labels(step: Step, lost: str) -> str:
    desired = step.manifest["spec"]["selector"]["matchLabels"]
    return (
        f"{step.key} must be recreated, but its pods {lost} do not have the labels of its "
        f"selector ({', '.join(f'{name}={value}' for name, value in desired.items())}). Label or delete the pods."
    )


def _changed_node_type(step: Step, lost: str) -> str:
    """Return why a nodeType stays: the pods of the former one would have no controller, and come back if deleted."""
    return (
        f"{step.key}: the nodeType of a group with pods cannot change from {_node_type(step.live)} to "
        f"{_node_type(step.manifest)} (pods: {lost}). Set it back. Then give the group with the other nodeType another "
        "key, or stop the group (stopped: true), and change its nodeType when it has no pods."
    )


def _node_type(workload: Manifest | None) -> str | None:
    """Return the nodeType that a workload selects by."""
    labels: dict[str, str] = (workload or {}).get("spec", {}).get("selector", {}).get("matchLabels") or {}
    return labels.get(names.COMPONENT_LABEL)
