# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs that cannot have the specified size, or that running pods cannot get, and caches larger than their volume.

The StatefulSet controller finds the PVC of a pod by its name, whatever its labels, and so do these rules. It would fail
to update pods that stay although a claim template is added, and create and replace none.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    Size,
    admitted_templates,
    capacity,
    requested_size,
    sizes_of_templates,
    template_name,
    used_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import pvcs_above
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    first_ordinal,
    missing_volumes,
    ordinal_of,
    partition,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_bytes
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def may_lack_labels(inputs: Inputs) -> bool:
    """True if PVCs of a group may not have our labels.

    That is when a pod has one that was not listed, or, as a stopped group has no pods, when requests change.
    """
    groups, live = inputs.cluster.groups, inputs.observed
    return any(_changes_sizes(group, live) or _has_unlisted_claims(group, live) for group in groups)


def _has_unlisted_claims(group: Group, observed: Observed) -> bool:
    """True if a pod of the group has the PVC of a template that was not listed."""
    return any(
        ObjectKey(CLAIM, name) not in observed.objects for pod in observed.pods_of(group) for name in _claims_of(pod)
    )


def _claims_of(pod: Manifest) -> Iterator[str]:
    """Yield the names of the PVCs that the StatefulSet controller has given the pod."""
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name == f"{volume.get('name')}-{pod['metadata']['name']}":
            yield name


def _changes_sizes(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    return workload is not None and any(old.amount != new.amount for old, new in _sizes_of_templates(group, workload))


def _sizes_of_templates(group: Group, workload: Manifest) -> list[tuple[Size, Size]]:
    """Return the live and the specified size of each volume claim template that is in both."""
    if group.is_deployment:
        return []
    old = sizes_of_templates(workload["spec"].get("volumeClaimTemplates") or [])
    new = sizes_of_templates(group.concatenated("volumeClaimTemplates"))
    return [(old[name], new[name]) for name in sorted(old.keys() & new.keys())]


def shrinking_claims(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each volume claim template that requests less than the PVCs of the group have."""
    groups = draft.inputs.cluster.groups
    return tuple(finding for group in groups for finding in _shrinking_claims_of(group, draft.inputs))


def _shrinking_claims_of(group: Group, inputs: Inputs) -> Iterator[Finding]:
    observed = inputs.with_all_claims
    workload = observed.workload(group)
    # A size that admission sets is not that of the spec.
    admitted = sizes_of_templates(admitted_templates(group, inputs))
    for old, new in _sizes_of_templates(group, workload) if workload is not None else ():
        if new.amount < old.amount and admitted.get(new.name, new).amount == new.amount:
            largest = max(_sizes(f"{new.name}-{group.unique_name}", observed), key=_amount, default=None)
            if largest is not None and new.amount < largest.amount:
                yield Finding(reasons.INVALID_SPEC, _shrinking_message(group, new, largest), group.key)


def _shrinking_message(group: Group, asked: Size, largest: Size) -> str:
    return (
        f"spec.nodes[{group.key}].volumeClaimTemplates[{asked.name}]: {asked.text} is less than the {largest.text} "
        f"of PVC {largest.name}, and a PVC cannot shrink. Request {largest.text} or more. "
        f"Nothing of group {group.key} is changed."
    )


def _sizes(stem: str, observed: Observed) -> Iterator[Size]:
    """Yield the size of each PVC of the template: the request, or the capacity if that is less.

    A volume can be larger than the request, and smaller during an expansion.
    """
    for claim in observed.of_kind(CLAIM):
        name = claim["metadata"]["name"]
        if re.fullmatch(rf"{re.escape(stem)}-[0-9]+", name):
            sizes = [size for size in (requested_size(claim), capacity(claim)) if size is not None]
            if sizes:
                yield min(sizes, key=_amount)


def _amount(size: Size) -> Decimal:
    return size.amount


def undersized_pvcs(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each request of the spec that is larger than existing PVCs, which keep their size."""
    if inputs.cluster.expands_pvcs:
        return ()
    return tuple(warning for group in inputs.cluster.groups for warning in _undersized(group, inputs))


def _undersized(group: Group, inputs: Inputs) -> Iterator[str]:
    where, live = f"spec.nodes[{group.key}]", inputs.with_all_claims
    for manifest in inputs.desired.groups.get(group.key, ()):
        if manifest["kind"] == CLAIM:
            name = manifest["metadata"]["name"]
            field = f"{where}.persistentVolumeClaim[{name}]"
            yield from _undersized_warning(field, requested_size(manifest), [name], live)
        elif manifest["kind"] == "StatefulSet":
            for template, asked in sizes_of_templates(group.concatenated("volumeClaimTemplates")).items():
                names = pvcs_above(manifest["metadata"]["name"], [template], 0, live)
                yield from _undersized_warning(f"{where}.volumeClaimTemplates[{template}]", asked, names, live)


def oversized_pvcs(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each stand-alone PVC that is larger than specified.

    It is no error, unlike that of a template, which was larger before: others may have expanded the PVC.
    """
    return tuple(
        f"{claim.field}: the spec requests {claim.desired.text}, less than the {claim.requested.text} of PVC "
        f"{claim.name}, which keeps its size, because a PVC cannot shrink. Request {claim.requested.text}"
        for group in inputs.cluster.groups
        for claim in used_claims(group, inputs)
        if claim.ordinal is None and claim.desired and claim.requested and claim.desired.amount < claim.requested.amount
    )


def _undersized_warning(where: str, asked: Size | None, names: list[str], observed: Observed) -> Iterator[str]:
    claims = (observed.objects.get(ObjectKey(CLAIM, name)) for name in names)
    sizes = (requested_size(live) for live in claims if live is not None)
    smaller = [size for size in sizes if size is not None and asked is not None and size.amount < asked.amount]
    if asked is not None and smaller:
        listed = join_limited(f"{size.name} ({size.text})" for size in smaller)
        yield (
            f"{where}: the spec requests {asked.text}, but these PVCs keep their size, because "
            f"scalePvcSts is false: {listed}. Druid can fill their volumes. Set scalePvcSts to true, if their storage "
            "class permits an expansion"
        )


_LOCATIONS = "druid.segmentCache.locations"


def oversized_caches(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each volume claim template whose PVCs are smaller than the segment cache on them."""
    return tuple(warning for group in inputs.cluster.groups for warning in _oversized(group, inputs))


def _oversized(group: Group, inputs: Inputs) -> Iterator[str]:
    if group.is_deployment:
        return
    mounts = {str(each.get("mountPath")): str(each.get("name")) for each in group.concatenated("volumeMounts")}
    caches: dict[str, int] = defaultdict(int)
    for path, size in _locations(group):
        mount = _mount_of(path, mounts)
        if mount is not None:
            caches[mounts[mount]] += size
    for template in group.concatenated("volumeClaimTemplates"):
        name = template_name(template)
        smallest = _smallest(group, template, inputs)
        if smallest is not None and caches.get(name, 0) > smallest.amount:
            where = f"volumeClaimTemplates[{name}]" if smallest.name == name else f"PVC {smallest.name}"
            yield (
                f"spec.nodes[{group.key}].runtime.properties: {_LOCATIONS} has a maxSize of {caches[name]} bytes on "
                f"volume {name}, and {where} has only {smallest.text}. Druid fills the disk, and then fails to load "
                "segments. Lower maxSize, or request more storage."
            )


def _locations(group: Group) -> Iterator[tuple[str, int]]:
    """Yield path and size of each location that can be read; the group's own properties override common ones."""
    for each in _parsed(group.properties.get(_LOCATIONS, "")):
        size = parse_bytes(each.get("maxSize"))
        if isinstance(each.get("path"), str) and size is not None:
            yield each["path"], size


def _parsed(text: str) -> list[Mapping[str, Any]]:
    """Return the locations; none if it is not JSON, which Druid reports itself."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []


def _mount_of(path: str, mounts: Mapping[str, str]) -> str | None:
    """Return the mount path that contains the path: the longest one."""
    parents = (mount for mount in mounts if f"{path}/".startswith(f"{mount.rstrip('/')}/"))
    return max(parents, key=len, default=None)


def _smallest(group: Group, template: Mapping[str, Any], inputs: Inputs) -> Size | None:
    """Return the smallest size of the template and its existing PVCs: one that others have expanded stays larger."""
    claims = (claim for claim in used_claims(group, inputs) if claim.template.get("metadata") == template["metadata"])
    sizes = (requested_size(template), *(claim.requested for claim in claims if claim.ordinal is not None))
    return min((size for size in sizes if size is not None), key=lambda size: size.amount, default=None)


def added_claims(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each StatefulSet whose update strategy keeps pods that lack the volume of a template."""
    inputs = draft.inputs
    sets = (
        (group, manifest)
        for group in inputs.cluster.groups
        for manifest in inputs.desired.groups[group.key]
        if manifest["kind"] == "StatefulSet" and not group.stopped
    )
    kept = ((group.key, manifest, [*_kept(manifest, group, inputs.observed)]) for group, manifest in sets)
    lacking = ((key, each, [pod for pod in pods if missing_volumes(pod, each)]) for key, each, pods in kept)
    return tuple(_finding(key, manifest, pods) for key, manifest, pods in lacking if pods)


def _kept(stateful_set: Manifest, group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods that the update strategy of the StatefulSet excludes."""
    first = first_ordinal(observed.workload(group) or stateful_set) + partition(stateful_set)
    for pod in observed.pods_of(group):
        ordinal = ordinal_of(pod, stateful_set["metadata"]["name"])
        if ordinal is not None and (waits_for_deletion(stateful_set) or ordinal < first):
            yield pod


def _finding(group: str, stateful_set: Manifest, pods: list[Manifest]) -> Finding:
    names = join_limited(sorted(pod["metadata"]["name"] for pod in pods))
    message = (
        f"{key_of(stateful_set)}: volumeClaimTemplates {', '.join(missing_volumes(pods[0], stateful_set))} cannot be "
        f"added while the updateStrategy keeps pods ({names}): Kubernetes cannot add a volume to a pod, and its "
        "controller would neither replace nor create any. Specify RollingUpdate without a partition, or stop the group "
        f"first (stopped: true). Nothing of group {group} is changed."
    )
    return Finding(reasons.INVALID_SPEC, message, group)
