# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Druid an ingestion is about, as far as that is stated. Pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.address import server_url
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion


def target(ingestion: Ingestion) -> str:
    """Return the cluster or the address, the same however it is written; nothing where neither is stated."""
    if ingestion.cluster is not None:
        return f"druidCluster {ingestion.cluster}"
    url = ingestion.endpoint.get("url")
    return "" if url is None else str(canonical_url(url))


def canonical_url(url: Any) -> Any:
    """Return an address the same however it is written; what is none as it is."""
    try:
        return server_url(url) if isinstance(url, str) else url
    except InvalidInput:
        # there is nobody, and nobody else can be there
        return url
