# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who uses a PVC of a namespace, or may use it again: pods, StatefulSets, and pod templates that name it. Pure.

All of the namespace count, also those of other owners: the labels of a PVC do not name the pods that mount it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import (
    claim_names,
    place_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.external_autoscalers import may_be_autoscaled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import replicas_before_stop
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    first_ordinal,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The kinds that must be listed to know it.
KINDS = ("Pod", "StatefulSet", "Deployment", "HorizontalPodAutoscaler")
_NO_ORDINAL = 10**9


class Orphan(NamedTuple):
    """What a PVC belonged to: the name of a StatefulSet, and the pods that the spec requests; None: it is removed."""

    workload: str
    replicas: int | None


class Users(NamedTuple):
    """The objects of a namespace that decide whether a PVC is used."""

    pods: tuple[Manifest, ...] = ()
    stateful_sets: tuple[Manifest, ...] = ()
    deployments: tuple[Manifest, ...] = ()
    autoscalers: tuple[Manifest, ...] = ()

    def usage(self, name: str, orphan: Orphan) -> str | None:
        """Return why a PVC is used or may be used again, as a clause; None if it is orphaned.

        `orphan`: the StatefulSet that it belonged to. While that is specified, it must exist, to know what it needs.
        """
        found = (*self._mounts(name), *self._templates(name), *self._claims(name, orphan))
        own = [live for live in self.stateful_sets if live["metadata"]["name"] == orphan.workload]
        missing = orphan.replicas is not None and not own
        return next(iter(found), f"StatefulSet {orphan.workload} does not exist" if missing else None)

    def _mounts(self, name: str) -> Iterator[str]:
        for pod in self.pods:
            if name in claim_names(pod):
                yield f"pod {pod['metadata']['name']} mounts it"

    def _templates(self, name: str) -> Iterator[str]:
        for workload in (*self.stateful_sets, *self.deployments):
            if name in claim_names({**workload["spec"]["template"], "metadata": workload["metadata"]}):
                yield f"{workload['kind']} {workload['metadata']['name']} mounts it"

    def _claims(self, name: str, orphan: Orphan) -> Iterator[str]:
        """Yield each StatefulSet that finds the PVC by its name, and needs it."""
        for live in self.stateful_sets:
            own, place = live["metadata"]["name"], place_of(name)
            is_named = place is not None and place[0] in {f"{template}-{own}" for template in template_names(live)}
            if own == orphan.workload and orphan.replicas is not None:
                if not is_named:
                    yield f"StatefulSet {own} has no template for it"
                elif place is not None and place[1] < self._needed(live, orphan.replicas):
                    yield f"StatefulSet {own} needs it"
            elif is_named or own == orphan.workload:
                yield f"it may belong to StatefulSet {own}"

    def _needed(self, stateful_set: Manifest, specified: int) -> int:
        """Return the ordinal from which no pod can need a PVC again.

        There is none without replicas, and none while an autoscaler is deleted, maybe to be created again: KEDA deletes
        it during a pause.
        """
        maximum = self._maximum(stateful_set)
        needed = max(specified, replicas(stateful_set), replicas_before_stop(stateful_set), maximum)
        is_unbounded = not needed or (not maximum and may_be_autoscaled(stateful_set))
        return _NO_ORDINAL if is_unbounded else first_ordinal(stateful_set) + needed

    def _maximum(self, stateful_set: Manifest) -> int:
        key = (stateful_set["kind"], stateful_set["metadata"]["name"])
        specs: Iterator[Mapping[str, Any]] = (each["spec"] for each in self.autoscalers)
        targets = ((spec["scaleTargetRef"], int(spec["maxReplicas"])) for spec in specs)
        return max((maximum for target, maximum in targets if (target["kind"], target["name"]) == key), default=0)
