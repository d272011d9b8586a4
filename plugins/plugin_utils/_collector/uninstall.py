# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Uninstall a release: by Helm, or what Helm has left of one that it had begun to uninstall."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import is_deleted_namespace, kinds_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# kubernetes.core.helm does nothing about a release in this state.
_UNINSTALLING = "uninstalling"
_KEEP_ANNOTATION = "helm.sh/resource-policy"


def uninstall(api: KubernetesApi, options: Options, release: Release, name: str) -> None:
    """Uninstall the release."""
    namespace = release.latest.secret["metadata"]["namespace"]
    if release.latest.state != _UNINSTALLING:
        options.helm.uninstall(name, namespace)
        return
    connection = options.connection_of(api, namespace)
    for manifest in release.latest.manifest:
        try:
            delete_object(connection, manifest, name, namespace)
        except ApiError as error:
            if not _is_deleted_with_its_namespace(api, error, manifest, namespace):
                raise
    for metadata in (secret["metadata"] for secret in release.secrets):
        connection.delete("Secret", namespace, metadata["name"], metadata["uid"])


def _is_deleted_with_its_namespace(api: KubernetesApi, error: ApiError, manifest: Manifest, tenant: str) -> bool:
    """Return whether the permission is missing because the namespace of the object, not that of the release, goes."""
    namespace = manifest["metadata"].get("namespace") or tenant
    return error.status == FORBIDDEN and namespace != tenant and is_deleted_namespace(api, namespace)


def delete_object(api: KubernetesApi, manifest: Manifest, release: str, namespace: str) -> None:
    """Delete an object if it exists and belongs to the release."""
    kind = kinds_of(api, [manifest]).get((manifest["apiVersion"], manifest["kind"]))
    if kind is None or (manifest["metadata"].get("annotations") or {}).get(_KEEP_ANNOTATION) == "keep":
        return
    where = (manifest["metadata"].get("namespace") or namespace) if kind.namespaced else None
    connection = api.with_kinds({manifest["kind"]: kind})
    live = connection.get(manifest["kind"], where, manifest["metadata"]["name"])
    annotations = (live["metadata"].get("annotations") or {}) if live else {}
    owner = (annotations.get(names.HELM_NAMESPACE_ANNOTATION), annotations.get(names.HELM_RELEASE_ANNOTATION))
    if live is not None and owner == (namespace, release):
        connection.delete(manifest["kind"], where, manifest["metadata"]["name"], live["metadata"]["uid"])
