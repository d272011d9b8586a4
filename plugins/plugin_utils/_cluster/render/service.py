# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Services of a group: one for each entry of `services`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def services(group: Group, selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the group's Services in the order in which the user lists them."""
    return [_service(group, entry, selector) for entry in service_entries(group)]


def service_entries(group: Group) -> list[Mapping[str, Any]]:
    """Return the specified Services of the group."""
    return list(group.first_present("services") or [])


def service_names(group: Group) -> list[str]:
    """Return the names of the group's Services."""
    return [
        names.service_name((entry.get("metadata") or {}).get("name"), group.unique_name)
        for entry in service_entries(group)
    ]


def named_target_ports(group: Group) -> frozenset[str]:
    """Return the names of container ports that the group's Services reference."""
    targets = [port.get("targetPort") for entry in service_entries(group) for port in _ports(group, entry)]
    return frozenset(target for target in targets if isinstance(target, str))


def _service(group: Group, entry: Mapping[str, Any], selector: Mapping[str, str]) -> dict[str, Any]:
    metadata = entry.get("metadata") or {}
    spec = entry.get("spec") or {}
    identity = {
        **metadata,
        "name": names.service_name(metadata.get("name"), group.unique_name),
        "labels": {**(metadata.get("labels") or {}), **names.group_labels(group)},
    }
    content = {**spec, "selector": {**(spec.get("selector") or {}), **selector}, "ports": _ports(group, entry) or None}
    return group_manifest(group, "v1", "Service", identity, spec=content)


def _ports(group: Group, entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    ports = (entry.get("spec") or {}).get("ports")
    # An empty list is a valid value: a headless Service can have no ports.
    return [_default_port(group)] if ports is None else list(ports)


def _default_port(group: Group) -> dict[str, Any]:
    return {"name": names.SERVICE_PORT, "port": group.port, "targetPort": group.port}
