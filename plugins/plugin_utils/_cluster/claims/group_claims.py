# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The existing PVCs of a group, of its volume claim templates and stand-alone ones, their sizes, and who mounts them.

The StatefulSet controller finds the PVC of a pod by the name of its template and its ordinal, whatever its labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims.marks import mark_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._values.amounts import parse_quantity

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
    found = ((template_name(template), requested_size(template)) for template in templates)
    return {name: size for name, size in found if size is not None}


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
    mounted = mounted_claims(inputs.live)
    claims = sorted(_claims(group, inputs), key=lambda each: (each.ordinal or 0, each.name))
    present = (claim for claim in claims if not is_terminating(claim.live))
    return tuple(claim for claim in present if claim.name in mounted or not mark_of(claim.live).is_marked)


def _claims(group: Group, inputs: Inputs) -> Iterator[GroupClaim]:
    observed, where = inputs.live_and_all_claims, f"spec.nodes[{group.key}]"
    for manifest in inputs.desired.groups.get(group.key, ()):
        if manifest["kind"] == CLAIM:
            live = observed.objects.get(ObjectKey(CLAIM, manifest["metadata"]["name"]))
            if live is not None:
                field = f"{where}.persistentVolumeClaim[{manifest['metadata']['name']}]"
                yield GroupClaim(group, field, manifest, live, None)
        elif manifest["kind"] == "StatefulSet":
            templates = {template_name(each): each for each in manifest["spec"].get("volumeClaimTemplates") or ()}
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
    found = inputs.admitted.get(ObjectKey("StatefulSet", group.unique_name), {})
    templates: list[dict[str, Any]] = found.get("spec", {}).get("volumeClaimTemplates") or []
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
