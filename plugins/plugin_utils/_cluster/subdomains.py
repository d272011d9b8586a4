# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Services that resolve the names of running pods.

The first Service of a group becomes the subdomain of its pods when they are created. Druid announces that name.
"""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster


def subdomains(cluster: Cluster, observed: Observed) -> dict[str, set[str]]:
    """Return the Services that pods of the specified groups have as subdomain, each with the keys of the groups.

    Without a key: the next pods will have it, until their StatefulSet is recreated.
    """
    found: dict[str, set[str]] = {name: set() for name in next_subdomains(cluster, observed)}
    for group in cluster.groups:
        for pod in observed.pods_of(group):
            found.setdefault((pod.get("spec") or {}).get("subdomain", ""), set()).add(group.key)
    return found


def next_subdomains(cluster: Cluster, observed: Observed) -> dict[str, set[str]]:
    """Return the Services that the next pods of the specified groups will have as subdomain, with the groups."""
    found: dict[str, set[str]] = {}
    for group in cluster.groups:
        live = observed.objects.get(ObjectKey("StatefulSet", group.unique_name))
        spec = (live or {}).get("spec") or {}
        if live is not None and spec.get("replicas", 1):
            found.setdefault(spec.get("serviceName", ""), set()).add(group.key)
    return found
