# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Can the specification be carried out at all?"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    cluster_references,
    missing_references,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.validate import secret_elsewhere, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cross_namespace import is_allowed, not_permitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def disallowed_references(resource: Manifest, allowed_namespaces: Collection[str]) -> tuple[ReferenceKey, ...]:
    """Return the references to other namespaces that are not followed."""
    own = resource["metadata"]["namespace"]
    return tuple(key for key in cluster_references(resource) if not is_allowed(key.namespace, own, allowed_namespaces))


def disallowed(references: Iterable[ReferenceKey], own_namespace: str) -> tuple[Finding, ...]:
    """Return a finding for each reference that is not followed."""
    return tuple(_refusal(key, own_namespace) for key in references)


def _refusal(key: ReferenceKey, own_namespace: str) -> Finding:
    if key.kind == "Secret":
        # To allow it would be of no use.
        return Finding(reasons.REF_NOT_PERMITTED, str(secret_elsewhere(key, own_namespace)))
    return not_permitted("spec.extraCommonConfig", key.kind, key.name, key.namespace)


def schema_errors(resource: Manifest) -> tuple[Finding, ...]:
    """Return a finding for each field whose value cannot even be read: the schema of another day has let it in."""
    problems = schema.schema_errors(schema.spec_of("Druid"), resource.get("spec"))
    remedy = "Such a value is stored, and cannot be read as this version does. Change the field."
    return tuple(Finding(reasons.INVALID_SPEC, f"{problem}. {remedy}") for problem in problems)


def invalid(cluster: Cluster) -> tuple[Finding, ...]:
    """Return a finding for each thing in the specification that cannot be carried out."""
    return tuple(Finding(reasons.INVALID_SPEC, str(problem)) for problem in validate(cluster))


def not_found(cluster: Cluster) -> tuple[Finding, ...]:
    """Return a finding for each missing reference: leaving its files out would restart every pod."""
    return tuple(
        Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"spec.extraCommonConfig: {key.kind} {key.name} in namespace {key.namespace} does not exist. "
            "Create it, or remove the reference; until then nothing is changed.",
        )
        for key in missing_references(cluster)
    )
