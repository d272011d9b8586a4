# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is measured while a task is carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_requests import (
    CountedTransport,
    of_cache,
    of_server,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._phases import Phases

# That it is missing is said by _connection.connect, without which nothing is sent.
with suppress(ImportError):
    import urllib3

HASTE_SECONDS = 0.3


@dataclass
class Meter:
    """Requests by name, seconds by phase; ``cache`` answers at once or not at all, and is not counted."""

    requests: Counter[str] = field(default_factory=Counter)
    phases: Phases = field(default_factory=Phases)
    cache: KubernetesApi | None = None

    def of_server(self, api: KubernetesApi) -> KubernetesApi:
        """Return a connection to the API server whose requests are counted."""
        return replace(api, transport=CountedTransport(api.transport, self.requests, of_server))

    def of_cache(self, api: KubernetesApi) -> KubernetesApi:
        """Return a connection to the cache whose requests are counted."""
        self.cache = replace(api, transport=_Hasty(api.transport))
        return replace(api, transport=CountedTransport(api.transport, self.requests, of_cache))

    def add_druid(self, traffic: Mapping[str, int]) -> None:
        """Add what a client of Druid's API has sent: reads, writes, unanswered."""
        names = {"reads": "druid_reads", "writes": "druid_writes", "unanswered": "druid_request_errors"}
        self.requests.update({names[name]: count for name, count in traffic.items()})

    @property
    def has_written(self) -> bool:
        """True when anything was sent to be stored."""
        return bool(self.requests["kubernetes_writes"])


@dataclass(frozen=True)
class _Hasty:
    transport: Transport

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send once, and wait for the answer a moment only."""
        hasty: Mapping[str, Any] = {"timeout": urllib3.Timeout(total=HASTE_SECONDS), "retries": urllib3.Retry(0)}
        return self.transport.request(method, url, **{**arguments, **hasty})
