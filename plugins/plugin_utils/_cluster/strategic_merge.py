# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merge a partial pod template into a pod template, by Kubernetes' strategic merge.

Mappings merge deeply, lists with a merge key by that key, other lists are replaced. A volume's source is replaced. Null
is ignored: the API server stores none in a resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The merge keys of the Kubernetes API for the lists of a pod template.
MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "claims": ("name",),
    "containers": ("name",),
    "env": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ports": ("containerPort", "protocol"),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
# Lists with the patch strategy retainKeys: an item keeps only the fields that the change specifies, since these exclude
# each other, such as the sources of a volume.
RETAIN_KEYS = frozenset({"resourceClaims", "volumes"})
_KEY_DEFAULTS = {"protocol": "TCP"}

MergeKey = tuple[Any, ...]


def strategic_merge(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` merged with `change`; neither of them is modified."""
    merged = dict(base)
    for field, value in change.items():
        if value is not None:
            merged[field] = _value(field, base.get(field), value)
    return merged


def merge_key(field: str, item: Any) -> MergeKey | None:
    """Return the merge key of an item of a keyed list; None if it has none."""
    if field not in MERGE_KEYS or not isinstance(item, Mapping):
        return None
    key = tuple(item.get(name, _KEY_DEFAULTS.get(name)) for name in MERGE_KEYS[field])
    return None if None in key else key


def _value(field: str, base: Any, change: Any) -> Any:
    if isinstance(change, Mapping):
        return strategic_merge(base if isinstance(base, Mapping) else {}, change)
    if field in MERGE_KEYS and isinstance(change, list) and all(merge_key(field, item) for item in change):
        return _keyed_list(field, base if isinstance(base, list) else [], change)
    return change


def _keyed_list(field: str, base: list[Any], change: list[Any]) -> list[Any]:
    merged = list(base)
    for item in change:
        position = _last_position(field, merged, merge_key(field, item))
        if position is None:
            merged.append(strategic_merge({}, item))
        else:
            merged[position] = strategic_merge(_retained(field, merged[position], item), item)
    return merged


def _retained(field: str, base: Mapping[str, Any], change: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the retained fields of an item: all, if the change specifies only its key."""
    specified = {name for name, value in change.items() if value is not None}
    if field not in RETAIN_KEYS or specified <= {*MERGE_KEYS[field]}:
        return base
    return {name: value for name, value in base.items() if name in specified}


def _last_position(field: str, items: list[Any], key: MergeKey | None) -> int | None:
    # If several items have the same key, Kubernetes uses the last one.
    positions = [position for position, item in enumerate(items) if merge_key(field, item) == key]
    return positions[-1] if positions else None
