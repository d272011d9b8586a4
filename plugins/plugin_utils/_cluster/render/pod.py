# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod template of a group: its containers, their probes, and the time of a requested restart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.group_objects import without_none
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import strategic_merge
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import secret_digest


def pod_template(
    group: Group,
    labels: Mapping[str, str],
    configuration_hash: str,
    has_empty_affinity: bool = True,
    restarted_at: str | None = None,
) -> dict[str, Any]:
    """Return the template of the group's pods, with the user's podTemplate merged into it."""
    spec = {**_spec(group, configuration_hash), "affinity": _affinity(group, has_empty_affinity)}
    template = without_none({"metadata": {"annotations": _annotations(group, restarted_at)}, "spec": spec})
    complete = strategic_merge(template, group.node.get("podTemplate") or {})
    # The labels are computed together with the selector.
    metadata, spec = {**complete["metadata"], "labels": labels}, complete["spec"]
    account = _old_service_account(spec)
    return {**complete, "metadata": metadata, "spec": {**spec, **({"serviceAccount": account} if account else {})}}


def _old_service_account(spec: Mapping[str, Any]) -> str | None:
    """Return the service account for the deprecated field as well.

    The server stores both fields and copies each to the other. If only the new one is applied, it cannot be removed.
    """
    account: str | None = spec.get("serviceAccountName") or spec.get("serviceAccount")
    return account


def _annotations(group: Group, restarted_at: str | None) -> dict[str, str] | None:
    annotations = dict(group.first_present("podAnnotations") or {})
    if group.cluster.secret_references:
        cluster = group.cluster
        secrets = [cluster.references.get(key) for key in cluster.secret_references]
        annotations[names.SECRET_HASH_ANNOTATION] = secret_digest(secrets)
    if restarted_at is not None:
        annotations[names.RESTARTED_AT_ANNOTATION] = restarted_at
    return annotations or None


def _spec(group: Group, configuration_hash: str) -> dict[str, Any]:
    initial, beside = additional_containers(group)
    return {
        "volumes": _volumes(group),
        "initContainers": initial or None,
        "containers": [main_container(group, configuration_hash), *beside],
        "terminationGracePeriodSeconds": group.first_present("terminationGracePeriodSeconds"),
        "dnsPolicy": group.first_non_empty("dnsPolicy") or None,
        "dnsConfig": group.first_present("dnsConfig"),
        "nodeSelector": group.first_present("nodeSelector") or None,
        "serviceAccountName": group.first_non_empty("serviceAccountName", "serviceAccount") or None,
        "securityContext": group.first_present("securityContext"),
        "imagePullSecrets": group.first_present("imagePullSecrets") or None,
        "tolerations": group.concatenated("tolerations") or None,
        "topologySpreadConstraints": group.first_present("topologySpreadConstraints") or None,
        "priorityClassName": group.first_non_empty("priorityClassName") or None,
    }


def _affinity(group: Group, has_empty_one: bool) -> Mapping[str, Any] | None:
    # An empty affinity differs from none: it is part of the template of running pods. One that became empty is removed:
    # Kubernetes 1.30 drops it in one apply, accepts it in the next one, and restarts the pods for each.
    affinity: Mapping[str, Any] | None = group.first_present("affinity")
    return affinity or ({} if has_empty_one else None)


def _volumes(group: Group) -> list[Mapping[str, Any]]:
    node = {"configMap": {"name": names.node_config_map_name(group.unique_name)}}
    return [
        {"name": names.COMMON_CONFIG_VOLUME, **_common_volume_source(group.cluster)},
        {"name": names.NODE_CONFIG_VOLUME, **node},
        *group.concatenated("volumes"),
    ]


def _common_volume_source(cluster: Cluster) -> dict[str, Any]:
    config_map = {"configMap": {"name": names.common_config_map_name(cluster.name)}}
    secrets = [{"secret": {"name": key.name}} for key in cluster.secret_references]
    # Secrets are mounted, never copied: users who can read ConfigMaps may not be permitted to read Secrets.
    return {"projected": {"sources": [config_map, *secrets]}} if secrets else config_map


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


_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})")


def restarted_at(group: Group, preserved: Preserved) -> str | None:
    """Return the annotation of the group's pods, which an annotation of the resource requests; None without a request.

    It is the later one of the requested time and the time of the last restart, so an annotation that is removed or set
    back restarts nothing.
    """
    requested = (group.cluster.annotations.get(name) for name in _requests(group))
    texts = [text for text in (preserved.restarted_at, *requested) if text and _time(text) is not None]
    return max(texts, key=lambda text: _time(text) or datetime.min, default=preserved.restarted_at)


def ignored_requests(group: Group) -> list[str]:
    """Return the names of the annotations that request a restart, and whose value is not a time."""
    requested = ((name, group.cluster.annotations.get(name)) for name in _requests(group))
    return [name for name, text in requested if text is not None and _time(text) is None]


def _requests(group: Group) -> tuple[str, str]:
    return names.RESTARTED_AT_ANNOTATION, f"{names.GROUP_RESTARTED_AT_PREFIX}{group.key}"


def _time(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
