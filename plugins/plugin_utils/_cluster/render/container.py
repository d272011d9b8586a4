# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The containers of a pod: Druid itself and those of the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.probes import probes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group

_COMMON_MOUNT_FALLBACK = "/druid/conf/druid/_common"
_START_SCRIPT_FALLBACK = "bin/run-druid.sh"


def main_container(group: Group, configuration_hash: str) -> dict[str, Any]:
    """Return the container that runs Druid; it is named like its group."""
    return {
        "name": group.unique_name,
        "image": group.first_non_empty("image") or None,
        "command": [group.cluster.get("startScript") or _START_SCRIPT_FALLBACK, group.node_type],
        "args": group.node.get("args") or None,
        "imagePullPolicy": group.first_non_empty("imagePullPolicy") or None,
        "ports": [*(group.node.get("ports") or []), {"name": names.DRUID_PORT, "containerPort": group.port}],
        "envFrom": group.first_present("envFrom") or None,
        "env": _variables(group, configuration_hash),
        "resources": group.first_present("resources") or None,
        "volumeMounts": _volume_mounts(group),
        **probes(group),
        "lifecycle": group.first_present("lifecycle"),
        "securityContext": group.first_present("containerSecurityContext"),
    }


def additional_containers(group: Group) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the user's init containers and the containers beside the main one."""
    entries = group.concatenated("additionalContainer")
    initial = [_additional(entry) for entry in entries if entry.get("runAsInit")]
    return initial, [_additional(entry) for entry in entries if not entry.get("runAsInit")]


def _additional(entry: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in entry.items() if name not in ("containerName", "runAsInit")}
    return {"name": entry.get("containerName"), **fields}


def _variables(group: Group, configuration_hash: str) -> list[Mapping[str, Any]]:
    # Pods read their configuration at the start: a changed hash restarts them.
    changed_with_configuration = {"name": names.CONFIGURATION_HASH_VARIABLE, "value": configuration_hash}
    return [*(group.first_present("env") or []), changed_with_configuration]


def _volume_mounts(group: Group) -> list[Mapping[str, Any]]:
    common = group.cluster.get("commonConfigMountPath") or _COMMON_MOUNT_FALLBACK
    node = group.node.get("nodeConfigMountPath") or f"/druid/conf/druid/{group.node_type}"
    return [
        {"name": names.COMMON_CONFIG_VOLUME, "mountPath": common, "readOnly": True},
        {"name": names.NODE_CONFIG_VOLUME, "mountPath": node, "readOnly": True},
        *group.concatenated("volumeMounts"),
    ]
