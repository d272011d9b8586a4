# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module compaction_info tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import (
    BY_OVERLORD,
    OVERLORDS,
    all_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import masked

_COORDINATORS = path("druid", "coordinator", "v1", "compaction", "status")


def compaction(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return how the datasources that are asked for are compacted, by name; no secret is in it."""
    configs = all_compaction(client)
    statuses = _statuses(client) if params["status"] else {}
    return [
        {"id": name, "config": masked(configs[name]), **({"status": statuses.get(name)} if params["status"] else {})}
        for name in sorted(configs)
        if params["datasource"] in (None, name)
    ]


def _statuses(client: DruidClient) -> dict[str, Any]:
    listed = path(*OVERLORDS, "status", "datasources") if client.supports(*BY_OVERLORD) else _COORDINATORS
    return {each["dataSource"]: each for each in (client.get(listed) or {}).get("latestStatus") or []}
