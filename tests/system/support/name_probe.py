# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watches continuously whether the names of ready pods in DNS resolve: what CoreDNS would answer from.

That is an endpoint with the hostname of the pod, in an EndpointSlice of the headless Service that is its subdomain.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

Name = tuple[str, str, str]


@dataclass
class NameProbe:
    """What was seen: `lost` are the names that resolved, and then did not, although their pod was ready."""

    live: NamespaceClient
    resolved: set[Name] = field(default_factory=set)
    lost: set[Name] = field(default_factory=set)
    probes: int = 0

    def look(self) -> None:
        """Compare the pods that are ready before and after with the names that resolve in between."""
        before = self._ready()
        names = self._names()
        during = before & self._ready()
        self.lost |= (during & self.resolved) - names
        self.resolved |= during & names
        self.probes += 1

    def _ready(self) -> set[Name]:
        """Return uid, hostname and subdomain of each ready pod."""
        pods = [pod for pod in self.live.list("Pod") if pod["spec"].get("subdomain") and _is_ready(pod)]
        return {(pod["metadata"]["uid"], pod["spec"]["hostname"], pod["spec"]["subdomain"]) for pod in pods}

    def _names(self) -> set[Name]:
        """Return the same of the ready endpoints of all headless Services."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self.live.namespace}/endpointslices"
        slices = self.live.plane.request("GET", path, user="person")["items"]
        headless = {
            each["metadata"]["name"] for each in self.live.list("Service") if each["spec"].get("clusterIP") == "None"
        }
        return {
            (endpoint["targetRef"]["uid"], endpoint["hostname"], service)
            for each in slices
            if (service := each["metadata"]["labels"]["kubernetes.io/service-name"]) in headless
            for endpoint in each["endpoints"] or ()
            if endpoint.get("hostname") and endpoint["conditions"].get("ready")
        }


def _is_ready(pod: Manifest) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and is_ready(pod.get("status", {}).get("conditions") or ())


@contextmanager
def names_resolve(live: NamespaceClient) -> Iterator[NameProbe]:
    """Probe until the end of the block, and assert that no name was lost."""
    probe, is_over = NameProbe(live), threading.Event()
    probe.look()

    def run() -> None:
        while not is_over.is_set():
            probe.look()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield probe
    finally:
        is_over.set()
        thread.join()
    probe.look()
    assert probe.lost == set()
    assert probe.resolved
    assert probe.probes > 2
