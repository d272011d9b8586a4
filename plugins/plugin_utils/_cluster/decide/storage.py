# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may become of claims. Until storage growth is here: a claim is never made smaller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils import _quantity
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group


def shrinking(cluster: Cluster, observed: Observed) -> tuple[Finding, ...]:
    """Return a finding for each claim template that asks for less than the running group's claims have."""
    return tuple(finding for group in cluster.groups for finding in _shrinking_group(group, observed))


def _shrinking_group(group: Group, observed: Observed) -> Iterator[Finding]:
    workload = observed.workload(group)
    if workload is None or group.is_deployment:
        return
    old = _requests(workload["spec"].get("volumeClaimTemplates") or [])
    new = _requests(group.concatenated("volumeClaimTemplates"))
    for name in old.keys() & new.keys():
        if new[name][1] < old[name][1]:
            yield Finding(reasons.INVALID_SPEC, _words(group, name, old[name][0], new[name][0]), group.key)


def _words(group: Group, name: str, old: str, new: str) -> str:
    return (
        f"spec.nodes[{group.key}].volumeClaimTemplates[{name}]: {new} is less than the {old} that its claims have, and "
        f"a claim cannot shrink. Ask for {old} or more. Nothing of group {group.key} is changed."
    )


def _requests(templates: list[Mapping[str, Any]]) -> dict[str, tuple[str, Decimal]]:
    """Return what each claim template asks for, as text and as an amount."""
    found = {}
    for template in templates:
        text = (((template.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")
        amount = _quantity.parse(text)
        if amount is not None:
            found[(template.get("metadata") or {}).get("name", "")] = (str(text), amount)
    return found
