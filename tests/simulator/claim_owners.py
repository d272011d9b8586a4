# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who owns the PVC of a StatefulSet's pod: what persistentVolumeClaimRetentionPolicy means to the garbage collector.

As in kube-controller-manager (pkg/controller/statefulset/stateful_set_utils.go, Kubernetes 1.34).
"""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.schema import RETENTION_POLICY
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, reference_to

DELETE, RETAIN = "Delete", "Retain"


def owners_of_claim(claim: Manifest, stateful_set: Manifest, pod: Manifest, is_scaled_down: bool) -> list[Manifest]:
    """Return the owner references that the controller gives the PVC of a pod."""
    references = claim["metadata"].get("ownerReferences") or []
    if any(is_stale(references, owner) for owner in (stateful_set, pod)):
        return references
    others = [each for each in references if not (_is_to(each, stateful_set) or _is_to(each, pod))]
    policy = stateful_set["spec"][RETENTION_POLICY]
    if any(each.get("controller") for each in others) and DELETE in policy.values():
        return others
    if policy["whenScaled"] == DELETE and is_scaled_down:
        return [*others, reference_to(pod)]
    if policy["whenDeleted"] == DELETE:
        return [*others, reference_to(stateful_set)]
    return others


def is_stale(references: list[Manifest], owner: Manifest) -> bool:
    """True if a reference is to an earlier object of the owner's name."""
    return any(_is_to(each, owner) and each["uid"] != owner["metadata"]["uid"] for each in references)


def _is_to(reference: Manifest, owner: Manifest) -> bool:
    return (reference["kind"], reference["name"]) == (owner["kind"], owner["metadata"]["name"])
