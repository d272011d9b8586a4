# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finalizers of a resource: which one is set, and whether ansible-operator has set it."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import below
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The field manager of ansible-operator.
OPERATOR = "ansible-operator"


def is_set(resource: Manifest, finalizer: str) -> bool:
    """True for a resource with the finalizer."""
    return finalizer in (resource["metadata"].get("finalizers") or ())


def is_set_by_operator(resource: Manifest, finalizer: str) -> bool:
    """True when ansible-operator has set the finalizer: its binary has written that field."""
    field = ("f:metadata", "f:finalizers", f'v:"{finalizer}"')
    entries = resource["metadata"].get("managedFields") or ()
    return is_set(resource, finalizer) and any(
        below(each.get("fieldsV1") or {}, *field) for each in entries if each.get("manager") == OPERATOR
    )
