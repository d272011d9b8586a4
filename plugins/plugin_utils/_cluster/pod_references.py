# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pods refer to: Secrets and ConfigMaps by env, envFrom or volumes, and the Services of their names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import secret_digest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

_KINDS = {
    "secret": "Secret",
    "secretRef": "Secret",
    "secretKeyRef": "Secret",
    "configMap": "ConfigMap",
    "configMapRef": "ConfigMap",
    "configMapKeyRef": "ConfigMap",
}
_DATA = ("data", "binaryData")
# Their objects are in the hash of the configuration, and in that of the Secrets of extraCommonConfig.
_OUR_VOLUMES = (names.COMMON_CONFIG_VOLUME, names.NODE_CONFIG_VOLUME)
# In place of a digest: of an object without which pods start, and of one whose data are not known yet.
ABSENT, UNKNOWN = "absent", "unknown"
_DIGITS_OF_KEYS, _DIGITS = 4, 32


@dataclass(frozen=True)
class Use:
    """What a pod reads of an object: these keys of its data, None for all.

    No pod starts without the `required` keys nor, unless it `is_optional`, without the object.
    """

    keys: frozenset[str] | None
    required: frozenset[str] = frozenset()
    is_optional: bool = False

    def __or__(self, other: Use) -> Use:
        keys = None if self.keys is None or other.keys is None else self.keys | other.keys
        return Use(keys, self.required | other.required, self.is_optional and other.is_optional)

    def digest_of(self, kind: str, live: Manifest | None) -> str:
        """Return the digest of what is read of the object, after one of which keys these are."""
        if live is None:
            return ABSENT if self.is_optional else UNKNOWN
        data = {field: self._read(live.get(field) or {}) for field in _DATA}
        if not self.required <= {*data["data"], *data["binaryData"]}:
            return UNKNOWN
        keys = digest(sorted(self.keys) if self.keys else None)[:_DIGITS_OF_KEYS]
        return f"{keys}.{digest(secret_digest([{**live, 'data': data}]) if kind == 'Secret' else data)[:_DIGITS]}"

    def _read(self, data: Mapping[str, str]) -> Mapping[str, str]:
        return {key: value for key, value in data.items() if self.keys is None or key in self.keys}


def uses(pod: Mapping[str, Any], ours: Collection[str] = ()) -> dict[ObjectKey, Use]:
    """Return what a pod reads of which objects, by its spec; `ours` are names of ConfigMaps that do not count."""
    found: dict[ObjectKey, Use] = {}
    for key, use in (pair for source in _sources(pod) for pair in _uses(source)):
        if key.kind != "ConfigMap" or key.name not in ours:
            found[key] = found[key] | use if key in found else use
    return found


def _sources(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        yield from container.get("envFrom") or ()
        yield from (each.get("valueFrom") or {} for each in container.get("env") or ())
    for volume in pod.get("volumes") or ():
        if volume.get("name") not in _OUR_VOLUMES:
            yield from (volume, *((volume.get("projected") or {}).get("sources") or ()))


def _uses(source: Mapping[str, Any]) -> Iterator[tuple[ObjectKey, Use]]:
    for field, kind in _KINDS.items():
        reference = source.get(field) or {}
        name, items = reference.get("secretName") or reference.get("name"), reference.get("items") or ()
        if name:
            keys = frozenset([reference["key"]] if "key" in reference else [item["key"] for item in items])
            is_optional = bool(reference.get("optional"))
            yield ObjectKey(kind, name), Use(keys or None, frozenset() if is_optional else keys, is_optional)


def subdomains(cluster: Cluster, observed: Observed) -> dict[str, set[str]]:
    """Return the Services that pods of the specified groups have as subdomain, each with the keys of the groups.

    Without a key: the next pods will have it, until their StatefulSet is recreated.
    """
    groups: dict[str, set[str]] = {name: set() for name in next_subdomains(cluster, observed)}
    for group in cluster.groups:
        for pod in observed.pods_of(group):
            groups.setdefault((pod.get("spec") or {}).get("subdomain", ""), set()).add(group.key)
    return groups


def next_subdomains(cluster: Cluster, observed: Observed) -> dict[str, set[str]]:
    """Return the Services that the next pods of the specified groups will have as subdomain, with the groups."""
    groups: dict[str, set[str]] = {}
    for group in cluster.groups:
        live = observed.objects.get(ObjectKey("StatefulSet", group.unique_name))
        spec = (live or {}).get("spec") or {}
        if live is not None and spec.get("replicas", 1):
            groups.setdefault(spec.get("serviceName", ""), set()).add(group.key)
    return groups
