# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All objects of a resource, in one namespace or in all, kept up to date by a list and a watch."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..api import ApiError
from .client import Client, GoneError, Json, Unanswered
from .kinds import Key, Resource, key_of

_LOG = logging.getLogger("informer")
_FIRST_PAUSE = 0.8
_LONGEST_PAUSE = 30.0


class What(Enum):
    """What has happened to an object."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


@dataclass(frozen=True)
class Change:
    """An object before and after; of one that is created before is after, of one that is deleted after is before."""

    what: What
    old: Json
    new: Json


class Informer:
    """Tells its handlers of each change, one after the other."""

    def __init__(self, client: Client, resource: Resource, namespace: str) -> None:
        self._client = client
        self._resource = resource
        self._path = resource.path(namespace)
        self._lock = threading.Lock()
        self._objects: dict[Key, Json] = {}
        self._handlers: list[Callable[[Change], None]] = []
        self._version = ""
        self.synced = threading.Event()

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name=f"informer {self._path}", daemon=True).start()

    def add_handler(self, handler: Callable[[Change], None]) -> None:
        """Tell the handler of what there is, as if it were created now, and of all changes from now on."""
        with self._lock:
            self._handlers.append(handler)
            known = list(self._objects.values())
        for document in known:
            handler(Change(What.CREATED, document, document))

    def get(self, key: Key) -> Json | None:
        """An object as it was last seen."""
        with self._lock:
            return self._objects.get(key)

    def all(self) -> list[Json]:
        """All of them."""
        with self._lock:
            return list(self._objects.values())

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            begin = time.monotonic()
            try:
                self._list_and_watch()
            except GoneError:
                _LOG.info("listing anew path=%s", self._path)
                self._version = ""
                continue
            except (ApiError, Unanswered, OSError, ValueError) as error:
                _LOG.info("interrupted path=%s error=%s", self._path, error)
                if isinstance(error, ApiError):
                    self._version = ""
            if time.monotonic() - begin > _LONGEST_PAUSE:
                pause = _FIRST_PAUSE
            time.sleep(pause * random.uniform(1, 2))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _list_and_watch(self) -> None:
        """Follow the changes for as long as nothing goes wrong: a watch that ends is taken up where it was."""
        if not self._version:
            self._list()
        while True:
            resume = f"{self._path}?allowWatchBookmarks=true&resourceVersion={self._version}"
            for event in self._client.watch(resume, random.randint(300, 600)):
                self._see(event)

    def _list(self) -> None:
        answer = self._client.request("GET", f"{self._path}?resourceVersion=0")
        # in a list only the list itself says what its items are
        kind = {"apiVersion": self._resource.kind.api_version, "kind": self._resource.kind.kind}
        found = {key_of(item): {**kind, **item} for item in answer["items"]}
        with self._lock:
            before, self._objects = self._objects, found
        self._version = answer["metadata"]["resourceVersion"]
        self.synced.set()
        for key, new in found.items():
            self._tell(before.get(key), new)
        for key in before.keys() - found.keys():
            self._tell(before[key], None)

    def _see(self, event: Json) -> None:
        document = event["object"]
        self._version = document["metadata"]["resourceVersion"]
        if event["type"] == "BOOKMARK":
            return
        key = key_of(document)
        with self._lock:
            old = self._objects.pop(key, None)
            if event["type"] != "DELETED":
                self._objects[key] = document
        if event["type"] == "DELETED":
            self._tell(document, None)
        else:
            self._tell(old, document)

    def _tell(self, old: Json | None, new: Json | None) -> None:
        if old is None and new is not None:
            change = Change(What.CREATED, new, new)
        elif new is None and old is not None:
            change = Change(What.DELETED, old, old)
        elif old is not None and new is not None:
            change = Change(What.UPDATED, old, new)
        for handler in list(self._handlers):
            handler(change)
