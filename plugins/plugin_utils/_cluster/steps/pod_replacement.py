# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the write of a workload does to its running pods, and what of it does not wait until they may be replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Restart
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    partition,
    released_pods,
    replicas,
    template_names,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The pod template, and what may have kept pods of an old revision so far.
TEMPLATE, WITH_STRATEGY = ("template",), ("template", "updateStrategy")


@dataclass(frozen=True)
class PodReplacement:
    """The replacement of pods as the workload specifies it. A feature that replaces them otherwise has a subclass."""

    def restart(self, live: Manifest, after: Manifest) -> Restart:
        """Return what the write does to pods; `after` is the workload afterwards."""
        released = self.released(live, after) if live["kind"] == "StatefulSet" else 0
        outdates = _outdates_pods(live, after)
        if not outdates or waits_for_deletion(after):
            return Restart(0 if outdates else released, outdates, released)
        return Restart(max(0, min(replicas(live), replicas(after)) - self.kept(after)), outdates, released)

    def kept(self, after: Manifest) -> int:
        """Return how many pods with another template the controller does not replace, counted from the first one."""
        return partition(after)

    def released(self, live: Manifest, after: Manifest) -> int:
        """Return how many pods of an old revision are replaced that the update strategy has kept so far."""
        return released_pods(live, after)

    def waiting_fields(self, live: Manifest, manifest: Manifest, restart: Restart) -> tuple[str, ...]:
        """Return the fields of the spec that are not written before the pods may be replaced."""
        return WITH_STRATEGY if restart.released else TEMPLATE

    def annotations_before(self, live: Manifest, manifest: Manifest, restart: Restart) -> Mapping[str, str | None]:
        """Return the annotations that the workload has until then, None: not any more, if they are not the desired."""
        return {}


AS_SPECIFIED = PodReplacement()


def _outdates_pods(live: Manifest, after: Manifest) -> bool:
    """True when running pods have another template or subdomain than the workload, or no volume of a claim template."""
    subdomains = {each["spec"].get("serviceName") or "" for each in (live, after)}
    added_claims = {*template_names(after)} - {*template_names(live)}
    return live["spec"]["template"] != after["spec"]["template"] or len(subdomains) > 1 or bool(added_claims)
