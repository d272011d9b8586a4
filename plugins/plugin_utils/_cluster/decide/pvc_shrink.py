# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs cannot shrink (an expansion is not implemented yet)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity


class _Size(NamedTuple):
    """The size of a PVC or of a volume claim template."""

    name: str
    text: str
    amount: Decimal


def shrinking_claims(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each volume claim template that requests less than the PVCs of the group have."""
    groups, live = draft.inputs.cluster.groups, draft.inputs.live
    return tuple(finding for group in groups for finding in _shrinking_claims_of(group, live))


def _shrinking_claims_of(group: Group, observed: Observed) -> Iterator[Finding]:
    workload = observed.workload(group)
    if workload is None or group.is_deployment:
        return
    old = _requests(workload["spec"].get("volumeClaimTemplates") or [])
    new = _requests(group.concatenated("volumeClaimTemplates"))
    for name in sorted(old.keys() & new.keys()):
        if new[name].amount < old[name].amount:
            largest = max(_sizes(f"{name}-{group.unique_name}", observed), key=_amount, default=None)
            if largest is not None and new[name].amount < largest.amount:
                yield Finding(reasons.INVALID_SPEC, _message(group, name, new[name], largest), group.key)


def _message(group: Group, name: str, asked: _Size, largest: _Size) -> str:
    return (
        f"spec.nodes[{group.key}].volumeClaimTemplates[{name}]: {asked.text} is less than the {largest.text} of PVC "
        f"{largest.name}, and a PVC cannot shrink. Request {largest.text} or more. "
        f"Nothing of group {group.key} is changed."
    )


def _requests(templates: list[Mapping[str, Any]]) -> dict[str, _Size]:
    """Return the request of each volume claim template."""
    named = (((template.get("metadata") or {}).get("name", ""), template) for template in templates)
    found = {name: _size(name, _requested(template)) for name, template in named}
    return {name: size for name, size in found.items() if size is not None}


def _requested(claim: Mapping[str, Any]) -> Any:
    return (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")


def _sizes(stem: str, observed: Observed) -> Iterator[_Size]:
    """Yield the size of each PVC of the template: the request, or the capacity if that is less.

    A volume can be larger than the request, and smaller during an expansion.
    """
    for claim in observed.of_kind("PersistentVolumeClaim"):
        name = claim["metadata"]["name"]
        if re.fullmatch(rf"{re.escape(stem)}-[0-9]+", name):
            texts = _requested(claim), ((claim.get("status") or {}).get("capacity") or {}).get("storage")
            sizes = [size for text in texts if (size := _size(name, text)) is not None]
            if sizes:
                yield min(sizes, key=_amount)


def _size(name: str, text: Any) -> _Size | None:
    amount = quantity.parse(text)
    return None if amount is None else _Size(name, str(text), amount)


def _amount(size: _Size) -> Decimal:
    return size.amount
