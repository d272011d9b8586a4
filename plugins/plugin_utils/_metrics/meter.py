# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measurements of a task: requests, counted by the transport, and phases."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import (
    TOO_MANY_REQUESTS,
    KubernetesApi,
    Transport,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import StaleCache
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import SERVER_ERROR, KubernetesError

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3


@dataclass(frozen=True)
class CountingTransport:
    """Sends by ``transport`` and increments ``counts``; ``name`` returns a name in definitions.REQUESTS."""

    transport: Transport
    counts: Counter[str]
    name: Callable[[str, str, bytes | None], str]

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send; retries by urllib3 count once."""
        self.counts[self.name(method, url, arguments.get("body"))] += 1
        try:
            answer = self.transport.request(method, url, **arguments)
        except urllib3.exceptions.HTTPError:
            self.counts["kubernetes_request_errors"] += 1
            raise
        if answer.status == TOO_MANY_REQUESTS or answer.status >= SERVER_ERROR:
            self.counts["kubernetes_request_errors"] += 1
        return answer


def cache_request(*_request: Any) -> str:
    """Return the name of a request to the cache: all are reads."""
    return "cache_requests"


def server_request(method: str, url: str, body: bytes | None) -> str:
    """Return the name of a request to the API server."""
    if method == "GET":
        return "kubernetes_reads"
    # A deletion has it in its body.
    is_dry_run = "dryRun=All" in url or (method == "DELETE" and b'"dryRun":["All"]' in (body or b""))
    return "kubernetes_dry_runs" if is_dry_run else "kubernetes_writes"


CACHE_TIMEOUT_SECONDS = 0.3


@dataclass
class PhaseTimer:
    """Seconds by phase, summed over several reconciles; ``last`` is the phase entered last."""

    monotonic: Callable[[], float] = time.monotonic
    seconds: dict[str, float] = field(default_factory=dict)
    last: str = "observe"

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Measure the duration of the context, also if it fails."""
        self.last, began = phase, self.monotonic()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + self.monotonic() - began


@dataclass
class Meter:
    """Requests by name, seconds by phase; ``cache`` has a short timeout, and its requests are not counted.

    ``cache_error``: the cache did not respond, or is stale. ``on_druid_retry`` is called with a message when Druid does
    not respond for some seconds.
    """

    requests: Counter[str] = field(default_factory=Counter)
    phases: PhaseTimer = field(default_factory=PhaseTimer)
    cache: KubernetesApi | None = None
    cache_error: KubernetesError | None = None
    on_druid_retry: Callable[[str], None] | None = None

    def of_server(self, api: KubernetesApi) -> KubernetesApi:
        """Return a connection to the API server whose requests are counted."""
        return replace(api, transport=CountingTransport(api.transport, self.requests, server_request))

    def of_cache(self, api: KubernetesApi) -> KubernetesApi:
        """Return a connection to the cache whose requests are counted."""
        self.cache = replace(api, transport=_ShortTimeout(api.transport))
        return replace(api, transport=CountingTransport(api.transport, self.requests, cache_request))

    def record_cache_error(self, error: KubernetesError) -> None:
        """Count a reconcile whose cache did not respond, or is not refreshed."""
        self.cache_error = error
        self.requests["stale_caches" if isinstance(error, StaleCache) else "cache_errors"] += 1

    def add_druid(self, traffic: Mapping[str, int]) -> None:
        """Add the requests of a client of Druid's API: reads, writes, unanswered."""
        names = {"reads": "druid_reads", "writes": "druid_writes", "unanswered": "druid_request_errors"}
        self.requests.update({names[name]: count for name, count in traffic.items()})

    @property
    def has_written(self) -> bool:
        """True when a write was sent."""
        return bool(self.requests["kubernetes_writes"])


@dataclass(frozen=True)
class _ShortTimeout:
    transport: Transport

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send once, with a short timeout."""
        limits: Mapping[str, Any] = {
            "timeout": urllib3.Timeout(total=CACHE_TIMEOUT_SECONDS),
            "retries": urllib3.Retry(0),
        }
        return self.transport.request(method, url, **{**arguments, **limits})
