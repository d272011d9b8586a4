# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watches on what the resources of a kind own; they exist only since a run has read an owned object by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from .cache import Cache
from .client import Json
from .kinds import Discovery, Key, Kind, kind_of


class Dependents:
    """The owned kinds that a controller watches; `enqueue` is called with the owner's key."""

    def __init__(self, owner: Kind, cache: Cache, discovery: Discovery, enqueue: Callable[[Key], None]) -> None:
        self._owner = owner
        self._cache = cache
        self._discovery = discovery
        self._enqueue = enqueue
        self._lock = threading.Lock()
        self._watched: set[Kind] = set()

    def read(self, document: Json) -> None:
        """Watch the kind of an object that was read from the cache, if the object has an owner of ours."""
        kind = kind_of(document)
        if next(self._owners(document), None) is None:
            return
        with self._lock:
            if kind in self._watched:
                return
            self._watched.add(kind)
        self._cache.add_handler(self._discovery.of_kind(kind), self._handle)

    def _handle(self, old: Json | None, new: Json | None) -> None:
        if is_cause(old, new):
            for key in {key for document in (old, new) if document for key in self._owners(document)}:
                self._enqueue(key)

    def _owners(self, document: Json) -> Iterator[Key]:
        """The owners of the kind, whatever version of it the references name."""
        metadata = document["metadata"]
        for reference in metadata.get("ownerReferences") or []:
            kind = kind_of(reference)
            if (kind.group, kind.kind) == (self._owner.group, self._owner.kind):
                yield Key(metadata["namespace"], reference["name"])


def is_cause(old: Json | None, new: Json | None) -> bool:
    """Whether a change of an owned object starts a run: a deletion, or an update not of the status alone."""
    if old is None or new is None:
        return new is None
    return _without_noise(old) != _without_noise(new)


def _without_noise(document: Json) -> Json:
    metadata: dict[str, Any] = {**document["metadata"], "resourceVersion": ""}
    fields = [{**entry, "time": None} for entry in metadata.get("managedFields") or []]
    return {**document, "metadata": {**metadata, "managedFields": fields}, "status": None}
