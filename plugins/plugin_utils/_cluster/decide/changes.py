# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that differ from their desired state."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import (
    immutable_changes,
    with_stored_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.scaled_workloads import (
    scaled_before_interruption,
    scaled_by_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.recreate import Recreate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import CREATE, RECREATE, Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    REPLICAS,
    owned_fields,
    with_foreign_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)


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
    found = (inputs.reads.existing(step) for step in steps if step.operation is CREATE)
    return tuple(live for live in found if live is not None)


def dry_runs_of_recreations(inputs: Inputs) -> tuple[Verdict, ...]:
    """Return the dry runs of the objects that seem to need a recreation: admission may be the only reason for it."""
    objects = inputs.observed.objects
    found = ((manifest, objects.get(key_of(manifest))) for _group, manifest in desired_objects(inputs.desired))
    if not any(live is not None and immutable_changes(live, manifest) for manifest, live in found):
        return ()
    steps = changed_objects(inputs.cluster, inputs.desired, inputs.observed)
    due = (each for each in steps if each.operation is RECREATE and not _is_ending(each))
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
