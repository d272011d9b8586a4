# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to the API server with the operator's own credentials."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml

from ..api import ApiError

Json = dict[str, Any]
# the errors of urllib3 without a response, or with half of one
NoAnswer = urllib3.exceptions.HTTPError
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 60.0
_EXPIRED = (410, 504)


class ExpiredError(RuntimeError):
    """A watch cannot be resumed: everything has to be listed again."""


class Client:
    """The API server of a kubeconfig's current context; the user has a token, and may impersonate another one."""

    def __init__(self, kubeconfig: Path) -> None:
        content = yaml.safe_load(kubeconfig.read_text())
        context = _named(content["contexts"], content["current-context"])["context"]
        cluster = _named(content["clusters"], context["cluster"])["cluster"]
        user = _named(content["users"], context["user"])["user"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._server: str = cluster["server"]
        self._headers = {"Authorization": f"Bearer {user['token']}", "User-Agent": "ansible-operator"}
        if "as" in user:
            self._headers["Impersonate-User"] = user["as"]
        self._pool = urllib3.PoolManager(ca_cert_data=authority, maxsize=64, retries=False)
        # by code and method
        self.requests: Counter[tuple[str, str]] = Counter()

    @property
    def host(self) -> str:
        """Host and port of the API server."""
        return self._server.partition("//")[2]

    def request(self, method: str, path: str, body: Json | None = None, *, timeout: float = _ANSWER_SECONDS) -> Json:
        """The decoded response; an ApiError if it is an error, NoAnswer if there is none."""
        answer = self.send(method, path, {"Content-Type": "application/json"}, body, timeout=timeout)
        data = json.loads(answer.read() or b"{}")
        answer.release_conn()
        if answer.status >= 400:
            raise ApiError(method, path, answer.status, str(data.get("message")))
        return dict(data)

    def watch(self, path: str, seconds: int) -> Iterator[Json]:
        """The events of a watch until the API server ends it; an ExpiredError if it cannot be resumed."""
        answer = self.send("GET", f"{path}&watch=true&timeoutSeconds={seconds}", {}, timeout=seconds + 30)
        try:
            if answer.status >= 400:
                raise _watch_error(path, answer.status, answer.read().decode(errors="replace"))
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise _watch_error(path, status.get("code", 0), str(status.get("message")))
                yield event
        finally:
            answer.close()

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Json | None = None,
        *,
        timeout: float = _ANSWER_SECONDS,
    ) -> urllib3.BaseHTTPResponse:
        """The response, of which only the status and headers have been read."""
        answer = self._pool.request(
            method,
            self._server + path,
            body=None if body is None else json.dumps(body).encode(),
            headers={**self._headers, **headers},
            timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=timeout),
            redirect=False,
            preload_content=False,
        )
        self.requests[str(answer.status), method] += 1
        return answer


def _named(entries: list[Json], name: str) -> Json:
    return next(entry for entry in entries if entry["name"] == name)


def _watch_error(path: str, status: int, message: str) -> Exception:
    return ExpiredError(path) if status in _EXPIRED else ApiError("WATCH", path, status, message)
