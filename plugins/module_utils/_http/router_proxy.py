# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The path prefix with which a Router forwards a request that it would otherwise handle itself."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._http.error_text import parse_error_text
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import TRANSIENT_STATUSES
from ansible_collections.druidops.druid.plugins.module_utils._http.redirect import Redirects
from ansible_collections.druidops.druid.plugins.module_utils._http.request import Request
from ansible_collections.druidops.druid.plugins.module_utils._http.response import ResponseParser


class Routers:
    """Detects which servers are Routers with the management proxy enabled. Each is probed at most once."""

    def __init__(self, redirects: Redirects, parser: ResponseParser) -> None:
        self._redirects = redirects
        self._parser = parser
        self._are_routers: dict[str, bool] = {}

    def prefix(self, server: str, path: str) -> str:
        """Return ``/proxy/coordinator`` for a path of the Coordinator on a Router, otherwise an empty string."""
        return "/proxy/coordinator" if path.startswith("/druid-ext/") and self._is_router(server) else ""

    def _is_router(self, server: str) -> bool:
        """A Router answers ``/proxy/enabled`` with 200 and ``{"enabled": true}`` since Druid 29, before with 400."""
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
