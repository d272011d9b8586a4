# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Push metrics to ansible-operator: one connection, a limited time, and no failure of the reconcile."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.plain_http import (
    NO_RESPONSE,
    Response,
    read_response,
)

TIMEOUT_SECONDS = 2.0


class PushError(Exception):
    """The endpoint rejected a metric, or did not respond in time."""


def push(url: str, bodies: Iterable[Mapping[str, Any]], timeout: float = TIMEOUT_SECONDS) -> None:
    """Post the bodies together; PushError if the endpoint, which takes one after the other, did not accept them all."""
    posted, address = [*bodies], urlsplit(url)
    try:
        responses = _send(address, b"".join(_request(address, body) for body in posted), len(posted), timeout)
    except NO_RESPONSE as error:
        raise PushError(f"The metrics could not be pushed to {url}: {error!r}") from error
    texts = (
        f"{body['name']}: {response.status} {response.data.decode('utf-8', 'replace').strip()}"
        for body, response in zip(posted, responses, strict=True)
        if response.status >= 300
    )
    if refused := next(texts, None):
        raise PushError(f"{url} rejected metrics: {refused}")


def _request(address: SplitResult, body: Mapping[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    head = f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def _send(address: SplitResult, requests: bytes, count: int, timeout: float) -> list[Response]:
    """Return the responses to so many requests. One of NO_RESPONSE if they are not there in time."""
    deadline, responses = time.monotonic() + timeout, []
    with socket.create_connection((address.hostname or "", address.port or 80), timeout) as connection:
        connection.sendall(requests)
        with connection.makefile("rb") as stream:
            for _response in range(count):
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                responses.append(read_response(stream))
    return responses
