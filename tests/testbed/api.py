# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny JSON client for what the test bed runs: a Kubernetes API server, Druid."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import urllib3

# A file, and when it was written, in nanoseconds.
File = tuple[str, int]


class ApiError(RuntimeError):
    """A response that is an error."""

    def __init__(self, method: str, path: str, status: int, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {message}")
        self.status = status
        self.message = message


class Api:
    """
    One server, with one Authorization header and one client certificate, or without.

    A server that stops closes the connections that are kept, also between a request and its response. Without
    `keeps_connections`, each request has its own.
    """

    def __init__(
        self,
        url: str,
        *,
        authority: Path | None = None,
        authorization: str | None = None,
        certificate: tuple[Path, Path] | None = None,
        keeps_connections: bool = True,
    ) -> None:
        self._url = url
        self._headers = {"Authorization": authorization} if authorization else {}
        files = (authority, *(certificate or (None, None)))
        if not keeps_connections:
            self._headers["Connection"] = "close"
        self._pool = (_shared_pool if keeps_connections else _pool)(*map(_with_time, files))

    def request(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", timeout: float = 30
    ) -> Any:
        """
        The decoded response; a string if it is not JSON. A str or bytes body is sent as it is.

        OSError if there is no response. A redirect is an error.
        """
        headers = {**self._headers, "Content-Type": content_type, "User-Agent": "testbed"}
        try:
            response = self._pool.request(
                method,
                self._url + path,
                body=_encoded(body),
                headers=headers,
                timeout=timeout,
                redirect=False,
            )
        except urllib3.exceptions.HTTPError as error:
            raise OSError(f"{method} {path}: {error}") from error
        answer = _decoded(response)
        if response.status >= 300:
            raise ApiError(method, path, response.status, _message(answer))
        return answer


@lru_cache
def _shared_pool(authority: File | None, certificate: File | None, key: File | None) -> urllib3.PoolManager:
    """Connections that are kept, for all who trust the same and are trusted for the same: to make one is work."""
    return _pool(authority, certificate, key)


def _pool(authority: File | None, certificate: File | None, key: File | None) -> urllib3.PoolManager:
    files: dict[str, Any] = {"ca_certs": authority, "cert_file": certificate, "key_file": key}
    return urllib3.PoolManager(maxsize=8, retries=False, **{name: file and file[0] for name, file in files.items()})


def _with_time(file: Path | None) -> File | None:
    """A file, and when it was written: another server may have another authority in the same place."""
    return None if file is None else (str(file), file.stat().st_mtime_ns)


def _encoded(body: Any) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _message(answer: Any) -> str:
    """The message of an error: of Kubernetes in message, of Druid in errorMessage or error, otherwise plain text."""
    if not isinstance(answer, dict):
        return str(answer)
    return next((str(answer[key]) for key in ("message", "errorMessage", "error") if answer.get(key)), "")


def _decoded(response: urllib3.BaseHTTPResponse) -> Any:
    is_json = response.headers.get("Content-Type", "").partition(";")[0] == "application/json"
    return json.loads(response.data) if is_json and response.data else response.data.decode()
