# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Uninstall a release: by Helm, or what an interrupted Helm has left of it."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import Helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import kinds_of
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# kubernetes.core.helm does nothing about a release in this state.
_UNINSTALLING = "uninstalling"
_KEEP_ANNOTATION = "helm.sh/resource-policy"


def uninstall(api: KubernetesApi, helm: Helm, release: Release, name: str) -> None:
    """Uninstall the release."""
    namespace = release.latest.secret["metadata"]["namespace"]
    if release.latest.state != _UNINSTALLING:
        helm.uninstall(name, namespace)
        return
    for manifest in release.latest.manifest:
        _delete(api, manifest, name, namespace)
    for metadata in (secret["metadata"] for secret in release.secrets):
        api.delete("Secret", namespace, metadata["name"], metadata["uid"])


def _delete(api: KubernetesApi, manifest: Manifest, release: str, namespace: str) -> None:
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
