# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a namespace goes, found out without the right to read namespaces."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    UNPROCESSABLE,
    ApiError,
)

# A quota, a missing right, a policy: of a namespace that goes the server says so before it asks any of them.
_REFUSALS = (FORBIDDEN, UNPROCESSABLE)


def is_namespace_terminating(api: KubernetesApi, namespace: str) -> bool:
    """Return whether nothing can be made there any more because it goes; asked by a dry run."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "generateName": "druidops-"}}
    try:
        api.create(probe, dry_run=True)
    except ApiError as error:
        if error.status not in _REFUSALS:
            raise
        return error.is_namespace_terminating
    return False
