# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finalizer that deletes the PVCs with the resource, compatible with the Go operator's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import controller, is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Patch
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    changed_finalizers,
    finalizer_patch,
    has_finalizer,
    is_finalizer_of_operator,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Operation

# Kubernetes' finalizer: dependents lose their owner and are not deleted.
ORPHAN = "orphan"
# Kubernetes' finalizer: dependents are deleted before their owner.
FOREGROUND = "foregroundDeletion"
# The limit of Kubernetes for all annotations of an object, in bytes (TotalAnnotationSizeLimitB).
_ANNOTATIONS_LIMIT = 256 * 1024
_POINTER = names.DELETES_PVCS_ANNOTATION.replace("/", "~1")
# The resource owns each object of these kinds.
OWNED = (*WORKLOADS, "ConfigMap", "Service")


@dataclass(frozen=True, kw_only=True)
class ChangeResource(Patch):
    """A change of the resource itself."""

    def observed_after(self, observed: Observed, _live: Manifest | None) -> Observed:
        return observed


@dataclass(frozen=True, kw_only=True)
class ChangeFinalizer(ChangeResource):
    """The finalizer is added or removed."""

    is_last: ClassVar[bool] = True

    @property
    def remark(self) -> str:
        return " (finalizer)"

    @property
    def operation(self) -> Operation:
        return Operation("update")


@dataclass(frozen=True, kw_only=True)
class DeleteResource(Delete):
    """The deletion of the resource, whose objects Kubernetes and the finalizer delete."""

    is_last: ClassVar[bool] = True


def keep_finalizer(resource: Manifest, always: bool = False) -> tuple[ChangeResource, ...]:
    """Return the step that adds or removes the finalizer per disablePVCDeletionFinalizer, or always adds it.

    A finalizer that ansible-operator has set is kept: it runs nothing for a deleted resource without a finalizer, and
    would set it again.
    """
    is_desired = always or deletes_claims(resource.get("spec")) or is_finalizer_of_operator(resource, names.FINALIZER)
    return () if is_desired == is_set(resource) else (_finalizer_step(resource, is_desired, "resourceVersion"),)


def is_set(resource: Manifest) -> bool:
    """True for a resource with our finalizer."""
    return has_finalizer(resource, names.FINALIZER)


def remove_finalizer(resource: Manifest) -> ChangeFinalizer:
    """Return the step that removes the finalizer, which deletes the resource."""
    # Not the version: an earlier step may have recorded the deletion.
    return _finalizer_step(resource, False, "uid", "finalizers")


def deletes_claims(spec: Any) -> bool:
    """True when the PVCs are deleted with the cluster: the documented default, also for an invalid spec."""
    return not (isinstance(spec, Mapping) and spec.get("disablePVCDeletionFinalizer", False))


def is_orphaning(resource: Manifest) -> bool:
    """True while Kubernetes removes the owner reference of all dependents (--cascade=orphan)."""
    return ORPHAN in (resource["metadata"].get("finalizers") or ())


def objects_without_owner(cluster: Cluster, observed: Observed) -> tuple[str, ...]:
    """Return the objects of this cluster without owner although the resource exists.

    A deletion with --cascade=orphan leaves this state once Kubernetes removed its own finalizer: all dependents must
    stay, above all their data. A user may also have removed the owner manually.
    """
    found = observed.of_kind(*OWNED)
    return tuple(str(key_of(live)) for live in found if controller(live) is None and is_ours(live, cluster))


def has_lost_its_objects(resource: Manifest, observed: Observed) -> bool:
    """True when the resource owns no object any more, and it is unknown who has removed them.

    Without a reconcile in between, a deletion with --cascade=orphan leaves this state once another client, such as a
    GitOps tool, has deleted the objects without owner.
    """
    if deletes_in_foreground(resource) or _is_recorded(resource):
        return False
    owners = (each for live in observed.objects.values() for each in live["metadata"].get("ownerReferences") or ())
    return all(each["uid"] != resource["metadata"]["uid"] for each in owners)


def deletes_in_foreground(resource: Manifest) -> bool:
    """True while Kubernetes deletes all dependents before the resource (--cascade=foreground)."""
    return FOREGROUND in (resource["metadata"].get("finalizers") or ())


def record_deletion(resource: Manifest) -> tuple[ChangeResource, ...]:
    """Return the step that records that the PVCs are deleted, since a retry might find no object of the resource.

    With --cascade=foreground, Kubernetes deletes them at the same time, also after it has removed its finalizer.
    It removes its finalizer at any time, so the record must not depend on the version of the resource. Annotations at
    their limit leave no space for the record: then a retry may retain PVCs, but the deletion ends.
    """
    metadata = resource["metadata"]
    recorded = {**(metadata.get("annotations") or {}), names.DELETES_PVCS_ANNOTATION: metadata["uid"]}
    if _is_recorded(resource) or _size(recorded) > _ANNOTATIONS_LIMIT:
        return ()
    after = {**resource, "metadata": {**metadata, "annotations": recorded}}
    # Another client may have added the mapping: then the test fails.
    mapping = [
        {"op": "test", "path": "/metadata/annotations", "value": None},
        {"op": "add", "path": "/metadata/annotations", "value": {}},
    ]
    patch = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        *(mapping if metadata.get("annotations") is None else ()),
        {"op": "add", "path": f"/metadata/annotations/{_POINTER}", "value": metadata["uid"]},
    ]
    return (ChangeResource(live=resource, after=after, patch=patch),)


def _size(annotations: Mapping[str, str]) -> int:
    """Return the size in bytes that Kubernetes limits."""
    return sum(len(text.encode()) for pair in annotations.items() for text in pair)


def _is_recorded(resource: Manifest) -> bool:
    """True when an earlier reconcile of this deletion has recorded it.

    A resource that is created from a copy of a resource that was being deleted has the annotation, too.
    """
    metadata = resource["metadata"]
    recorded = (metadata.get("annotations") or {}).get(names.DELETES_PVCS_ANNOTATION)
    return is_terminating(resource) and recorded == metadata["uid"]


def _finalizer_step(resource: Manifest, is_desired: bool, *unchanged: str) -> ChangeFinalizer:
    patch = finalizer_patch(resource, names.FINALIZER, is_desired=is_desired, unchanged=unchanged)
    finalizers = changed_finalizers(resource, names.FINALIZER, is_desired=is_desired)
    after = {**resource, "metadata": {**resource["metadata"], "finalizers": finalizers}}
    return ChangeFinalizer(live=resource, after=after, patch=patch)
