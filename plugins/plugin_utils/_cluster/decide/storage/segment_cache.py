# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A warning about a segment cache that is larger than its volume: Druid fills the disk, and segments fail to load."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_sizes import (
    Size,
    requested_size,
    template_name,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import used_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._values.druid_bytes import parse_bytes

_LOCATIONS = "druid.segmentCache.locations"


def oversized_caches(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each volume claim template whose PVCs are smaller than the segment cache on them."""
    return tuple(warning for group in inputs.cluster.groups for warning in _oversized(group, inputs))


def _oversized(group: Group, inputs: Inputs) -> Iterator[str]:
    if group.is_deployment:
        return
    mounts = {str(each.get("mountPath")): str(each.get("name")) for each in group.concatenated("volumeMounts")}
    caches: dict[str, int] = defaultdict(int)
    for path, size in _locations(group):
        mount = _mount_of(path, mounts)
        if mount is not None:
            caches[mounts[mount]] += size
    for template in group.concatenated("volumeClaimTemplates"):
        name = template_name(template)
        smallest = _smallest(group, template, inputs)
        if smallest is not None and caches.get(name, 0) > smallest.amount:
            where = f"volumeClaimTemplates[{name}]" if smallest.name == name else f"PVC {smallest.name}"
            yield (
                f"spec.nodes[{group.key}].runtime.properties: {_LOCATIONS} has a maxSize of {caches[name]} bytes on "
                f"volume {name}, and {where} has only {smallest.text}. Druid fills the disk, and then fails to load "
                "segments. Lower maxSize, or request more storage."
            )


def _locations(group: Group) -> Iterator[tuple[str, int]]:
    """Yield path and size of each location that can be read; the group's own properties override common ones."""
    for each in _parsed(group.properties.get(_LOCATIONS, "")):
        size = parse_bytes(each.get("maxSize"))
        if isinstance(each.get("path"), str) and size is not None:
            yield each["path"], size


def _parsed(text: str) -> list[Mapping[str, Any]]:
    """Return the locations; none if it is not JSON, which Druid reports itself."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []


def _mount_of(path: str, mounts: Mapping[str, str]) -> str | None:
    """Return the mount path that contains the path: the longest one."""
    parents = (mount for mount in mounts if f"{path}/".startswith(f"{mount.rstrip('/')}/"))
    return max(parents, key=len, default=None)


def _smallest(group: Group, template: Mapping[str, Any], inputs: Inputs) -> Size | None:
    """Return the smallest size of the template and its existing PVCs: one that others have expanded stays larger."""
    claims = (claim for claim in used_claims(group, inputs) if claim.template.get("metadata") == template["metadata"])
    sizes = (requested_size(template), *(claim.requested for claim in claims if claim.ordinal is not None))
    return min((size for size in sizes if size is not None), key=lambda size: size.amount, default=None)
