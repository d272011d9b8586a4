# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inputs of a reconcile of a Note: the ConfigMap of its name."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


@dataclass(frozen=True)
class Observed:
    """A Note, and its ConfigMap if there is one."""

    resource: Manifest
    config_map: Manifest | None


def observe(api: KubernetesApi, resource: Manifest) -> Observed:
    """Read the ConfigMap."""
    metadata = resource["metadata"]
    return Observed(resource, api.get("ConfigMap", metadata["namespace"], metadata["name"]))
