# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which PVCs have to grow (scalePvcSts), what is awaited, and what blocks it: one group after the other.

Everything is derived from the PVCs and the StatefulSets, so an expansion continues wherever it was interrupted, also by
the Go operator. A storage driver reports that it has given up an expansion in the status of the PVC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    GroupClaim,
    Size,
    mounted_claims,
    sizes_of_templates,
    template_name,
    used_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_LEGACY_CLASS = "volume.beta.kubernetes.io/storage-class"
_PENDING = "FileSystemResizePending"
# Conditions of a PVC that report the state of its expansion, the failures first.
_CONDITIONS = ("ControllerResizeError", "NodeResizeError", _PENDING, "Resizing")


def claims_to_expand(group: Group, inputs: Inputs) -> tuple[GroupClaim, ...]:
    """Return the PVCs of the group that request less than the spec; a PVC without a volume cannot be changed."""
    if not inputs.cluster.expands_pvcs:
        return ()
    return tuple(claim for claim in used_claims(group, inputs) if claim.is_bound and _is_less(claim.requested, claim))


def _is_less(size: Size | None, claim: GroupClaim) -> bool:
    return size is not None and claim.desired is not None and size.amount < claim.desired.amount


def expanding_claims(group: Group, inputs: Inputs) -> tuple[GroupClaim, ...]:
    """Return the PVCs of the group whose expansion was requested, and whose file system is still too small.

    Without a pod, the file system grows when a pod mounts it the next time.
    """
    if not inputs.cluster.expands_pvcs:
        return ()
    mounted = mounted_claims(inputs.observed)
    claims = (claim for claim in used_claims(group, inputs) if claim.is_bound and not _is_less(claim.requested, claim))
    small = (claim for claim in claims if _is_less(claim.capacity, claim))
    return tuple(claim for claim in small if claim.name in mounted or _PENDING not in _conditions(claim.live))


def not_expandable(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding for each group with a PVC that has to grow, and whose storage class does not allow it.

    It blocks the group, so that Druid does not get a larger limit than its disk. If the StatefulSet is missing or has
    the size already, it blocks only the PVC.
    """
    inputs = draft.inputs
    refused = ((group, _refusals(group, inputs)) for group in inputs.cluster.groups)
    return tuple(_finding(group, found, inputs) for group, found in refused if found)


def _refusals(group: Group, inputs: Inputs) -> dict[str, str]:
    """Return, by PVC, why it cannot grow."""
    refusals = ((claim.name, _refusal(claim, inputs)) for claim in claims_to_expand(group, inputs))
    return {name: reason for name, reason in refusals if reason is not None}


def _refusal(claim: GroupClaim, inputs: Inputs) -> str | None:
    name = _class_of(claim)
    if not name:
        return "it has no storage class, and only a PVC with one can be expanded."
    storage_class = inputs.reads.storage_class(name)
    if isinstance(storage_class, str):
        return storage_class
    if not storage_class.get("allowVolumeExpansion"):
        return (
            f"storage class {name} does not allow it. Set its allowVolumeExpansion to true, if its driver can expand."
        )
    return None


def _finding(group: Group, refused: Mapping[str, str], inputs: Inputs) -> Finding:
    name, reason = next(iter(refused.items()))
    claim = next(each for each in claims_to_expand(group, inputs) if each.name == name)
    size, others = claim.desired.text if claim.desired else "", [*refused][1:]
    more = f" The same applies to {join_limited(others)}." if others else ""
    message = f"{claim.field}: PVC {name} cannot be expanded to {size}: {reason}{more}"
    if _blocks_group(group, claim, inputs):
        return Finding(reasons.VOLUMES_NOT_EXPANDABLE, f"{message} Nothing of group {group.key} is changed.", group.key)
    return Finding(
        reasons.VOLUMES_NOT_EXPANDABLE,
        f"{message} It keeps its size.",
        group.key,
        object=f"{claim.live['kind']} {name}",
    )


def _blocks_group(group: Group, claim: GroupClaim, inputs: Inputs) -> bool:
    return claim.ordinal is None or _has_smaller_templates(group, inputs)


def deferred(inputs: Inputs) -> dict[str, str]:
    """Return the groups whose volumes grow later, each with the group that they wait for.

    None waits for an expansion that the storage driver has given up, or that something else blocks, nor until a
    StatefulSet is recreated, which may wait for other groups.
    """
    waiting: dict[str, str] = {}
    first: str | None = None
    for group in inputs.cluster.groups:
        if not _is_unfinished(group, inputs) or _cannot_grow(group, inputs):
            continue
        if first is None:
            first = group.key
        else:
            waiting[group.key] = first
    return waiting


def _is_unfinished(group: Group, inputs: Inputs) -> bool:
    return bool(claims_to_expand(group, inputs)) or _is_growing(group, inputs)


def _is_growing(group: Group, inputs: Inputs) -> bool:
    """True while the storage driver has not given up all expansions of the group."""
    return not all(claim.is_infeasible for claim in expanding_claims(group, inputs))


def _cannot_grow(group: Group, inputs: Inputs) -> bool:
    return bool(_refusals(group, inputs)) or group.key in inputs.blocked_expansions


def blocked_expansion(draft: DraftPlan) -> str | None:
    """Return the group that others wait for although a finding blocks its expansion, such as a quota."""
    inputs = draft.inputs
    first = next(iter(deferred(inputs).values()), None)
    group = next((each for each in inputs.cluster.groups if each.key == first), None)
    if group is None or _is_growing(group, inputs):
        return None
    small = {str(ObjectKey(CLAIM, claim.name)) for claim in claims_to_expand(group, inputs)}
    findings = (finding for finding in draft.findings if finding.group == group.key)
    is_blocked = any(finding.object is None or finding.object in small for finding in findings)
    return group.key if is_blocked else None


def _has_smaller_templates(group: Group, inputs: Inputs) -> bool:
    """True if new PVCs of the live StatefulSet would be smaller than specified."""
    return any(
        name in old and old[name].amount < size.amount for old, new in _templates(group, inputs) for name, size in new
    )


def _templates(group: Group, inputs: Inputs) -> Iterator[tuple[dict[str, Size], Any]]:
    live = inputs.observed.workload(group)
    if live is not None and live["kind"] == "StatefulSet":
        specified = sizes_of_templates(group.concatenated("volumeClaimTemplates"))
        yield sizes_of_templates(live["spec"].get("volumeClaimTemplates") or ()), specified.items()


def with_deferred_sizes(desired: Desired, inputs: Inputs) -> Desired:
    """Return the desired objects, in which the StatefulSets of deferred groups keep the sizes of their templates."""
    waiting = deferred(inputs)
    groups = {
        key: tuple(_with_live_sizes(manifest, inputs) for manifest in manifests) if key in waiting else manifests
        for key, manifests in desired.groups.items()
    }
    verbatim = {
        key: _with_live_sizes(manifest, inputs) if key in waiting else manifest
        for key, manifest in desired.verbatim.items()
    }
    return replace(desired, groups=groups, verbatim=verbatim) if waiting else desired


def _with_live_sizes(manifest: Manifest, inputs: Inputs) -> Manifest:
    live = inputs.observed.objects.get(ObjectKey("StatefulSet", manifest["metadata"]["name"]))
    if manifest["kind"] != "StatefulSet" or live is None:
        return manifest
    sizes = sizes_of_templates(live["spec"].get("volumeClaimTemplates") or ())
    templates = [
        _with_size(template, sizes.get(template_name(template)))
        for template in manifest["spec"].get("volumeClaimTemplates") or ()
    ]
    return {**manifest, "spec": {**manifest["spec"], "volumeClaimTemplates": templates}} if templates else manifest


def _with_size(template: Manifest, size: Size | None) -> Manifest:
    if size is None:
        return template
    resources = template["spec"].get("resources") or {}
    requests = {**(resources.get("requests") or {}), "storage": size.text}
    return {**template, "spec": {**template["spec"], "resources": {**resources, "requests": requests}}}


class ExpandingVolume(NamedTuple):
    """A PVC whose volume has not the desired size yet: names, sizes as quantities, and what is awaited."""

    name: str
    size: str
    capacity: str
    awaited: str
    since: str


def expanding_volumes(inputs: Inputs) -> tuple[ExpandingVolume, ...]:
    """Return the PVCs that are smaller than the spec requests, and what is awaited."""
    waiting = deferred(inputs)
    return tuple(
        _expanding(claim, waiting.get(group.key))
        for group in inputs.cluster.groups
        if not _cannot_grow(group, inputs)
        for claim in (*claims_to_expand(group, inputs), *expanding_claims(group, inputs))
    )


def _expanding(claim: GroupClaim, first: str | None) -> ExpandingVolume:
    size = claim.desired.text if claim.desired else ""
    now = claim.capacity or claim.requested
    capacity = now.text if now else ""
    if first is not None and _is_less(claim.requested, claim):
        return ExpandingVolume(claim.name, size, capacity, f"the volumes of group {first} grow first", "")
    conditions = _conditions(claim.live)
    kind = next((each for each in _CONDITIONS if each in conditions), None)
    if kind is None:
        return ExpandingVolume(claim.name, size, capacity, "the storage driver", "")
    condition = conditions[kind]
    message = f"{kind}: {condition['message']}" if condition.get("message") else kind
    return ExpandingVolume(claim.name, size, capacity, message, condition.get("lastTransitionTime") or "")


def expansion_finding(volumes: tuple[ExpandingVolume, ...]) -> tuple[Finding, ...]:
    """Return the finding, which is not a problem, that volumes are growing."""
    if not volumes:
        return ()
    texts = join_limited(map(_text, volumes))
    return (
        Finding(
            reasons.EXPANDING_VOLUMES, f"Waiting for volumes to grow: {texts}.", is_problem=False, rank=Rank.UNDER_WAY
        ),
    )


def _text(volume: ExpandingVolume) -> str:
    since = f" since {volume.since}" if volume.since else ""
    return f"PVC {volume.name} has {volume.capacity} of {volume.size} ({volume.awaited}{since})"


def _conditions(claim: Manifest) -> dict[str, Any]:
    conditions = (claim.get("status") or {}).get("conditions") or ()
    return {condition["type"]: condition for condition in conditions if condition.get("status") == "True"}


def _class_of(claim: GroupClaim) -> str:
    annotation = (claim.live["metadata"].get("annotations") or {}).get(_LEGACY_CLASS)
    return str(annotation or claim.live["spec"].get("storageClassName") or "")


_FAILURES = ("ControllerResizeError", "NodeResizeError")


def infeasible_expansions(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each PVC that cannot grow, although its storage class allows it. It blocks nothing else."""
    return tuple(finding for group in inputs.cluster.groups for finding in _found(expanding_claims(group, inputs)))


def _found(claims: tuple[GroupClaim, ...]) -> Iterator[Finding]:
    for claim in claims:
        if claim.is_infeasible:
            state = claim.live["status"]["allocatedResourceStatuses"]["storage"]
            size = claim.desired.text if claim.desired else ""
            message = (
                f"{claim.field}: PVC {claim.name} cannot be expanded to {size}: {state}{_reason(claim)}. Lower the "
                "request of the PVC and of the specification to a size that the driver supports, or free capacity."
            )
            key = f"{claim.live['kind']} {claim.name}"
            yield Finding(reasons.VOLUMES_NOT_EXPANDABLE, message, claim.group.key, object=key)


def _reason(claim: GroupClaim) -> str:
    """Return the message of the driver, if there is one."""
    conditions = (claim.live.get("status") or {}).get("conditions") or ()
    messages = (
        condition.get("message")
        for condition in conditions
        if condition["type"] in _FAILURES and condition["status"] == "True"
    )
    message = next(filter(None, messages), "")
    return f": {message.rstrip('.')}" if message else ""
