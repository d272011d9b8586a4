# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ConfigMaps, one for all groups and one per group, and their hash as the Go operator computes it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.group_objects import (
    cluster_manifest,
    group_manifest,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

_PROPERTY_SOURCES = ("zookeeper", "metadataStore", "deepStorage")
_COMMON_FILES = ("metricDimensions.json", "hdfs-site.xml", "core-site.xml")


@dataclass(frozen=True)
class Configuration:
    """The files of a ConfigMap, with the name and labels that the Go operator uses."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    files: Mapping[str, str]

    @cached_property
    def hashes(self) -> tuple[str, str]:
        """The hash of new pods, and the one that older Go operators write."""
        return config_map_hashes(self.name, self.namespace, self.labels, self.files)

    @property
    def size(self) -> int:
        """The size in bytes that Kubernetes limits."""
        return sum(len(text.encode("utf-8", "surrogatepass")) for text in self.files.values())


def common_configuration(cluster: Cluster) -> Configuration:
    """Return the files that all groups read."""
    return _once(cluster, None, lambda: _common_configuration(cluster))


def node_configuration(group: Group) -> Configuration:
    """Return the files that only this group reads."""
    return _once(group.cluster, group.key, lambda: _node_configuration(group))


def _once(cluster: Cluster, group: str | None, compute: Callable[[], Configuration]) -> Configuration:
    """Return a cached configuration: its size is validated, its hash is in pods, and its files are in a ConfigMap."""
    key = "configuration", group
    if key not in cluster.shared:
        cluster.shared[key] = compute()
    configuration: Configuration = cluster.shared[key]
    return configuration


def _common_configuration(cluster: Cluster) -> Configuration:
    return Configuration(
        name=names.common_config_map_name(cluster.name),
        namespace=cluster.namespace,
        labels=names.cluster_labels(cluster.name),
        files={"common.runtime.properties": _common_properties(cluster), **_common_files(cluster), **_extra(cluster)},
    )


def _node_configuration(group: Group) -> Configuration:
    return Configuration(
        name=names.node_config_map_name(group.unique_name),
        namespace=group.cluster.namespace,
        labels=names.group_labels(group),
        files=_node_files(group),
    )


def common_config_map(cluster: Cluster) -> dict[str, Any]:
    """Return the ConfigMap of the whole cluster."""
    configuration = common_configuration(cluster)
    return cluster_manifest(cluster, "v1", "ConfigMap", _metadata(configuration), data=configuration.files)


def node_config_map(group: Group) -> dict[str, Any]:
    """Return the ConfigMap of a group."""
    configuration = node_configuration(group)
    return group_manifest(group, "v1", "ConfigMap", _metadata(configuration), data=configuration.files)


def configuration_hash(group: Group, live: str | None) -> str:
    """Return the hash of both ConfigMaps in the pods: the live value as long as it is equivalent."""
    common = common_configuration(group.cluster).hashes
    node = node_configuration(group).hashes
    variants = [f"{left}-{right}" for left in common for right in node]
    return live if live is not None and live in variants else variants[0]


def _metadata(configuration: Configuration) -> dict[str, Any]:
    return {"name": configuration.name, "labels": configuration.labels}


def _common_properties(cluster: Cluster) -> str:
    text = cluster.get("common.runtime.properties") or ""
    for source in _PROPERTY_SOURCES:
        if (extension := cluster.get(source)) is not None:
            text += "\n" + ((extension.get("spec") or {}).get("properties") or "") + "\n"
    return text


def _common_files(cluster: Cluster) -> dict[str, str]:
    return {name: cluster.get(name) for name in _COMMON_FILES if cluster.get(name)}


def _extra(cluster: Cluster) -> dict[str, str]:
    files: dict[str, str] = {}
    for key in cluster.config_map_references:
        files.update((cluster.references.get(key) or {}).get("data") or {})
    return files


def _node_files(group: Group) -> dict[str, str]:
    files = {
        "runtime.properties": f"druid.port={group.port}\n{group.node.get('runtime.properties') or ''}",
        "jvm.config": f"{group.first_non_empty('jvm.options')}\n{group.node.get('extra.jvm.options') or ''}",
    }
    logging = group.first_non_empty("log4j.config")
    return {**files, "log4j2.xml": logging} if logging else files


# Go's encoder escapes these for HTML and JavaScript.
_ESCAPED_BY_GO = str.maketrans(
    {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028", "\u2029": r"\u2029"}
)
_LONG_ESCAPES = {r"\b": r"\u0008", r"\f": r"\u000c"}
_ESCAPE = re.compile(r"\\.")


def config_map_hashes(name: str, namespace: str, labels: Mapping[str, str], data: Mapping[str, str]) -> tuple[str, str]:
    """Return the hash of an operator built with Go 1.22 or newer, and that of one built with an older Go."""
    text = _go_json(_config_map(name, namespace, labels, data))
    return _digest(text), _digest(_with_long_escapes(text))


def _config_map(name: str, namespace: str, labels: Mapping[str, str], data: Mapping[str, str]) -> dict[str, Any]:
    # The order of fields is that of the Go structs; only maps are sorted.
    metadata = {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": None,
        "labels": dict(sorted(labels.items())),
    }
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": dict(sorted(data.items()))}


def _go_json(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED_BY_GO)


def _with_long_escapes(text: str) -> str:
    # The pattern matches every escape, so that an escaped backslash before b or f stays.
    return _ESCAPE.sub(lambda escape: _LONG_ESCAPES.get(escape.group(), escape.group()), text)


def _digest(text: str) -> str:
    # A file that is only planned can contain a lone surrogate; the API server cannot.
    return base64.b64encode(hashlib.sha1(text.encode("utf-8", "surrogatepass")).digest()).decode("ascii")
