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

from ..api import ApiError
from .client import Client, ExpiredError, Json, NoAnswer
from .kinds import Key, Resource, key_of

# Called with an object before and after a change: None before its creation, None after its deletion.
Handler = Callable[[Json | None, Json | None], None]

_LOG = logging.getLogger("informer")
_FIRST_PAUSE_SECONDS = 0.8
_LONGEST_PAUSE_SECONDS = 30.0


class Informer:
    """Calls its handlers for each change, one change after the other."""

    def __init__(self, client: Client, resource: Resource, namespace: str) -> None:
        self._client = client
        self._resource = resource
        self._path = resource.path(namespace)
        self._lock = threading.Lock()
        self._objects: dict[Key, Json] = {}
        self._handlers: list[Handler] = []
        self._version = ""
        self.synced = threading.Event()
        threading.Thread(target=self._run, name=f"informer {self._path}", daemon=True).start()

    def add_handler(self, handler: Handler) -> None:
        """Call the handler for all current objects, as if they were created now, and for all changes from now on."""
        with self._lock:
            self._handlers.append(handler)
            known = list(self._objects.values())
        for document in known:
            handler(None, document)

    def get(self, key: Key) -> Json | None:
        """The last known state of an object."""
        with self._lock:
            return self._objects.get(key)

    def all(self) -> list[Json]:
        """The last known state of all objects."""
        with self._lock:
            return list(self._objects.values())

    def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            begin = time.monotonic()
            try:
                self._list_and_watch()
            except ExpiredError:
                self._version = ""
                continue
            except (ApiError, NoAnswer, OSError, ValueError) as error:
                _LOG.info("interrupted path=%s error=%s", self._path, error)
                if isinstance(error, ApiError):
                    self._version = ""
            if time.monotonic() - begin > _LONGEST_PAUSE_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            time.sleep(pause * random.uniform(1, 2))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _list_and_watch(self) -> None:
        """Follow the changes until something fails; a watch that ends is resumed."""
        if not self._version:
            self._list()
        while True:
            resume = f"{self._path}?allowWatchBookmarks=true&resourceVersion={self._version}"
            for event in self._client.watch(resume, random.randint(300, 600)):
                self._apply(event)

    def _list(self) -> None:
        answer = self._client.request("GET", f"{self._path}?resourceVersion=0")
        # the items of a list do not have these themselves
        kind = {"apiVersion": self._resource.kind.api_version, "kind": self._resource.kind.kind}
        found = {key_of(item): {**kind, **item} for item in answer["items"]}
        with self._lock:
            before, self._objects = self._objects, found
        self._version = answer["metadata"]["resourceVersion"]
        self.synced.set()
        for key in before.keys() | found.keys():
            self._notify(before.get(key), found.get(key))

    def _apply(self, event: Json) -> None:
        document = event["object"]
        self._version = document["metadata"]["resourceVersion"]
        if event["type"] == "BOOKMARK":
            return
        key = key_of(document)
        with self._lock:
            old = self._objects.pop(key, None)
            if event["type"] != "DELETED":
                self._objects[key] = document
        self._notify(*((document, None) if event["type"] == "DELETED" else (old, document)))

    def _notify(self, old: Json | None, new: Json | None) -> None:
        for handler in list(self._handlers):
            handler(old, new)
