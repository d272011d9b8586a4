# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Services that were removed from the spec of a group, and still resolve the names of its running pods.

The first Service of a group becomes the subdomain of its pods when they are created. Druid announces that name.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def subdomains(cluster: Cluster, observed: Observed) -> dict[str, list[str]]:
    """Return the names of Services that pods of the specified groups have as subdomain, each with these pods.

    Also those that the next pods will have until their StatefulSet is recreated.
    """
    found: dict[str, list[str]] = {name: [] for name in _coming(cluster, observed)}
    for group in cluster.groups:
        for pod in observed.pods_of(group):
            found.setdefault((pod.get("spec") or {}).get("subdomain", ""), []).append(pod["metadata"]["name"])
    return found


def retained_services(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each Service that stays although it was removed from the spec."""
    desired = {key_of(manifest) for _group, manifest in desired_objects(inputs.desired)}
    used = subdomains(inputs.cluster, inputs.live)
    found = (key_of(live) for live in inputs.live.of_kind("Service"))
    retained = sorted(key.name for key in found if key not in desired and used.get(key.name))
    return tuple(_warning(name, sorted(used[name])) for name in retained)


def _coming(cluster: Cluster, observed: Observed) -> Iterator[str]:
    sets = (
        live for group in cluster.groups if (live := observed.objects.get(ObjectKey("StatefulSet", group.unique_name)))
    )
    specs = (live.get("spec") or {} for live in sets)
    return (spec.get("serviceName", "") for spec in specs if spec.get("replicas", 1))


def _warning(name: str, pods: list[str]) -> str:
    return (
        f"Service {name} was removed from the spec, but is retained until no pod has it as its subdomain: "
        f"{join_limited(pods)}. A pod that is recreated has the first Service of its group as its subdomain."
    )
