# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose objects a controller watches besides its own kind, and which resource a change of one of them is about."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator

from .cache import Cache
from .client import Json
from .informer import Change
from .kinds import Key, Kind, Resource, kind_of
from .owner import Owner
from .predicates import of_dependent
from .resources import Resources
from .watches import Watch

_LOG = logging.getLogger("dependents")
NAME_ANNOTATION = "operator-sdk/primary-resource"
TYPE_ANNOTATION = "operator-sdk/primary-resource-type"


class Dependents:
    """The watches of one controller; none is ever removed."""

    def __init__(self, watch: Watch, cache: Cache, resources: Resources, enqueue: Callable[[Key], None]) -> None:
        self._watch = watch
        self._cache = cache
        self._resources = resources
        self._enqueue = enqueue
        self._lock = threading.Lock()
        self._by_owner: set[Kind] = set()
        self._by_annotation: set[Kind] = set()

    @property
    def blacklist(self) -> frozenset[Kind]:
        """Kinds that are neither watched nor cached."""
        return self._watch.blacklist

    def watch(self, kind: Kind, *, by_owner: bool) -> None:
        """Watch the objects of a kind, unless that is so already or is not wanted."""
        if not self._watch.watch_dependent_resources or kind in self._watch.blacklist:
            return
        resource = self._resources.of_kind(kind)
        if not by_owner and not resource.namespaced and not self._watch.watch_cluster_scoped_resources:
            return
        if self._is_new(kind, self._by_owner if by_owner else self._by_annotation):
            _LOG.info("watching a child kind kind=%s for=%s", kind, self._watch.kind)
            self._cache.add_handler(resource, self._handler(by_owner))

    def recover(self, owner: Owner, document: Json) -> None:
        """Watch the kind of an object that was read for a resource of the owner's kind and belongs to one."""
        metadata = document["metadata"]
        references = metadata.get("ownerReferences") or []
        if any(kind_of(each) == owner.gvk for each in references):
            self.watch(kind_of(document), by_owner=True)
        if (metadata.get("annotations") or {}).get(TYPE_ANNOTATION) == owner.type_annotation:
            self.watch(kind_of(document), by_owner=False)

    def _is_new(self, kind: Kind, watched: set[Kind]) -> bool:
        with self._lock:
            if kind in watched:
                return False
            watched.add(kind)
            return True

    def _handler(self, by_owner: bool) -> Callable[[Change], None]:
        primary = self._resources.of_kind(self._watch.kind)
        keys = _owners if by_owner else _annotated

        def handle(change: Change) -> None:
            if of_dependent(change):
                for key in {*keys(change.old, primary), *keys(change.new, primary)}:
                    self._enqueue(key)

        return handle


def _owners(document: Json, primary: Resource) -> Iterator[Key]:
    """The owners of the kind, in whatever version they are referred to."""
    metadata = document["metadata"]
    for reference in metadata.get("ownerReferences") or []:
        kind = kind_of(reference)
        if (kind.group, kind.kind) == (primary.kind.group, primary.kind.kind):
            yield Key(metadata.get("namespace", "") if primary.namespaced else "", reference["name"])


def _annotated(document: Json, primary: Resource) -> Iterator[Key]:
    annotations = document["metadata"].get("annotations") or {}
    if annotations.get(TYPE_ANNOTATION) == f"{primary.kind.kind}.{primary.kind.group}":
        namespace, _slash, name = annotations[NAME_ANNOTATION].rpartition("/")
        yield Key(namespace, name)
