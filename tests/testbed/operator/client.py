# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server, with the operator's own credentials."""

from __future__ import annotations

import base64
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3
import yaml

from ..api import ApiError
from .token_bucket import TokenBucket

Json = dict[str, Any]
# what urllib3 raises when there is no answer, or half of one
Unanswered = urllib3.exceptions.HTTPError
_CONNECT = 10.0
_ANSWER = 60.0


class GoneError(RuntimeError):
    """A watch cannot go on from where it was: everything has to be listed again."""


@dataclass(frozen=True)
class Credentials:
    """Where the API server is and how to speak to it."""

    server: str
    authority: str
    headers: Mapping[str, str] = field(repr=False)


def credentials(kubeconfig: Path) -> Credentials:
    """Those of the current context of a kubeconfig with a token, who may act as another user."""
    content = yaml.safe_load(kubeconfig.read_text())
    context = _named(content["contexts"], content["current-context"])["context"]
    cluster = _named(content["clusters"], context["cluster"])["cluster"]
    user = _named(content["users"], context["user"])["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    headers = {"Authorization": f"Bearer {user['token']}"}
    if "as" in user:
        headers["Impersonate-User"] = user["as"]
    return Credentials(cluster["server"], authority, headers)


def _named(entries: list[Json], name: str) -> Json:
    return next(entry for entry in entries if entry["name"] == name)


class Client:
    """Requests of the operator itself, and those that the proxy passes on."""

    def __init__(self, whose: Credentials) -> None:
        self._whose = whose
        self._pool = urllib3.PoolManager(ca_cert_data=whose.authority, maxsize=64, retries=False)
        # client-go's default in controller-runtime
        self._bucket = TokenBucket(20, 30)
        # by code and method, those of the proxy left out
        self.requests: Counter[tuple[str, str]] = Counter()

    @property
    def host(self) -> str:
        """Host and port of the API server."""
        return urllib3.util.parse_url(self._whose.server).netloc or ""

    def request(self, method: str, path: str, body: Json | None = None, *, timeout: float = _ANSWER) -> Json:
        """The decoded answer; an ApiError if it is an error, Unanswered if there is none."""
        time.sleep(self._bucket.reserve())
        headers = {"Content-Type": "application/json", "User-Agent": "ansible-operator"}
        content = None if body is None else json.dumps(body).encode()
        answer = self.forward(method, path, headers, content, urllib3.Timeout(connect=_CONNECT, read=timeout))
        data = json.loads(answer.read() or b"{}")
        answer.release_conn()
        self.requests[str(answer.status), method] += 1
        if answer.status >= 400:
            raise ApiError(method, path, answer.status, str(data.get("message")))
        return dict(data)

    def watch(self, path: str, seconds: int) -> Iterator[Json]:
        """The events of a watch, until the API server ends it; a GoneError if it cannot go on."""
        headers = {"User-Agent": "ansible-operator"}
        timeout = urllib3.Timeout(connect=_CONNECT, read=seconds + 30)
        answer = self.forward("GET", f"{path}&watch=true&timeoutSeconds={seconds}", headers, None, timeout)
        self.requests[str(answer.status), "GET"] += 1
        try:
            if answer.status == 410:
                raise GoneError(path)
            if answer.status >= 400:
                raise ApiError("WATCH", path, answer.status, answer.read().decode(errors="replace"))
            for line in answer:
                event = json.loads(line)
                _raise_for(event, path)
                yield event
        finally:
            answer.close()

    def forward(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: urllib3.Timeout | None = None,
    ) -> urllib3.BaseHTTPResponse:
        """The answer, of which nothing but the status and headers has been read."""
        return self._pool.request(
            method,
            self._whose.server + path,
            body=body,
            headers={**self._whose.headers, **headers},
            timeout=timeout or urllib3.Timeout(connect=_CONNECT),
            redirect=False,
            preload_content=False,
            decode_content=False,
        )


def _raise_for(event: Json, path: str) -> None:
    if event["type"] == "ERROR":
        status = event["object"]
        if status.get("code") in (410, 504):
            raise GoneError(path)
        raise ApiError("WATCH", path, status.get("code", 0), str(status.get("message")))
