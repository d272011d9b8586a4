# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Revisions as an interrupted run of Helm leaves them, or a user who can write its Secrets."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def pending(
    live: NamespaceClient,
    secret: dict[str, Any],
    number: int,
    state: str,
    begun: str = "",
    *,
    objects: str = "",
    values: dict[str, Any] | None = None,
) -> None:
    """Create a revision after that of the Secret, in this state, begun at the same time or at another one.

    It has further objects, and other values.
    """
    release = _decoded(secret)
    release["manifest"] += f"---\n{objects}" if objects else ""
    release["config"] = release.get("config") if values is None else values
    release["version"], release["info"]["status"] = number, state
    release["info"]["last_deployed"] = begun or release["info"]["last_deployed"]
    labels = {**secret["metadata"]["labels"], "version": str(number), "status": state}
    name = f"sh.helm.release.v1.{release['name']}.v{number}"
    body = {"kind": "Secret", "type": secret["type"], "metadata": {"name": name, "labels": labels}}
    live.create({**body, "data": {"release": _encoded(release)}})


def aged(live: NamespaceClient, secret: dict[str, Any]) -> None:
    """Have the revision begin longer ago than a run can take."""
    release = _decoded(secret)
    release["info"]["last_deployed"] = "2026-01-01T00:00:00Z"
    live.merge("Secret", secret["metadata"]["name"], {"data": {"release": _encoded(release)}})


def add_object(live: NamespaceClient, secret: dict[str, Any], text: str) -> None:
    """Add an object to the manifest of a revision."""
    release = _decoded(secret)
    release["manifest"] += f"---\n{text}\n"
    live.merge("Secret", secret["metadata"]["name"], {"data": {"release": _encoded(release)}})


def _decoded(secret: dict[str, Any]) -> dict[str, Any]:
    compressed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    found: dict[str, Any] = json.loads(gzip.decompress(compressed))
    return found


def _encoded(release: dict[str, Any]) -> str:
    return base64.b64encode(base64.b64encode(gzip.compress(json.dumps(release).encode()))).decode()
