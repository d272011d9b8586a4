# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Post metrics to ansible-operator: one connection, in bounded time, and never at the expense of the pass."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

PATIENCE_SECONDS = 2.0
_HEADERS = {"Content-Type": "application/json"}


class NotPosted(Exception):
    """The endpoint did not take a metric, or not in time."""


def post(url: str, bodies: Iterable[Mapping[str, Any]], patience: float = PATIENCE_SECONDS) -> None:
    """Post the bodies one after the other; NotPosted when the endpoint has not taken them all within the seconds."""
    deadline = time.monotonic() + patience
    address = urlsplit(url)
    try:
        connection = HTTPConnection(address.hostname or "", address.port, timeout=patience)
    except (HTTPException, ValueError) as error:
        raise NotPosted(f"The metrics cannot be posted to {url}: {error}") from error
    try:
        connection.connect()
        refused = [each for each in (_post(connection, address.path, body, deadline) for body in bodies) if each]
    except (OSError, HTTPException) as error:
        raise NotPosted(f"The metrics could not be posted to {url}: {error!r}") from error
    finally:
        connection.close()
    if refused:
        raise NotPosted(f"Metrics were refused by {url}: {refused[0]}")


def _post(connection: HTTPConnection, path: str, body: Mapping[str, Any], deadline: float) -> str | None:
    """Return why the metric was refused, None when it was not."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("it took too long")
    if connection.sock:
        connection.sock.settimeout(left)
    connection.request("POST", path, json.dumps(body).encode(), _HEADERS)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace").strip()
    return f"{body['name']}: {answer.status} {text}" if answer.status >= 300 else None
