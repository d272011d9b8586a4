# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs cannot shrink (an expansion is not implemented yet)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pvc_sizes import (
    Size,
    requested,
    requests_of_templates,
    size_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def shrinking_claims(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each volume claim template that requests less than the PVCs of the group have."""
    groups, live = draft.inputs.cluster.groups, draft.inputs.live
    return tuple(finding for group in groups for finding in _shrinking_claims_of(group, live))


def _shrinking_claims_of(group: Group, observed: Observed) -> Iterator[Finding]:
    workload = observed.workload(group)
    if workload is None or group.is_deployment:
        return
    old = requests_of_templates(workload["spec"].get("volumeClaimTemplates") or [])
    new = requests_of_templates(group.concatenated("volumeClaimTemplates"))
    for name in sorted(old.keys() & new.keys()):
        if new[name].amount < old[name].amount:
            largest = max(_sizes(f"{name}-{group.unique_name}", observed), key=_amount, default=None)
            if largest is not None and new[name].amount < largest.amount:
                yield Finding(reasons.INVALID_SPEC, _message(group, name, new[name], largest), group.key)


def _message(group: Group, name: str, asked: Size, largest: Size) -> str:
    return (
        f"spec.nodes[{group.key}].volumeClaimTemplates[{name}]: {asked.text} is less than the {largest.text} of PVC "
        f"{largest.name}, and a PVC cannot shrink. Request {largest.text} or more. "
        f"Nothing of group {group.key} is changed."
    )


def _sizes(stem: str, observed: Observed) -> Iterator[Size]:
    """Yield the size of each PVC of the template: the request, or the capacity if that is less.

    A volume can be larger than the request, and smaller during an expansion.
    """
    for claim in observed.of_kind("PersistentVolumeClaim"):
        name = claim["metadata"]["name"]
        if re.fullmatch(rf"{re.escape(stem)}-[0-9]+", name):
            texts = requested(claim), ((claim.get("status") or {}).get("capacity") or {}).get("storage")
            sizes = [size for text in texts if (size := size_of(name, text)) is not None]
            if sizes:
                yield min(sizes, key=_amount)


def _amount(size: Size) -> Decimal:
    return size.amount
