# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What reads of the Kubernetes API have shown: the versions of the objects, which stay the same until one changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import NOT_FOUND

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3

_TIMEOUT_SECONDS = 10
_OK = 200
_MISSING = "not found"


def reading(status: int, data: bytes) -> str | None:
    """Return what a response shows: the uid and the resourceVersion of each object, in any order.

    None if that does not tell whether the next response is the same: an error, or an object without a version.
    """
    if status == NOT_FOUND:
        return _MISSING
    try:
        document: Any = json.loads(data) if status == _OK else None
        versions = [*map(_version, document["items"] or () if "items" in document else [document])]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return " ".join(sorted(versions))


def _version(manifest: Mapping[str, Any]) -> str:
    metadata = manifest["metadata"]
    return f"{metadata['uid']}/{metadata['resourceVersion']}"


@dataclass
class RecordingTransport:
    """Sends by ``transport`` to ``server``, and records what each read has shown, by URL.

    ``is_complete`` is False after a request that another one cannot be compared with: a write, an error, or a second
    read that has shown something else.
    """

    transport: Transport
    server: str
    readings: dict[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    is_complete: bool = True

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send. An error of the connection is recorded, too."""
        is_complete, self.is_complete = self.is_complete, False
        answer = self.transport.request(method, url, **arguments)
        shown = reading(answer.status, answer.data) if method == "GET" else None
        self.is_complete = is_complete and shown is not None and self.readings.setdefault(url, shown) == shown
        self.headers = arguments["headers"]
        return answer


def connection(server: str, headers: Mapping[str, str]) -> KubernetesApi:
    """Return a connection to the server, with the headers of the recorded reads."""
    return KubernetesApi(server, urllib3.PoolManager(), partial(urllib3.HTTPHeaderDict, headers))


def read(api: KubernetesApi, url: str) -> str | None:
    """Return what a read shows; None if there is no response that can be compared."""
    limits = {"timeout": _TIMEOUT_SECONDS, "retries": urllib3.Retry(0)}
    try:
        answer = api.transport.request("GET", url, headers=api.headers(), **limits)
    except urllib3.exceptions.HTTPError:
        return None
    return reading(answer.status, answer.data)
