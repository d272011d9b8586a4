# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small cluster with every kind of object that matters, and a picture of it, so that two can be compared."""

from __future__ import annotations

import json
import re
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
)

KEYS = ("brokers", "historicals")
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "generation", "time", "clusterIP", "clusterIPs", "status")
_UID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# The names of the ConfigMaps are in what it is made of.
_HASH = re.compile(r'(?<="name": "configMapSHA", "value": ")[^"]+')


def spec(number: int = 1, replicas: int = 0, **more: Any) -> dict[str, Any]:
    """Return a specification of two groups; another number differs in every kind of object, and in some names."""
    return {
        "image": "apache/druid:34.0.0",
        "common.runtime.properties": f"druid.number={number}",
        "rollingDeploy": False,
        "nodes": {key: _node(key, number, replicas) for key in KEYS},
        **more,
    }


def _node(key: str, number: int, replicas: int) -> dict[str, Any]:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        "nodeType": key.removesuffix("s"),
        "druid.port": 8080 + number,
        "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{key}",
        "runtime.properties": f"druid.port={8080 + number}",
        "replicas": replicas,
        "services": [{"metadata": {"name": name}, "spec": {"type": "ClusterIP"}} for name in _services(key, number)],
        "podDisruptionBudgetSpec": {"maxUnavailable": number},
        "volumeClaimTemplates": [claim],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }


def _services(key: str, number: int) -> list[str]:
    """The first one's name is immutable in the StatefulSet: one group is updated, the other one recreated."""
    return ["%s", f"%s-{number}"] if key == KEYS[0] else [f"%s-{number}"]


def resource(name: str, specification: dict[str, Any] | None = None) -> Manifest:
    """Return a Druid resource."""
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "metadata": {"name": name},
        "spec": spec() if specification is None else specification,
    }


def claim(name: str, key: str, ordinal: int = 0, **labels: str | None) -> Manifest:
    """Return a PVC as the StatefulSet of the group creates it; labels can be changed, or removed by None."""
    group = f"druid-{name}-{key}"
    own = {
        "app": "druid",
        "component": key.removesuffix("s"),
        "druid_cr": name,
        "nodeSpecUniqueStr": group,
        **labels,
    }
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": f"data-{group}-{ordinal}",
            "labels": {label: text for label, text in own.items() if text is not None},
        },
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def objects_of(live: NamespaceClient, name: str) -> list[Manifest]:
    """Return the objects with the cluster's label, and its resource."""
    found = []
    for kind in CREATED_KINDS:
        items = live.plane.request("GET", f"{live.path(kind)}?labelSelector=druid_cr={name}", user="person")["items"]
        found += [{"kind": kind, **item} for item in items]
    resource = live.find("Druid", name)
    return [*found, resource] if resource else found


def picture(live: NamespaceClient, name: str) -> dict[str, Any]:
    """Return all that is there of a cluster and who owns which field, free of what differs from one to the next."""
    return {
        f"{each['kind']} {_nameless(each['metadata']['name'], name)}": _essence(each, name)
        for each in objects_of(live, name)
    }


def _nameless(text: str, name: str) -> str:
    return re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", "NAME", text)


def _essence(live: Manifest, name: str) -> Any:
    # A part of a UID may be the name of a cluster.
    text = _nameless(_UID.sub("UID", json.dumps(live, sort_keys=True)), name)
    text = _HASH.sub("HASH", text)
    found = json.loads(text, object_hook=_lasting)
    entries = found["metadata"].get("managedFields") or []
    found["metadata"]["managedFields"] = sorted(
        (each["manager"], each["operation"], json.dumps(each.get("fieldsV1")))
        for each in entries
        if not each.get("subresource")
    )
    return found


def _lasting(mapping: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in _VOLATILE}
