# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a namespace is terminating, without permission to read namespaces."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    UNPROCESSABLE,
    ApiError,
)

# A quota, a missing permission, a policy: the server checks for a terminating namespace before any of them.
_REFUSALS = (FORBIDDEN, UNPROCESSABLE)


def is_namespace_terminating(api: KubernetesApi, namespace: str) -> bool:
    """Return whether the namespace is terminating, by a dry run of a create."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "generateName": "druidops-"}}
    try:
        api.create(probe, dry_run=True)
    except ApiError as error:
        if error.status not in _REFUSALS:
            raise
        return error.is_namespace_terminating
    return False
