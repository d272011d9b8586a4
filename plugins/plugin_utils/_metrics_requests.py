# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to Kubernetes, counted where they leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import TOO_MANY_REQUESTS, Transport

# That it is missing is said by _connection.connect, without which nothing is sent.
with suppress(ImportError):
    import urllib3

SERVER_ERROR = 500


@dataclass(frozen=True)
class CountedTransport:
    """Sends by ``transport`` and adds one to ``counts``, by the names in _metrics.REQUESTS; ``name`` says which."""

    transport: Transport
    counts: Counter[str]
    name: Callable[[str, str, bytes | None], str]

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send; what urllib3 sends again by itself counts once."""
        self.counts[self.name(method, url, arguments.get("body"))] += 1
        try:
            answer = self.transport.request(method, url, **arguments)
        except urllib3.exceptions.HTTPError:
            self.counts["kubernetes_request_errors"] += 1
            raise
        if answer.status == TOO_MANY_REQUESTS or answer.status >= SERVER_ERROR:
            self.counts["kubernetes_request_errors"] += 1
        return answer


def of_cache(*_request: Any) -> str:
    """Return the name of a request to the cache, which is only read."""
    return "cache_requests"


def of_server(method: str, url: str, body: bytes | None) -> str:
    """Return the name of a request to the API server."""
    if method == "GET":
        return "kubernetes_reads"
    # A deletion says so in its body.
    is_dry_run = "dryRun=All" in url or (method == "DELETE" and b'"dryRun":["All"]' in (body or b""))
    return "kubernetes_dry_runs" if is_dry_run else "kubernetes_writes"
