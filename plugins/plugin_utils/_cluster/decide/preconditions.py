# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preconditions of a reconcile: valid fields, permitted and existing references."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    cluster_references,
    missing_references,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.validate import secret_elsewhere, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cross_namespace import is_allowed, not_permitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def disallowed_references(resource: Manifest, allowed_namespaces: Collection[str]) -> tuple[ReferenceKey, ...]:
    """Return the references to other namespaces that are not permitted."""
    own = resource["metadata"]["namespace"]
    return tuple(key for key in cluster_references(resource) if not is_allowed(key.namespace, own, allowed_namespaces))


def disallowed(references: Iterable[ReferenceKey], own_namespace: str) -> tuple[Finding, ...]:
    """Return a finding for each reference that is not permitted."""
    return tuple(_refusal(key, own_namespace) for key in references)


def _refusal(key: ReferenceKey, own_namespace: str) -> Finding:
    if key.kind == "Secret":
        # A pod cannot mount a Secret of another namespace, whatever is allowed.
        return Finding(reasons.REF_NOT_PERMITTED, str(secret_elsewhere(key, own_namespace)))
    return not_permitted("spec.extraCommonConfig", key.kind, key.name, key.namespace)


def invalid(cluster: Cluster) -> tuple[Finding, ...]:
    """Return a finding for each invalid value in the spec."""
    return tuple(Finding(reasons.INVALID_SPEC, str(problem)) for problem in validate(cluster))


def not_found(cluster: Cluster) -> tuple[Finding, ...]:
    """Return a finding for each missing reference: without its files every pod would restart."""
    return tuple(
        Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"spec.extraCommonConfig: {key.kind} {key.name} in namespace {key.namespace} does not exist. "
            "Create it, or remove the reference. Nothing is changed before that.",
        )
        for key in missing_references(cluster)
    )
