# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The patches of existing PVCs: their size, the annotations and attributes class of a changed template, their owners.

A PVC is patched before its StatefulSet is recreated, so what has changed is known until every PVC has it. Annotations
of others stay. A size that others have raised is left as it is.

A field that the API server does not store, such as the attributes class if its feature gate is off, is not sent again
and again. It is stored in templates of StatefulSets nevertheless, so a PVC without an attributes class gets that of its
template at any time.

The StatefulSet controller removes its owner reference only from PVCs that have a pod: not from those of a stopped
group or of a scaled-down replica. Kubernetes would delete these with the StatefulSet although its policy retains them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    GroupClaim,
    admitted_templates,
    template_name,
    used_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import retain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.expansion import (
    claims_to_expand,
    deferred,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    deletion_is_disabled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import (
    Changes,
    Notice,
    UpdateClaim,
    updated_claim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_SIZE = ("spec", "resources", "requests", "storage")
_CLASS = ("spec", "volumeAttributesClassName")
_ANNOTATIONS = ("metadata", "annotations")


def ignored_updates(inputs: Inputs) -> list[str]:
    """Return a warning for the PVCs of each group whose change the API server ignores."""
    ignored: dict[tuple[str | None, str], list[str]] = {}
    for step in pvc_updates(inputs):
        if _is_ignored(step, inputs):
            ignored.setdefault((step.group, step.notice.message), []).append(step.key.name)
    return [
        f"{CLAIM} {join_limited(claims)} of group {group}: {_ignored(change)}"
        for (group, change), claims in ignored.items()
    ]


def _is_ignored(step: UpdateClaim, inputs: Inputs) -> bool:
    """True if a dry run shows that the API server would accept the change, and not store it."""
    after = inputs.reads.dry_run(step).after
    return after is not None and not step.has_effect(after)


def _ignored(change: str) -> str:
    """Return what it means that the API server has accepted a change, and does not store it."""
    if _CLASS[-1] not in change:
        return f"not done: {change}. The API server, or an admission webhook, accepts the change, and does not store it"
    return (
        f"not done: {change}. The API server does not store {_CLASS[-1]}: enable its feature gate "
        "VolumeAttributesClass (before Kubernetes 1.34, it is off by default), or remove the field from the "
        "specification. Until then, the volumes have the attributes of their storage class"
    )


def pvc_updates(inputs: Inputs) -> tuple[UpdateClaim, ...]:
    """Return a step for each PVC that has to change."""
    waiting = deferred(inputs)
    return tuple(
        updated_claim(claim.live, changes, notice, group.key)
        for group in inputs.cluster.groups
        for claim, changes, notice in _changed(group.key in waiting, used_claims(group, inputs), inputs)
    )


def _changed(
    is_deferred: bool, claims: tuple[GroupClaim, ...], inputs: Inputs
) -> Iterator[tuple[GroupClaim, Changes, Notice]]:
    small = {claim.name for claim in claims_to_expand(claims[0].group, inputs)} if claims and not is_deferred else set()
    for claim in claims:
        size: Changes = {_SIZE: claim.desired.text} if claim.desired and claim.name in small else {}
        others = dict(_described(claim, inputs))
        if size and claim.requested:
            more = f"; {_listed(others)}" if others else ""
            text = f"expand from {claim.requested.text} to {size[_SIZE]}{more}"
            yield claim, {**size, **others}, Notice(reasons.VOLUME_EXPANDING, text)
        elif others:
            yield claim, others, Notice(reasons.PVC_UPDATED, _listed(others))


def _described(claim: GroupClaim, inputs: Inputs) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the annotations and the attributes class that the spec has changed."""
    if not inputs.cluster.updates_pvcs:
        return
    before, is_changed = _former(claim, inputs)
    desired, live = _annotations(claim.template), _annotations(claim.live)
    if claim.ordinal is not None and is_changed:
        for name, value in desired.items():
            if before.get(name) != value and live.get(name) != value:
                yield (*_ANNOTATIONS, name), value
        for name in before.keys() - desired.keys() - _added_by_admission(claim, inputs):
            if live.get(name) == before[name]:
                yield (*_ANNOTATIONS, name), None
    name = claim.template["spec"].get(_CLASS[-1])
    live_name = claim.live["spec"].get(_CLASS[-1])
    # Without one, it was created or patched while the API server did not store it.
    if name and claim.is_bound and live_name != name and (is_changed or not live_name):
        yield _CLASS, name


def _former(claim: GroupClaim, inputs: Inputs) -> tuple[Mapping[str, str], bool]:
    """Return the annotations of the live template, and whether the spec has another one.

    Without a StatefulSet, its recreation was interrupted: then the PVCs show what is missing.
    """
    workload = inputs.observed.workload(claim.group)
    if claim.ordinal is None or workload is None:
        return {}, True
    name = template_name(claim.template)
    templates = (
        template for template in workload["spec"].get("volumeClaimTemplates") or () if template_name(template) == name
    )
    former = next(templates, None)
    if former is None:
        return {}, False
    is_same_class = former["spec"].get(_CLASS[-1]) == claim.template["spec"].get(_CLASS[-1])
    before = _annotations(former)
    return before, not is_same_class or before != _annotations(claim.template)


def _added_by_admission(claim: GroupClaim, inputs: Inputs) -> set[str]:
    """Return the annotations that the next template has, too, although the spec does not have them."""
    name, templates = template_name(claim.template), admitted_templates(claim.group, inputs)
    return {
        annotation for template in templates if template_name(template) == name for annotation in _annotations(template)
    }


def _annotations(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    return (manifest.get("metadata") or {}).get("annotations") or {}


def _listed(changes: Changes) -> str:
    texts = (
        f"remove annotation {path[-1]}" if value is None else f"set {_described_path(path)} to {value}"
        for path, value in sorted(changes.items())
    )
    return ", ".join(texts)


def _described_path(path: tuple[str, ...]) -> str:
    return f"annotation {path[-1]}" if path[:2] == _ANNOTATIONS else path[-1]


def rejected_patches(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return the rejections of patches of PVCs by the API server.

    A rejection blocks the group if its StatefulSet is recreated for the same change, or deleted: a PVC that is to be
    kept must be recorded before. Otherwise it blocks only the PVC.
    """
    verdicts = {verdict.step.key: verdict for verdict in draft.verdicts if verdict.step.verdicts == "patches"}
    dependent = {step.group for step in draft.steps if _depends_on_claims(step)}
    pairs = ((step, verdicts.get(step.key)) for step in draft.steps if step.verdicts == "patches")
    rejected = ((step, verdict.rejection) for step, verdict in pairs if verdict and verdict.rejection)
    return tuple(finding if step.group in dependent else _of_object(step, finding) for step, finding in rejected)


def _depends_on_claims(step: Step) -> bool:
    return step.recreates or (step.deletes and step.key.kind == "StatefulSet")


def _of_object(step: Step, finding: Finding) -> Finding:
    message = finding.message.removesuffix(f"Nothing of group {step.group} is changed.")
    return replace(finding, message=f"{message}It blocks no other object.", object=str(step.key))


def ignored_policies(inputs: Inputs) -> Iterator[str]:
    """Yield a warning for each group whose PVCs are retained although its policy is to delete them."""
    for group in inputs.cluster.groups:
        if not group.is_deployment and deletion_is_disabled(group):
            yield (
                f"spec.nodes[{group.key}]: persistentVolumeClaimRetentionPolicy.whenDeleted: Delete has no effect "
                "while disablePVCDeletionFinalizer is true: the PVCs are retained"
            )


def retains_claims(cluster: Cluster) -> bool:
    """True if the cluster retains PVCs that a StatefulSet may own: it deletes them whatever their labels."""
    return any(map(deletion_is_disabled, cluster.groups))


def released_claims(inputs: Inputs) -> tuple[Step, ...]:
    """Return the steps that separate retained PVCs from the StatefulSets of groups that stay."""
    claims = list(inputs.with_all_claims.of_kind(CLAIM))
    return tuple(step for live, group in _retaining_sets(inputs) for step in retain.released([live], claims, group))


def _retaining_sets(inputs: Inputs) -> Iterator[tuple[Manifest, str | None]]:
    """Yield the StatefulSets whose policy is and stays Retain. The step that sets Retain releases the PVCs itself."""
    for group, manifest in desired_objects(inputs.desired):
        live = inputs.observed.objects.get(key_of(manifest)) if manifest["kind"] == "StatefulSet" else None
        if live is None or is_terminating(live) or not is_ours(live, inputs.cluster):
            continue
        if not retain.deletes_pvcs(live) and not retain.deletes_pvcs(manifest):
            yield live, group
