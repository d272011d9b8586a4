# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A namespace with its controllers: what a history acts on."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.tests.simulator import (
    deployment,
    disruption,
    garbage_collector,
    horizontal_pod_autoscaler,
    kubelet,
    pvc_protection,
    stateful_set,
    storage_driver,
)
from ansible_collections.druidops.druid.tests.simulator.clock import Clock
from ansible_collections.druidops.druid.tests.simulator.server import Server
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

# More than any chain of reactions needs.
_MAX_ROUNDS = 200


@dataclass
class World:
    """A control plane. `load`: pods that an autoscaled workload needs. `broken_images`: why their pods are not ready.

    With `has_driver`, volumes have a capacity, and grow. Otherwise a test is the storage driver.
    """

    store: Store = field(default_factory=Store)
    load: dict[str, int] = field(default_factory=dict)
    broken_images: dict[str, kubelet.Failure] = field(default_factory=dict)
    has_driver: bool = False
    server: Server = field(init=False)

    def __post_init__(self) -> None:
        self.server = Server(self.store)

    @property
    def clock(self) -> Clock:
        return self.store.clock

    def api(self) -> KubernetesApi:
        """Return a connection. While a client sleeps, the controllers work."""
        return KubernetesApi("https://simulator", self.server, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.react()

    def react(self) -> None:
        """Let each controller look once at each of its objects."""
        stateful_set.sync(self.store)
        deployment.sync(self.store)
        horizontal_pod_autoscaler.sync(self.store, self.load)
        garbage_collector.sync(self.store)
        kubelet.sync(self.store, self._failure_of)
        disruption.sync(self.store)
        pvc_protection.sync(self.store)
        if self.has_driver:
            storage_driver.sync(self.store)

    def settle(self) -> None:
        """Let the controllers react until nothing changes any more, also not when ready pods have become available."""
        for _round in range(_MAX_ROUNDS):
            before = self.store.version
            self.react()
            if self.store.version == before:
                seconds = self._seconds_until_available()
                if not seconds:
                    return
                self.clock.advance(seconds)
        raise AssertionError("the controllers never come to rest")

    def _seconds_until_available(self) -> int:
        """Return how long pods that are ready have to be ready at most."""
        workloads = self.store.of_kind(*WORKLOADS)
        counts = ((live["spec"].get("minReadySeconds") or 0, live.get("status") or {}) for live in workloads)
        waiting = (
            seconds for seconds, status in counts if status.get("readyReplicas", 0) > status.get("availableReplicas", 0)
        )
        return max(waiting, default=0)

    def _failure_of(self, pod: Manifest) -> kubelet.Failure | None:
        return self.broken_images.get(pod["spec"]["containers"][0].get("image"))
