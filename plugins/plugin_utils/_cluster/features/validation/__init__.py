# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preconditions of a reconcile: valid fields, permitted and existing references."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation.fields import (
    secret_elsewhere,
    validate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    ReferenceKey,
    missing_keys,
    not_permitted_keys,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding, not_permitted


class Validation(Feature):
    """Refuses a specification with which the cluster could not work."""

    def refuse(self, inputs: Inputs) -> tuple[Finding, ...]:
        """Return findings about references that are not permitted, invalid values, or missing references."""
        return disallowed_references(inputs) or invalid_spec(inputs) or missing_references(inputs)


def disallowed_references(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each reference that is not permitted."""
    keys = not_permitted_keys(inputs.resource, inputs.allowed_reference_namespaces)
    return tuple(_refusal(key, inputs.cluster.namespace) for key in keys)


def _refusal(key: ReferenceKey, own_namespace: str) -> Finding:
    if key.kind == "Secret":
        # A pod cannot mount a Secret of another namespace, whatever is allowed.
        return Finding(reasons.REF_NOT_PERMITTED, str(secret_elsewhere(key, own_namespace)))
    return not_permitted("spec.extraCommonConfig", key.kind, key.name, key.namespace)


def invalid_spec(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each invalid value in the spec."""
    return tuple(Finding(reasons.INVALID_SPEC, str(problem)) for problem in validate(inputs.cluster, inputs.desired))


def missing_references(inputs: Inputs) -> tuple[Finding, ...]:
    """Return a finding for each missing reference: without its files every pod would restart."""
    return tuple(
        Finding(
            reasons.REFERENCE_NOT_FOUND,
            f"spec.extraCommonConfig: {key.kind} {key.name} in namespace {key.namespace} does not exist. "
            "Create it, or remove the reference. Nothing is changed before that.",
        )
        for key in missing_keys(inputs.cluster)
    )
