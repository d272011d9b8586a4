# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The existing PVCs of a group: of which template, their sizes, who mounts them, and the mark of an orphaned one.

The StatefulSet controller finds the PVC of a pod by the name of its template and its ordinal, whatever its labels.

A mark is in labels as the Go operator writes them, and in an annotation, which shows what happened to the labels since:
without it, the Go operator or a person has added them; without the labels, a person has removed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import (
    DELETION_TIME_LABEL,
    ORPHANED_SINCE_ANNOTATION,
    TO_BE_DELETED_LABEL,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    retains_explicitly,
    retains_scaled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import first_ordinal
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_quantity

CLAIM = "PersistentVolumeClaim"


class Size(NamedTuple):
    """The size of a PVC or of a volume claim template."""

    name: str
    text: str
    amount: Decimal


def requested_size(claim: Mapping[str, Any]) -> Size | None:
    """Return the size that a PVC or a template requests; None if it is not a quantity."""
    return _size_of(claim, (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage"))


def capacity(claim: Mapping[str, Any]) -> Size | None:
    """Return the size of the file system, which is less than the request during an expansion; None if it is unknown."""
    return _size_of(claim, ((claim.get("status") or {}).get("capacity") or {}).get("storage"))


def sizes_of_templates(templates: Iterable[Mapping[str, Any]]) -> dict[str, Size]:
    """Return the request of each volume claim template, by name."""
    sizes = ((template_name(template), requested_size(template)) for template in templates)
    return {name: size for name, size in sizes if size is not None}


def template_name(template: Mapping[str, Any]) -> str:
    """Return the name of a volume claim template."""
    return str((template.get("metadata") or {}).get("name", ""))


def _size_of(claim: Mapping[str, Any], text: Any) -> Size | None:
    amount = parse_quantity(text)
    return None if amount is None else Size(template_name(claim), str(text), amount)


# As the StatefulSet controller writes the number of a pod.
_NAME = re.compile(r"(?P<stem>.+)-(?P<ordinal>0|[1-9][0-9]{0,5})")


class GroupClaim(NamedTuple):
    """A PVC of a group, and the template or stand-alone PVC of the spec that describes it.

    `ordinal`: that of its pod, None for a stand-alone PVC. `field` is the place of the template in the spec.
    """

    group: Group
    field: str
    template: Mapping[str, Any]
    live: Manifest
    ordinal: int | None

    @property
    def name(self) -> str:
        return str(self.live["metadata"]["name"])

    @property
    def desired(self) -> Size | None:
        """The size that the spec requests."""
        return requested_size(self.template)

    @property
    def requested(self) -> Size | None:
        """The size that the PVC requests."""
        return requested_size(self.live)

    @property
    def capacity(self) -> Size | None:
        """The size of the file system."""
        return capacity(self.live)

    @property
    def is_bound(self) -> bool:
        """True if it has a volume. Kubernetes rejects changes of a PVC without one."""
        return bool((self.live.get("status") or {}).get("phase") == "Bound")

    @property
    def is_infeasible(self) -> bool:
        """True if the storage driver has given up its expansion: Kubernetes 1.30 and earlier call that failed."""
        states = (self.live.get("status") or {}).get("allocatedResourceStatuses") or {}
        return str(states.get("storage") or "").endswith(("Infeasible", "Failed"))


def place_of(name: str) -> tuple[str, int] | None:
    """Return the name of a PVC without its ordinal, and the ordinal; None if it has none."""
    match = _NAME.fullmatch(name)
    return None if match is None else (match["stem"], int(match["ordinal"]))


def used_claims(group: Group, inputs: Inputs) -> tuple[GroupClaim, ...]:
    """Return the PVCs of the group that exist and stay, by ordinal: not those that are terminating, or are marked.

    A mark of the Go operator may be on a PVC that a pod mounts.
    """
    mounted = mounted_claims(inputs.observed)
    claims = sorted(_claims(group, inputs), key=lambda each: (each.ordinal or 0, each.name))
    present = (claim for claim in claims if not is_terminating(claim.live))
    return tuple(claim for claim in present if claim.name in mounted or not mark_of(claim.live).is_marked)


def _claims(group: Group, inputs: Inputs) -> Iterator[GroupClaim]:
    observed, where = inputs.with_all_claims, f"spec.nodes[{group.key}]"
    for manifest in inputs.desired.groups.get(group.key, ()):
        if manifest["kind"] == CLAIM:
            live = observed.objects.get(ObjectKey(CLAIM, manifest["metadata"]["name"]))
            if live is not None:
                field = f"{where}.persistentVolumeClaim[{manifest['metadata']['name']}]"
                yield GroupClaim(group, field, manifest, live, None)
        elif manifest["kind"] == "StatefulSet":
            templates = {
                template_name(template): template for template in manifest["spec"].get("volumeClaimTemplates") or ()
            }
            for name, live, ordinal in _of_templates(group, templates, observed):
                yield GroupClaim(group, f"{where}.volumeClaimTemplates[{name}]", templates[name], live, ordinal)


def _of_templates(
    group: Group, templates: Mapping[str, Any], observed: Observed
) -> Iterator[tuple[str, Manifest, int]]:
    stems = {f"{name}-{group.unique_name}": name for name in templates}
    for live in observed.of_kind(CLAIM):
        place = place_of(live["metadata"]["name"])
        if place is not None and place[0] in stems:
            yield stems[place[0]], live, place[1]


def admitted_templates(group: Group, inputs: Inputs) -> list[dict[str, Any]]:
    """Return the claim templates as admission would make them of the spec; none if they are not about to change."""
    admitted = inputs.admitted.get(ObjectKey("StatefulSet", group.unique_name), {})
    templates: list[dict[str, Any]] = admitted.get("spec", {}).get("volumeClaimTemplates") or []
    return templates


def mounted_claims(observed: Observed) -> Mapping[str, str]:
    """Return, by PVC, the name of a pod that mounts it."""
    return {name: pod["metadata"]["name"] for pod in observed.of_kind("Pod") for name in claim_names(pod)}


def claim_names(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the PVCs that the pod mounts, including those of its ephemeral volumes."""
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


MARKED = "yes"
_LABELS = ("metadata", "labels")
_ANNOTATION = ("metadata", "annotations", ORPHANED_SINCE_ANNOTATION)
_NEVER = "never"
# The field of a PVC that is never deleted as an orphan, by path.
KEEPING: Mapping[tuple[str, ...], Any] = {_ANNOTATION: _NEVER}


class Mark(NamedTuple):
    """The mark of a PVC.

    `is_marked`: it is to be deleted. `since`: when the grace period has begun, None if that has to be recorded.
    `is_kept`: it stays, because a person has removed or changed the label, or because of the annotation.
    """

    is_marked: bool = False
    since: datetime | None = None
    is_kept: bool = False


def mark_of(claim: Manifest) -> Mark:
    """Return the mark of a PVC."""
    labels, annotations = (claim["metadata"].get(name) or {} for name in ("labels", "annotations"))
    label, annotation = labels.get(TO_BE_DELETED_LABEL), annotations.get(ORPHANED_SINCE_ANNOTATION)
    if label != MARKED or annotation == _NEVER:
        return Mark(is_kept=label is not None or annotation is not None)
    times = (_moment(annotation), _seconds(labels.get(DELETION_TIME_LABEL)))
    known = [each for each in times if each is not None]
    # The later one: a Go operator may have marked it again, or a person has postponed the deletion.
    return Mark(is_marked=True, since=max(known) if len(known) == len(times) else None)


def marking(now: datetime) -> dict[tuple[str, ...], Any]:
    """Return the fields of a PVC that is marked now, by path."""
    return {
        (*_LABELS, TO_BE_DELETED_LABEL): MARKED,
        (*_LABELS, DELETION_TIME_LABEL): str(int(now.timestamp())),
        _ANNOTATION: timestamp(now),
    }


def unmarking(claim: Manifest) -> dict[tuple[str, ...], Any]:
    """Return the fields to remove from a marked PVC, by path."""
    return {path: None for path in marking(datetime.now(UTC)) if path[-1] in (claim["metadata"].get(path[1]) or {})}


def deletion_time(since: datetime, grace_seconds: int) -> datetime:
    """Return when a PVC that is marked since this time may be deleted: at the end of time if it is later."""
    try:
        return since + timedelta(seconds=grace_seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _seconds(text: str | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(text or ""), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def exists_since(inputs: Inputs) -> str | None:
    """Return when the cluster was created: without a resource, its oldest object shows it. None if it has none."""
    objects = inputs.observed.of_kind("StatefulSet", "ConfigMap")
    times = filter(None, (_created(live) for live in objects if is_ours(live, inputs.cluster)))
    return _created(inputs.resource) or min(times, default=None)


def is_older(claim: Manifest, since: str | None) -> bool:
    """True for a PVC that is older than the cluster, or may be."""
    return since is None or _created(claim) < since


def _created(live: Manifest) -> str:
    return str(live["metadata"].get("creationTimestamp") or "")


def orphaned_by(
    cluster: Cluster, stateful_set: Manifest, replicas: int, claims: Iterable[Manifest], since: str | None
) -> list[str]:
    """Return those of the PVCs that are orphaned once the StatefulSet has this number of replicas, or is removed.

    `since`: when the cluster was created.
    """
    if not cluster.deletes_orphans or cluster.stopped:
        return []
    deletable = (claim for claim in claims if not is_older(claim, since) and not mark_of(claim).is_kept)
    names = [each["metadata"]["name"] for each in deletable]
    groups = (each for each in cluster.groups if each.unique_name == stateful_set["metadata"]["name"])
    group = next(groups, None)
    if group is None:
        return [] if retains_explicitly(stateful_set) else names
    if group.stopped or group.is_deployment or retains_scaled(group) or not replicas:
        return []
    needed = first_ordinal(stateful_set) + max(replicas, group.max_replicas)
    places = ((name, place_of(name)) for name in names)
    return [name for name, place in places if place is not None and place[1] >= needed]
