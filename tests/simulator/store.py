# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stored objects: versions, generations, finalizers, deletion. Objects in the store are never modified in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.clock import Clock

Manifest = dict[str, Any]

# Kubernetes adds a finalizer for each propagation policy that needs the garbage collector.
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_PROPAGATION = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
# How many writes a cache can be behind.
PAST = 60
PVC_PROTECTION = "kubernetes.io/pvc-protection"


class Key(NamedTuple):
    """An object of the store."""

    kind: str
    namespace: str
    name: str


def key_of(live: Manifest) -> Key:
    return Key(live["kind"], live["metadata"].get("namespace", ""), live["metadata"]["name"])


@dataclass
class Store:
    """All objects. `version` changes with every write; `autoscaled`: workloads that had an autoscaler, by name.

    `past`: the objects before each of the last writes, the latest one last.
    """

    clock: Clock = field(default_factory=Clock)
    objects: dict[Key, Manifest] = field(default_factory=dict)
    version: int = 1000
    autoscaled: set[str] = field(default_factory=set)
    past: deque[dict[Key, Manifest]] = field(default_factory=lambda: deque(maxlen=PAST))

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self.objects.get(Key(kind, namespace, name))

    def of_kind(self, *kinds: str) -> list[Manifest]:
        """Return all objects of these kinds, by name."""
        found = (live for key, live in self.objects.items() if key.kind in kinds)
        return sorted(found, key=lambda live: str(live["metadata"]["name"]))

    def as_of(self, ages: Mapping[str, int]) -> Store:
        """Return the objects as a cache has them, which is behind by a number of writes for each kind; ``""``: others.

        An object of a kind is never older than another one of the same kind.
        """
        versions = [*self.past, self.objects]
        found = {
            key: live
            for age in {*ages.values(), 0}
            for key, live in versions[max(0, len(versions) - 1 - age)].items()
            if ages.get(key.kind, ages.get("", 0)) == age
        }
        return Store(self.clock, found, self.version)

    def by_uid(self, uid: str) -> Manifest | None:
        return next((live for live in self.objects.values() if live["metadata"]["uid"] == uid), None)

    def dependents(self, owner: Manifest) -> Iterator[tuple[Manifest, Manifest]]:
        """Yield each object with an owner reference to the owner, and that reference."""
        for live in [*self.objects.values()]:
            for reference in live["metadata"].get("ownerReferences") or ():
                if reference["uid"] == owner["metadata"]["uid"]:
                    yield live, reference

    def created(self, manifest: Manifest) -> Manifest:
        """Return a new object as it would be stored."""
        metadata = {**manifest["metadata"], "uid": f"uid-{self.version + 1}", "generation": 1}
        metadata |= {"creationTimestamp": self.clock.timestamp(), "resourceVersion": str(self.version + 1)}
        if manifest["kind"] == "PersistentVolumeClaim":
            metadata["finalizers"] = [*(metadata.get("finalizers") or ()), PVC_PROTECTION]
        return {**manifest, "metadata": metadata}

    def create(self, manifest: Manifest) -> Manifest:
        """Store a new object and return it."""
        assert key_of(manifest) not in self.objects, f"{key_of(manifest)} exists"
        return self._put(self.created(manifest))

    def updated(self, manifest: Manifest) -> Manifest:
        """Return an existing object as it would be stored; its generation counts changes of the spec."""
        live = self.objects[key_of(manifest)]
        if manifest == live:
            return live
        generation = live["metadata"]["generation"] + (_specification(live) != _specification(manifest))
        metadata = {**manifest["metadata"], "generation": generation, "resourceVersion": str(self.version + 1)}
        return {**manifest, "metadata": metadata}

    def update(self, manifest: Manifest) -> Manifest:
        """Store a new version of an object and return it. A terminating object without finalizers is removed."""
        after = self.updated(manifest)
        if after is self.objects[key_of(manifest)]:
            return after
        self._put(after)
        if is_terminating(after) and not after["metadata"].get("finalizers"):
            self._remove(after)
        return after

    def update_metadata(self, live: Manifest, **fields: Any) -> Manifest:
        return self.update({**live, "metadata": {**live["metadata"], **fields}})

    def delete(self, live: Manifest, propagation: str = "Background") -> None:
        """Delete an object, or begin to if finalizers, or the kubelet of a pod, have work to do first."""
        metadata = live["metadata"]
        finalizers = [each for each in metadata.get("finalizers") or () if each not in _PROPAGATION.values()]
        if propagation in _PROPAGATION:
            finalizers.append(_PROPAGATION[propagation])
        if not finalizers and live["kind"] != "Pod":
            self._remove(live)
        elif not is_terminating(live):
            since = {"deletionTimestamp": self.clock.timestamp(), "generation": metadata["generation"] + 1}
            version = {"resourceVersion": str(self.version + 1)}
            self._put({**live, "metadata": {**metadata, **since, **version, "finalizers": finalizers}})

    def remove_pod(self, pod: Manifest) -> None:
        """Remove a terminated pod, as its kubelet does."""
        self._remove(pod)

    def _put(self, live: Manifest) -> Manifest:
        self._remember()
        self.objects[key_of(live)] = live
        return live

    def _remove(self, live: Manifest) -> None:
        self._remember()
        del self.objects[key_of(live)]

    def _remember(self) -> None:
        self.version += 1
        self.past.append({**self.objects})


def _specification(live: Manifest) -> Manifest:
    return {name: value for name, value in live.items() if name not in ("metadata", "status")}


def reference_to(owner: Manifest, controller: bool = True) -> Manifest:
    """Return an owner reference."""
    metadata = owner["metadata"]
    identity = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return {**identity, "uid": metadata["uid"], "controller": controller, "blockOwnerDeletion": True}


def controller_of(live: Manifest) -> Manifest | None:
    """Return the owner reference of the controller."""
    references = live["metadata"].get("ownerReferences") or ()
    return next((each for each in references if each.get("controller")), None)


def matches(selector: Manifest, live: Manifest) -> bool:
    """True if the labels of the object match matchLabels."""
    labels = live["metadata"].get("labels") or {}
    return bool((selector.get("matchLabels") or {}).items() <= labels.items())
