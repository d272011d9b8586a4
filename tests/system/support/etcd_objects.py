# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects in etcd: resources that an older API server has accepted, and that the current one would reject."""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def store_spec(live: NamespaceClient, name: str, specification: Any) -> None:
    """Replace the specification of a stored Druid resource; None leaves it out."""
    key = _encoded(f"/registry/druid.apache.org/druids/{live.namespace}/{name}")
    found = _call(live, "range", {"key": key})["kvs"][0]["value"]
    resource = json.loads(base64.b64decode(found))
    del resource["spec"]
    if specification is not None:
        resource["spec"] = specification
    _call(live, "put", {"key": key, "value": _encoded(json.dumps(resource))})


def _call(live: NamespaceClient, operation: str, body: dict[str, str]) -> Any:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{live.plane.etcd_url}/v3/kv/{operation}", json.dumps(body).encode(), headers)
    # Proxies of the environment are not meant for loopback.
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return json.load(answer)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
