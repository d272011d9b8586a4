# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Push metrics to ansible-operator: one connection, a limited time, and no failure of the reconcile."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 2.0
_HEADERS = {"Content-Type": "application/json"}


class PushError(Exception):
    """The endpoint rejected a metric, or did not respond in time."""


def push(url: str, bodies: Iterable[Mapping[str, Any]], timeout: float = TIMEOUT_SECONDS) -> None:
    """Post the bodies one after the other; PushError if the endpoint did not accept all of them in time."""
    deadline = time.monotonic() + timeout
    address = urlsplit(url)
    try:
        connection = HTTPConnection(address.hostname or "", address.port, timeout=timeout)
    except (HTTPException, ValueError) as error:
        raise PushError(f"The metrics cannot be pushed to {url}: {error}") from error
    try:
        connection.connect()
        refused = [each for each in (_push(connection, address.path, body, deadline) for body in bodies) if each]
    except (OSError, HTTPException) as error:
        raise PushError(f"The metrics could not be pushed to {url}: {error!r}") from error
    finally:
        connection.close()
    if refused:
        raise PushError(f"{url} rejected metrics: {refused[0]}")


def _push(connection: HTTPConnection, path: str, body: Mapping[str, Any], deadline: float) -> str | None:
    """Return why the metric was rejected, None if it was accepted."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    if connection.sock:
        connection.sock.settimeout(left)
    connection.request("POST", path, json.dumps(body).encode(), _HEADERS)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace").strip()
    return f"{body['name']}: {answer.status} {text}" if answer.status >= 300 else None
