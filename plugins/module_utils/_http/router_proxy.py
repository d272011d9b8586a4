# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Router wants before a path that it would otherwise answer itself."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._http.error_text import parse_error_text
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import TRANSIENT_STATUSES
from ansible_collections.druidops.druid.plugins.module_utils._http.redirect import Redirects
from ansible_collections.druidops.druid.plugins.module_utils._http.request import Request
from ansible_collections.druidops.druid.plugins.module_utils._http.response import ResponseParser


class Routers:
    """Knows which servers are Routers with their management proxy on; each is asked once, and only when it matters."""

    def __init__(self, redirects: Redirects, parser: ResponseParser) -> None:
        self._redirects = redirects
        self._parser = parser
        self._are_routers: dict[str, bool] = {}

    def prefix(self, server: str, path: str) -> str:
        """Return ``/proxy/coordinator`` where the path is the Coordinator's and the server a Router, nothing else."""
        return "/proxy/coordinator" if path.startswith("/druid-ext/") and self._is_router(server) else ""

    def _is_router(self, server: str) -> bool:
        """``/proxy/enabled``: 200 with ``{"enabled": true}`` from Druid 29 on, before that 400; 404 from all others."""
        if server not in self._are_routers:
            probe = Request("GET", "/proxy/enabled")
            response = self._redirects.follow(probe, f"{server}/proxy/enabled")
            enabled = response.status == 200 and _is_enabled(response.body)
            refused = response.status == 400 and "Unsupported proxy destination" in parse_error_text(response.body).text
            if response.status in TRANSIENT_STATUSES or response.status in (401, 403):
                raise self._parser.error(server, probe, response)
            self._are_routers[server] = enabled or refused
        return self._are_routers[server]


def _is_enabled(body: bytes) -> bool:
    try:
        document = json.loads(body)
    except ValueError:
        return False
    return isinstance(document, Mapping) and document.get("enabled") is True
