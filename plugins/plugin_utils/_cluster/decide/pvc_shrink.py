# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may become of claims. Until storage growth is here: a claim is never made smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values import quantity


class _Size(NamedTuple):
    """How much a claim, or a template of claims, is about."""

    name: str
    text: str
    amount: Decimal


def shrinking_claims(cluster: Cluster, observed: Observed) -> tuple[Finding, ...]:
    """Return a finding for each claim template that comes to ask for less than the running group's claims have."""
    return tuple(finding for group in cluster.groups for finding in _shrinking_claims_of(group, observed))


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
                yield Finding(reasons.INVALID_SPEC, _words(group, name, new[name], largest), group.key)


def _words(group: Group, name: str, asked: _Size, largest: _Size) -> str:
    return (
        f"spec.nodes[{group.key}].volumeClaimTemplates[{name}]: {asked.text} is less than the {largest.text} of claim "
        f"{largest.name}, and a claim cannot shrink. Ask for {largest.text} or more. "
        f"Nothing of group {group.key} is changed."
    )


def _requests(templates: list[Mapping[str, Any]]) -> dict[str, _Size]:
    """Return what each claim template asks for."""
    named = (((template.get("metadata") or {}).get("name", ""), template) for template in templates)
    found = {name: _size(name, _requested(template)) for name, template in named}
    return {name: size for name, size in found.items() if size is not None}


def _requested(claim: Mapping[str, Any]) -> Any:
    return (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")


def _sizes(stem: str, observed: Observed) -> Iterator[_Size]:
    """Yield the size of each claim that was made of the template: what was asked for, or as much of it as there is.

    A volume may be larger than what was asked for, and smaller while it has not grown.
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
