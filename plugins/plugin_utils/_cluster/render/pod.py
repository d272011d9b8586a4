# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod template of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.container import (
    additional_containers,
    main_container,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import without_none
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.strategic_merge import strategic_merge
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
