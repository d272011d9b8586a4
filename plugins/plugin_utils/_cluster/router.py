# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Address of the router of a Druid resource: scheme and port from its group, name from its Service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.group_objects import service_names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

ROUTER = "router"
# Druid's own defaults for a Router (docs/configuration: druid.plaintextPort, druid.tlsPort).
PLAINTEXT_PORT, TLS_PORT = 8888, 9088


class RouterNotFound(Exception):
    """The cluster has no Service for a router; the message has cause and remedy."""


def address(resource: Manifest, services: Iterable[Manifest], prefers_tls: bool, remedy: str) -> str:
    """Return the URL of a Service of a router group.

    A Service counts only if the Druid resource is its controller: one that merely has the labels must not get
    credentials. `remedy` is the alternative to such a Service, for the error message.
    """
    cluster = Cluster.from_resource(resource)
    groups = [group for group in cluster.groups if group.node_type == ROUTER]
    if not groups:
        raise RouterNotFound(f"Druid {cluster.name} has no group with nodeType router. Add one, or {remedy}.")
    owned = {live["metadata"]["name"]: live for live in services if _is_of(live, cluster.uid)}
    urls = (url for group in groups for url in _urls(group, owned, prefers_tls))
    url = next(urls, None)
    if url is None:
        expected = ", ".join(name for group in groups for name in service_names(group)) or "none is specified"
        raise RouterNotFound(
            f"Druid {cluster.name} has no Service for the port of its router (expected: {expected}). Wait "
            f"until the cluster is created, add a Service to its router group, or {remedy}."
        )
    return url


def _urls(group: Group, owned: Mapping[str, Manifest], prefers_tls: bool) -> Iterator[str]:
    scheme, port = listener(group, prefers_tls)
    for name in service_names(group):
        served = _port(owned[name], port) if name in owned else None
        if served is not None:
            yield f"{scheme}://{name}.{group.cluster.namespace}.svc:{served}"


def listener(group: Group, prefers_tls: bool) -> tuple[str, int]:
    """Return the scheme and the port that the group listens on; TLS if it is preferred, or the only one."""
    specified = group.properties
    is_plain = specified.get("druid.enablePlaintextPort", "true").strip().lower() != "false"
    is_secure = specified.get("druid.enableTlsPort", "false").strip().lower() == "true"
    if is_secure and (prefers_tls or not is_plain):
        return "https", _number(specified.get("druid.tlsPort"), TLS_PORT)
    return "http", _number(specified.get("druid.plaintextPort"), group.port or PLAINTEXT_PORT)


def _port(service: Manifest, target: int) -> int | None:
    """Return the port of a Service that leads to this port of the pods."""
    spec: Mapping[str, Any] = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        # It leads to another host, not to the pods.
        return None
    is_headless = spec.get("clusterIP") == "None"
    for port in spec.get("ports") or ():
        if _leads_to(port, target):
            return target if is_headless else int(port["port"])
    return None


def _leads_to(port: Mapping[str, Any], target: int) -> bool:
    """True when the port targets this number; a named target port counts by the Service's port number."""
    leads = port.get("targetPort", port["port"])
    return bool((leads if isinstance(leads, int) else port["port"]) == target)


def _is_of(live: Manifest, uid: str | None) -> bool:
    owners = live["metadata"].get("ownerReferences") or ()
    return uid is not None and any(owner.get("controller") and owner.get("uid") == uid for owner in owners)


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.strip().isdecimal() else default
