# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Findings about a stored spec that does not have the CRD's schema. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import schema
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_REMEDY = "The value was stored under another version of the CRD. Change the field."


def spec_errors(kind: str, resource: Manifest) -> tuple[Finding, ...]:
    """Return a finding for each field of the wrong type: it was stored under an older schema."""
    problems = schema.schema_errors(schema.spec_of(kind), resource.get("spec"))
    return tuple(Finding(reasons.INVALID_SPEC, f"{problem}. {_REMEDY}") for problem in problems)
