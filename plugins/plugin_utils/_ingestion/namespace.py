# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a namespace goes, found out without the right to read namespaces."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi


def is_terminating(api: KubernetesApi, namespace: str) -> bool:
    """Return whether nothing can be made there any more; asked by a dry run."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "generateName": "druidops-"}}
    try:
        api.create(probe, dry_run=True)
    except ApiError as error:
        if not error.is_of_terminating_namespace:
            raise
        return True
    return False
