# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small cluster that the Go operator accepts, too: each of its claims has a storage class."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest

# One of the control plane.
_STORAGE_CLASS = "standard"


def resource(name: str, replicas: int = 0) -> Manifest:
    """Return a Druid resource."""
    manifest = small_cluster.resource(name, small_cluster.spec(replicas=replicas))
    for node in manifest["spec"]["nodes"].values():
        for claim in node["volumeClaimTemplates"]:
            claim["spec"]["storageClassName"] = _STORAGE_CLASS
    return manifest
