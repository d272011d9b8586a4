# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Local prediction of a server-side apply.

It detects that there is nothing to do, and shows the expected changes. A dry run on the server decides about a write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    SELF,
    FieldSet,
    Shape,
    key_step,
    shape_of,
    value_step,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_quantity

_ANYTHING = object()
# Defaults of the API server in atomic values; by type and field.
_IMPLIED: Mapping[tuple[str, str], Any] = {
    ("PersistentVolumeClaim", "apiVersion"): "v1",
    ("PersistentVolumeClaim", "kind"): "PersistentVolumeClaim",
    ("PersistentVolumeClaim", "status"): _ANYTHING,
    ("PersistentVolumeClaimSpec", "volumeMode"): "Filesystem",
    ("ObjectFieldSelector", "apiVersion"): "v1",
    ("ResourceFieldSelector", "divisor"): "0",
    ("ServiceAccountTokenProjection", "expirationSeconds"): 3600,
    ("OwnerReference", "blockOwnerDeletion"): False,
    # Pod templates with duplicate keys are compared as atomic values.
    ("PodSpec", "restartPolicy"): "Always",
    ("PodSpec", "dnsPolicy"): "ClusterFirst",
    ("PodSpec", "schedulerName"): "default-scheduler",
    ("PodSpec", "terminationGracePeriodSeconds"): 30,
    ("PodSpec", "serviceAccount"): _ANYTHING,
    ("Container", "terminationMessagePath"): "/dev/termination-log",
    ("Container", "terminationMessagePolicy"): "File",
    ("Container", "imagePullPolicy"): _ANYTHING,
    ("ContainerPort", "protocol"): "TCP",
    ("Probe", "timeoutSeconds"): 1,
    ("Probe", "periodSeconds"): 10,
    ("Probe", "successThreshold"): 1,
    ("Probe", "failureThreshold"): 3,
    ("HTTPGetAction", "scheme"): "HTTP",
    ("ConfigMapVolumeSource", "defaultMode"): 420,
    ("SecretVolumeSource", "defaultMode"): 420,
    ("ProjectedVolumeSource", "defaultMode"): 420,
    ("DownwardAPIVolumeSource", "defaultMode"): 420,
}
# Fields that the server stores only when they are not zero.
_ZERO_IS_NOTHING = frozenset(
    {
        ("Container", "stdin"),
        ("Container", "stdinOnce"),
        ("Container", "tty"),
        ("PodSpec", "hostIPC"),
        ("PodSpec", "hostNetwork"),
        ("PodSpec", "hostPID"),
        ("Probe", "initialDelaySeconds"),
        ("VolumeMount", "readOnly"),
    }
)
_NOTHING: tuple[Any, ...] = (None, "", {}, [])


def merge(live: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``live`` merged with ``manifest``; equivalent values stay unchanged."""
    merged: dict[str, Any] = _merge(live, manifest, shape_of(manifest["kind"]))
    return merged


def _merge(live: Any, desired: Any, shape: Shape) -> Any:
    if shape.is_atomic or (isinstance(desired, list) and not (shape.keys or shape.is_set)):
        return live if same(live, desired, shape) else desired
    if isinstance(live, dict) and isinstance(desired, dict):
        return _merge_mapping(live, desired, shape)
    if isinstance(live, list) and isinstance(desired, list):
        return _merge_set(live, desired) if shape.is_set else _merge_list(live, desired, shape)
    return live if same(live, desired, shape) else desired


def _merge_mapping(live: Mapping[str, Any], desired: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    merged = dict(live)
    for name, value in desired.items():
        if name in live:
            current = live[name]
            # most values: their shape does not matter
            if type(value) is type(current) and value == current:
                continue
            merged[name] = _merge(current, value, shape.child(name))
        elif not is_dropped(value, name, shape):
            merged[name] = value
    return merged


def is_dropped(value: Any, name: str, shape: Shape) -> bool:
    """True for an empty value that the server does not store.

    It stores empty entries of a map (a file without content), and an empty mapping that selects a type
    (``emptyDir: {}``).
    """
    if value == {}:
        return shape.child(name).is_free_map
    return not shape.is_free_map and value in (None, "", False, 0, [])


def _merge_set(live: list[Any], desired: list[Any]) -> list[Any]:
    return _ordered(live, desired)


def _merge_list(live: list[Any], desired: list[Any], shape: Shape) -> list[Any]:
    live_by_key = {shape.key_of(element): element for element in live}
    desired_by_key = {shape.key_of(element): element for element in desired}
    merged = {
        key: _merge(live_by_key[key], desired_by_key[key], shape.element) if key in live_by_key else desired_by_key[key]
        for key in desired_by_key
    }
    return [merged[key] if key in merged else live_by_key[key] for key in _ordered([*live_by_key], [*desired_by_key])]


def _ordered(live_keys: list[Any], desired_keys: list[Any]) -> list[Any]:
    """Return the union in the server's order: desired keys in their order, others before their former successor."""
    left, right, order = list(live_keys), list(desired_keys), []
    while left or right:
        following = next((key for key in right if key in live_keys), None)
        if left and left[0] not in desired_keys:
            order.append(left.pop(0))
        elif left and left[0] != following:
            # It follows later, or was added already.
            left.pop(0)
        else:
            order.append(right.pop(0))
    return order


def same(live: Any, desired: Any, shape: Shape) -> bool:
    """True if ``desired`` is equivalent to ``live``, apart from the server's defaults."""
    if isinstance(live, str) and live == desired:
        return True
    if isinstance(live, dict) and isinstance(desired, dict):
        return all(same_entry(live, desired, name, shape) for name in {**live, **desired})
    if isinstance(live, list) and isinstance(desired, list):
        pairs = zip(live, desired, strict=False)
        return len(live) == len(desired) and all(same(*pair, shape.element) for pair in pairs)
    if shape.is_quantity and parse_quantity(live) is not None:
        return parse_quantity(live) == parse_quantity(desired)
    # Not the type: what a playbook passes consists of subclasses. But true is not 1.
    return isinstance(live, bool) == isinstance(desired, bool) and bool(live == desired)


def same_entry(live: Mapping[str, Any], desired: Mapping[str, Any], name: str, shape: Shape) -> bool:
    """True if an entry of both mappings is equivalent, or missing in one of them without a difference."""
    if name not in desired:
        if name not in live:
            return True
        implied = _IMPLIED.get((shape.type or "", name))
        return implied is _ANYTHING or live[name] in _NOTHING or live[name] == implied
    if name not in live:
        return desired[name] in _NOTHING or (not desired[name] and (shape.type, name) in _ZERO_IS_NOTHING)
    return same(live[name], desired[name], shape.child(name))


def remove(live: Mapping[str, Any], fields: FieldSet) -> dict[str, Any]:
    """Return ``live`` without ``fields``."""
    remaining: dict[str, Any] = _remove(live, fields, shape_of(live["kind"]))
    return remaining


def _remove(live: Any, fields: FieldSet, shape: Shape) -> Any:
    if isinstance(live, dict):
        return _remove_from_mapping(live, fields, shape)
    if isinstance(live, list) and shape.keys:
        return [kept for element in live if (kept := _remove_element(element, fields, shape)) is not None]
    if isinstance(live, list) and shape.is_set:
        return [value for value in live if value_step(value) not in fields]
    return live


def _remove_from_mapping(live: Mapping[str, Any], fields: FieldSet, shape: Shape) -> dict[str, Any]:
    remaining = dict(live)
    for name, value in live.items():
        step = f"f:{name}"
        if step not in fields:
            continue
        kept = _remove(value, fields[step], shape.child(name)) if _goes_deeper(fields[step]) else None
        if kept:
            remaining[name] = kept
        else:
            del remaining[name]
    return remaining


def _remove_element(element: Mapping[str, Any], fields: FieldSet, shape: Shape) -> Any:
    step = key_step(shape, element)
    if step not in fields:
        return element
    if not fields[step] or SELF in fields[step]:
        return None
    return _remove(element, fields[step], shape.element)


def _goes_deeper(fields: FieldSet) -> bool:
    return any(step != SELF for step in fields)
