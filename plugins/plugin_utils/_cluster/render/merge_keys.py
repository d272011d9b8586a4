# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists with merge keys in a pod template: a partial template is merged into it, and duplicates are removed.

Kubernetes' strategic merge merges mappings deeply, and lists with a merge key by that key; other lists, and the source
of a volume, are replaced. Null is ignored: the API server stores none in a resource. Kubernetes accepts a second entry
with the same key on creation, where the last one wins, and rejects it in a server-side apply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
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
        thinned["env"], texts = without_duplicate_variables(container["env"])
        warnings.extend(f"{owner}: {text}" for text in texts)
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


# Kubernetes' syntax (k8s.io/kubernetes/third_party/forked/golang/expansion): $$ is an escaped $.
_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


@dataclass(frozen=True)
class Variable:
    """An entry of `env`; `alias` is the name that an earlier entry of a name can be kept under."""

    item: Mapping[str, Any]
    alias: str | None = None
    references: frozenset[str] = frozenset()


def without_duplicate_variables(items: list[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the variables with one entry per name, and a message for each other entry.

    The last entry of a name is the value of the variable. But `$(NAME)` in the value of a variable is the entry of that
    name before it: such an entry is kept under another name, so that every other variable keeps its value.
    """
    variables = list(_with_aliases(items))
    needed = _needed(variables)
    kept = [_renamed(variable) for variable in variables if variable.alias is None or variable.alias in needed]
    counts = Counter(item.get("name") for item in items)
    duplicates = [variable for variable in variables if variable.alias is not None]
    return kept, [_message(duplicate, counts[duplicate.item["name"]], needed) for duplicate in duplicates]


def _with_aliases(items: list[Mapping[str, Any]]) -> Iterator[Variable]:
    """Yield the variables, with references to earlier entries of a name replaced by references to their aliases."""
    last = {item.get("name"): position for position, item in enumerate(items)}
    current: dict[Any, str] = {}
    for position, item in enumerate(items):
        name = item.get("name")
        variable = _referring(item, current)
        current.pop(name, None)
        if name is not None and last[name] > position:
            # Not at the beginning: the image makes properties of variables that begin with druid_.
            current[name] = f"EARLIER_{position}_{name}"
            variable = Variable(variable.item, current[name], variable.references)
        yield variable


def _referring(item: Mapping[str, Any], aliases: Mapping[str, str]) -> Variable:
    value, found = item.get("value"), set()
    if not isinstance(value, str) or not aliases:
        return Variable(item)

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in aliases:
            return match[0]
        found.add(aliases[match[1]])
        return f"$({aliases[match[1]]})"

    return Variable({**item, "value": _REFERENCE.sub(replaced, value)}, references=frozenset(found))


def _needed(variables: list[Variable]) -> set[str]:
    """Return the aliases that variables refer to which are kept: references lead backwards."""
    needed: set[str] = set()
    for variable in reversed(variables):
        if variable.alias is None or variable.alias in needed:
            needed |= variable.references
    return needed


def _renamed(variable: Variable) -> dict[str, Any]:
    return {**variable.item, **({"name": variable.alias} if variable.alias else {})}


def _message(variable: Variable, count: int, needed: set[str]) -> str:
    what = f"variable {variable.item['name']} is set {'twice' if count == 2 else f'{count} times'}"
    if variable.alias in needed:
        return f"{what}; the earlier value, which other variables refer to, is kept as {variable.alias}"
    kept = "only the other entry is kept" if count == 2 else "only the last entry is kept under this name"
    return f"{what}; {kept}"
