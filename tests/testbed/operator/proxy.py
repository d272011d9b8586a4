# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server for runs: reads are answered from the cache if possible, everything else by the API server."""

from __future__ import annotations

import json
import logging
import re
import threading
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from ..api import ApiError
from .cache import Cache, NotSyncedError
from .client import Client, Json, NoAnswer
from .dependents import Dependents
from .http_servers import Request, Response
from .kinds import Discovery, Key, Kind, NoSuchResourceError, Resource
from .owner import requesting_owner

_LOG = logging.getLogger("proxy")
_NAMESPACED = r"(?:namespaces/(?P<namespace>[^/]+)/)?"
_PATH = re.compile(
    rf"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)/{_NAMESPACED}(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/status)?"
)
_EQUALITIES = re.compile(r"(?:[\w./-]+=[\w.-]*(?:,|$))*")
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Proxy:
    """Answers the requests of runs; owned objects that they read by name are watched from then on."""

    client: Client
    cache: Cache
    discovery: Discovery
    dependents: dict[Kind, Dependents]

    def answer(self, request: Request) -> Response:
        """The response to a run. This stand-in answers reads only: our runs write without the proxy."""
        if request.method != "GET":
            return Response(501, b"the stand-in's proxy answers reads only\n")
        try:
            owner = requesting_owner(request.headers.get("authorization"))
            found = self._cached(request.url)
        except ValueError:
            return Response(500, b"Could not get owner reference\n")
        except (NoSuchResourceError, NotSyncedError, ApiError, NoAnswer):
            found = None
        if found is None:
            return self._pass_on(request)
        if owner and "items" not in found and owner.gvk in self.dependents:
            threading.Thread(target=self.dependents[owner.gvk].read, args=(found,), daemon=True).start()
        _LOG.info("Read object from cache path=%s", request.url)
        return Response(200, json.dumps(found).encode(), {**_JSON, "X-Cache": "HIT"})

    def _cached(self, url: str) -> Json | None:
        """The object or the list; None if only the API server can answer."""
        path, query = urlsplit(url).path, parse_qs(urlsplit(url).query)
        match = _PATH.fullmatch(unquote(path))
        selector = query.get("labelSelector", [""])[0]
        if match is None or query.keys() & {"watch", "fieldSelector"} or not _EQUALITIES.fullmatch(selector):
            return None
        namespace = match["namespace"] or ""
        if not self.cache.covers(namespace):
            return None
        resource = self.discovery.of_plural(match["group"] or "", match["version"], match["plural"])
        if not resource.cacheable:
            return None
        if match["name"]:
            return self.cache.get(resource, Key(namespace, match["name"]))
        return self._list(resource, namespace, dict(each.split("=") for each in selector.split(",") if each))

    def _list(self, resource: Resource, namespace: str, labels: dict[str, str]) -> Json:
        found = self.cache.all(resource, namespace)
        return {
            "apiVersion": resource.kind.api_version,
            "kind": f"{resource.kind.kind}List",
            "metadata": {},
            "items": [each for each in found if labels.items() <= (each["metadata"].get("labels") or {}).items()],
        }

    def _pass_on(self, request: Request) -> Response:
        """Ask the API server as the operator, whatever the credentials of the run are."""
        agent = {"User-Agent": request.headers.get("user-agent", "")}
        try:
            answer = self.client.send("GET", request.url, {**agent, "Accept": request.headers.get("accept", "*/*")})
            content = answer.read()
        except NoAnswer as error:
            return Response(502, f"{error}\n".encode())
        answer.release_conn()
        return Response(answer.status, content, {"Content-Type": answer.headers.get("Content-Type", "")})
