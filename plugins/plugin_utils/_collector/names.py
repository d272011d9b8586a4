# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every name, label and annotation of a Collector, in one place."""

from __future__ import annotations

KIND = "Collector"
FINALIZER = "collector.druid.apache.org/release"

# On the Secrets of Helm's revisions: the Collector that the release belongs to. Helm copies them to later revisions.
OWNER_LABEL = "druid.apache.org/collector"
OWNER_NAMESPACE_LABEL = "druid.apache.org/collector-namespace"
# On the Secret of a revision: what was deployed with it, and its number, since Helm also copies this label.
DEPLOYED_LABEL = "druid.apache.org/collector-deployed"
# A new value requests one more attempt of a failed installation or upgrade. The same as of an ingestion.
RETRY_ANNOTATION = "druid.apache.org/retry"

# What Helm itself sets: its Secrets, and its mark on the objects of a release.
HELM_SECRET_TYPE = "helm.sh/release.v1"
HELM_RELEASE_ANNOTATION = "meta.helm.sh/release-name"
HELM_HOOK_ANNOTATION = "helm.sh/hook"
HELM_NAMESPACE_ANNOTATION = "meta.helm.sh/release-namespace"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"


def labels_of_release(release: str) -> str:
    """Return the label selector of the Secrets with the revisions of a release."""
    return f"owner=helm,name={release}"


def owner_labels(namespace: str, name: str) -> dict[str, str]:
    """Return the labels of the release of this Collector."""
    return {OWNER_LABEL: name, OWNER_NAMESPACE_LABEL: namespace}


def user_of(service_account: str, namespace: str) -> str:
    """Return the user of the administrator's ServiceAccount in the namespace of a tenant; empty without one."""
    return f"system:serviceaccount:{namespace}:{service_account}" if service_account else ""
