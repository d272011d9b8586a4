# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""References to other namespaces. Permission to write a resource in one does not permit reads in another."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

ALL_NAMESPACES = "*"


def is_allowed(namespace: str, own: str, allowed: Collection[str]) -> bool:
    """Return True for the resource's own namespace, and for namespaces that the administrator allows."""
    return namespace == own or namespace in allowed or ALL_NAMESPACES in allowed


def not_permitted(field: str, kind: str, name: str, namespace: str) -> Finding:
    """Return the finding for a reference that is not permitted."""
    return Finding(
        reasons.REF_NOT_PERMITTED,
        f"{field}: {kind} {name} is in namespace {namespace}. References to other namespaces are not permitted unless "
        "the administrator allows them: in the modules by allowed_reference_namespaces, in the roles by "
        "druid_cluster_allowed_reference_namespaces or druid_ingestion_allowed_reference_namespaces, in the operator "
        "by ALLOWED_REFERENCE_NAMESPACES.",
    )
