# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny JSON client for what the test bed runs: a Kubernetes API server, Druid."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from http.client import HTTPResponse
from pathlib import Path
from typing import Any


class ApiError(RuntimeError):
    """An answer that is an error."""

    def __init__(self, method: str, path: str, status: int, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {message}")
        self.status = status
        self.message = message


class Api:
    """One server, spoken to with one Authorization header and one client certificate, or without."""

    def __init__(
        self,
        url: str,
        *,
        authority: Path | None = None,
        authorization: str | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self._url = url
        self._headers = {"Authorization": authorization} if authorization else {}
        context = ssl.create_default_context(cafile=authority and str(authority))
        if certificate:
            context.load_cert_chain(*certificate)
        # proxies of the environment are not meant for loopback
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", timeout: float = 30
    ) -> Any:
        """The decoded answer; text where it is no JSON. A str or bytes body is sent as it is."""
        headers = {**self._headers, "Content-Type": content_type, "User-Agent": "testbed"}
        request = urllib.request.Request(self._url + path, data=_encoded(body), headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=timeout) as response:
                return _decoded(response)
        except urllib.error.HTTPError as error:
            answer = _decoded(error)
            raise ApiError(method, path, error.code, _message(answer)) from error


def _encoded(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _message(answer: Any) -> str:
    """What Kubernetes says in message, Druid in errorMessage or error, and everybody else in plain text."""
    if not isinstance(answer, dict):
        return str(answer)
    return next((str(answer[key]) for key in ("message", "errorMessage", "error") if answer.get(key)), "")


def _decoded(response: HTTPResponse | urllib.error.HTTPError) -> Any:
    content = response.read()
    is_json = response.headers.get_content_type() == "application/json"
    return json.loads(content) if is_json and content else content.decode()
