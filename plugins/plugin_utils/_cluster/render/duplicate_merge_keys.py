# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remove duplicate merge keys from a pod template.

Kubernetes accepts a second entry with the same key on creation, where the last one wins, and rejects it in a
server-side apply.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.duplicate_variables import (
    without_duplicate_variables,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.strategic_merge import merge_key

_POD_LISTS = ("volumes", "imagePullSecrets")
_CONTAINER_LISTS = ("ports", "volumeMounts")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def without_duplicates(
    template: Mapping[str, Any], target_ports: Collection[str] = ()
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the template with one entry per key, and a warning for each removed entry.

    `target_ports` are the port names that Services reference.
    """
    warnings: list[str] = []
    spec = dict(template["spec"])
    for field in _POD_LISTS:
        _thin_out(spec, field, "the pod", (), warnings)
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_container(container, target_ports, warnings) for container in spec[field]]
    return {**template, "spec": spec}, tuple(warnings)


def _container(container: Mapping[str, Any], target_ports: Collection[str], warnings: list[str]) -> dict[str, Any]:
    thinned = dict(container)
    referenced = {*target_ports, *_probe_ports(container)}
    owner = f"container {container.get('name')}"
    if container.get("env"):
        thinned["env"], found = without_duplicate_variables(container["env"])
        warnings.extend(f"{owner}: {text}" for text in found)
    for field in _CONTAINER_LISTS:
        _thin_out(thinned, field, owner, referenced, warnings)
    return thinned


def _thin_out(parent: dict[str, Any], field: str, owner: str, referenced: Collection[str], warnings: list[str]) -> None:
    items = parent.get(field) or []
    kept = _kept_positions(field, items, referenced)
    for position, item in enumerate(items):
        if position not in kept:
            warnings.append(f"{owner}: {_description(field, item)} is set twice; only the other entry is kept")
    if len(kept) < len(items):
        parent[field] = [items[position] for position in sorted(kept)]


def _kept_positions(field: str, items: list[Any], referenced: Collection[str]) -> set[int]:
    best: dict[Any, int] = {}
    for position, item in enumerate(items):
        key = merge_key(field, item) or ("unkeyed", position)
        if key not in best or _wins(field, item, items[best[key]], referenced):
            best[key] = position
    return set(best.values())


def _wins(field: str, later: Mapping[str, Any], earlier: Mapping[str, Any], referenced: Collection[str]) -> bool:
    # Our own port comes last. It yields only to a referenced port name, if its own name is not referenced.
    return field != "ports" or later.get("name") in referenced or earlier.get("name") not in referenced


def _probe_ports(container: Mapping[str, Any]) -> set[str]:
    handlers = [
        (container.get(probe) or {}).get(handler) or {} for probe in _PROBES for handler in ("httpGet", "tcpSocket")
    ]
    return {handler["port"] for handler in handlers if isinstance(handler.get("port"), str)}


def _description(field: str, item: Mapping[str, Any]) -> str:
    if field == "ports":
        return f"port {item.get('name') or ''} ({item.get('containerPort')}/{item.get('protocol', 'TCP')})"
    singular = {"imagePullSecrets": "image pull secret", "volumes": "volume"}.get(field, "mount")
    return f"{singular} {item.get('mountPath') if field == 'volumeMounts' else item.get('name')}"
