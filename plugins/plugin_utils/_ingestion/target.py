# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Druid that an ingestion specifies. Pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.address import server_url
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion


def target(ingestion: Ingestion) -> str:
    """Return the cluster or the canonical address; empty if neither is specified."""
    if ingestion.cluster is not None:
        return f"druidCluster {ingestion.cluster}"
    url = ingestion.endpoint.get("url")
    return "" if url is None else str(canonical_url(url))


def canonical_url(url: Any) -> Any:
    """Return the canonical form of an address; an invalid one unchanged."""
    try:
        return server_url(url) if isinstance(url, str) else url
    except InvalidInput:
        # an invalid address cannot be equal to a valid one
        return url
