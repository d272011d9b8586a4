# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The probes of the main container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group

# Name in the spec (with the CRD's own spelling of the third one) and in the container.
_PROBES = (
    ("livenessProbe", "livenessProbe"),
    ("readinessProbe", "readinessProbe"),
    ("startUpProbe", "startupProbe"),
)
_ALIVE = "/status/health"
_SERVING = {"broker": "/druid/broker/v1/readiness", "historical": "/druid/historical/v1/readiness"}
# A historical responds only after it scanned its segment cache.
_SLOW_START = {"initialDelaySeconds": 180, "periodSeconds": 30, "timeoutSeconds": 10}


def probes(group: Group) -> dict[str, Any]:
    """Return the user's probes, with the group's port as default, and the default probes for the others."""
    return {name: _probe(group, field) for field, name in _PROBES}


def _probe(group: Group, field: str) -> Mapping[str, Any] | None:
    probe = group.first_present(field)
    if probe is not None:
        return _with_port(probe, group.port)
    return _built_in(group, field) if group.cluster.get("defaultProbes") else None


def _with_port(probe: Mapping[str, Any], port: int) -> Mapping[str, Any]:
    request = probe.get("httpGet")
    if request is None or request.get("port"):
        return probe
    return {**probe, "httpGet": {**request, "port": port}}


def _built_in(group: Group, field: str) -> dict[str, Any]:
    serving = _SERVING.get(group.node_type) if field != "livenessProbe" else None
    slow = field == "startUpProbe" and group.node_type == "historical"
    return {
        "httpGet": {"path": serving or _ALIVE, "port": group.port},
        "initialDelaySeconds": 5,
        "periodSeconds": 10,
        "timeoutSeconds": 5,
        "successThreshold": 1,
        "failureThreshold": 20 if serving else 10,
        **(_SLOW_START if slow else {}),
    }
