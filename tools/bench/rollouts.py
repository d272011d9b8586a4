# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout of seven groups by the operator: how much longer it takes than its pods take to start."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from testbed.control_plane import ControlPlane
from testbed.operator.started import which_program

from .clusters import NAMESPACE, resource
from .measure import verdict
from .measured_operator import lay_out, started

TYPES = ("historical", "middleManager", "indexer", "broker", "router", "overlord", "coordinator")
REPLICAS = 2
# A short time for a pod of Druid, so that the operator's share is large.
READY_SECONDS = 15
TARGET = 1.3
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_DRUIDS = f"/apis/druid.apache.org/v1alpha1/namespaces/{NAMESPACE}/druids"
_NAME = "rolling"
_LONGEST_SECONDS = 1800
_USER = "person"


def cluster() -> dict[str, Any]:
    """Return a cluster of seven StatefulSets, whose pods need some time until they are ready."""
    found = resource(_NAME, len(TYPES))
    groups = found["spec"]["nodes"].values()
    found["spec"]["nodes"] = {
        f"{kind.lower()}s": {**group, "nodeType": kind, "kind": "StatefulSet", "replicas": REPLICAS}
        for kind, group in zip(TYPES, groups, strict=True)
    }
    found["spec"]["podAnnotations"] = {"test/ready-delay": f"{READY_SECONDS}s"}
    return found


@dataclass
class Watched:
    """When each new pod was first seen, and when it was first seen ready, by uid."""

    plane: ControlPlane
    old: frozenset[str]
    groups: dict[str, str] = field(default_factory=dict)
    created: dict[str, float] = field(default_factory=dict)
    ready: dict[str, float] = field(default_factory=dict)

    def look(self) -> bool:
        """Return whether all pods are new and ready."""
        pods = _pods(self.plane)
        now = time.monotonic()
        for uid, pod in pods.items():
            if uid not in self.old:
                self.groups[uid] = pod["metadata"]["labels"]["nodeSpecUniqueStr"]
                self.created.setdefault(uid, now)
                if _is_ready(pod):
                    self.ready.setdefault(uid, now)
        return len(self.ready) >= REPLICAS * len(TYPES) and not pods.keys() & self.old

    @property
    def start_seconds(self) -> float:
        return sum(self.ready[uid] - since for uid, since in self.created.items())

    def pauses(self) -> list[float]:
        """Return the times between the last ready pod of a group and the first new one of the next."""
        spans: dict[str, list[float]] = {}
        for uid, group in self.groups.items():
            spans.setdefault(group, []).extend((self.created[uid], self.ready[uid]))
        ordered = sorted((min(times), max(times)) for times in spans.values())
        return [after[0] - before[1] for before, after in pairwise(ordered)]


def measure(plane: ControlPlane, scratch: Path) -> None:
    """Roll out another image, and compare its duration with the sum of the pods' start times."""
    print(f"A rollout of {len(TYPES)} groups of {REPLICAS} pods, which are ready after {READY_SECONDS} s", flush=True)
    print(f"{which_program()}, Kubernetes {plane.kubernetes.release}, {os.cpu_count()} processors, load {_load()}")
    image = lay_out(scratch / "image")
    with started(plane, image, scratch / "rollout") as operator:
        plane.request("POST", _DRUIDS, cluster(), user=_USER)
        _until(lambda: _is_settled(plane))
        operator.settle([_NAME])
        watched = Watched(plane, frozenset(_pods(plane)))
        begin, runs = time.monotonic(), len(operator.lines())
        change = {"spec": {"image": "apache/druid:34.0.0"}}
        plane.request("PATCH", f"{_DRUIDS}/{_NAME}", change, user=_USER, content_type="application/merge-patch+json")
        _until(watched.look)
        took = time.monotonic() - begin
        _until(lambda: _is_settled(plane))
        runs = len(operator.lines()) - runs
    pauses = watched.pauses()
    print(f"  {took:.1f} s, start times of all pods {watched.start_seconds:.1f} s, {runs} reconciles, load {_load()}")
    print(f"  until the next group: median {median(pauses):.1f} s, at most {max(pauses):.1f} s", flush=True)
    verdict("a rollout takes at most 1.3 times the start times of its pods", took / watched.start_seconds, TARGET, "")


def _until(condition: Any) -> None:
    end = time.monotonic() + _LONGEST_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the rollout does not end")
        time.sleep(0.1)


def _pods(plane: ControlPlane) -> dict[str, dict[str, Any]]:
    return {pod["metadata"]["uid"]: pod for pod in plane.request("GET", _PODS, user=_USER)["items"]}


def _is_settled(plane: ControlPlane) -> bool:
    return _is_ready(plane.request("GET", f"{_DRUIDS}/{_NAME}", user=_USER))


def _is_ready(found: Mapping[str, Any]) -> bool:
    conditions = found.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _load() -> str:
    return ", ".join(f"{each:.1f}" for each in os.getloadavg())
