# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The cluster-wide configuration of automatic compaction.

Since Druid 33 the API is ``/druid/indexer/v1/compaction/config/cluster`` of the Overlord. Before that only the task
slots are configurable, with ``/druid/coordinator/v1/config/compaction/taskslots`` of the Coordinator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._resources.audit import Audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import BY_OVERLORD, COORDINATORS
from ansible_collections.druidops.druid.plugins.module_utils._resources.dynamic_config import DynamicConfig
from ansible_collections.druidops.druid.plugins.module_utils._spec.dynamic_config import COMPACTION

# The fields that exist before Druid 33, and their query parameters.
_SLOTS = {
    "compactionTaskSlotRatio": "ratio",
    "maxCompactionTaskSlots": "max",
    "useAutoScaleSlots": "useAutoScaleSlots",
}


class CompactionConfig(DynamicConfig):
    """The configuration of the cluster, and the desired fields that are merged into it."""

    def __init__(self, client: DruidClient, desired: Mapping[str, Any], audit: Audit | None = None) -> None:
        super().__init__(client, COMPACTION, desired, audit)

    def _fetch(self) -> dict[str, Any]:
        if self._client.supports(*BY_OVERLORD):
            return super()._fetch()
        found = self._client.get(path(*COORDINATORS))
        return {name: value for name, value in found.items() if name in _SLOTS}

    def _send(self, before: Any, after: Any) -> None:
        if self._client.supports(*BY_OVERLORD):
            # POST replaces the whole configuration
            self._client.post(COMPACTION.path, after, idempotent=True, audit=self._audit)
            return
        slots = {_SLOTS[name]: after[name] for name in self._body(before, after)}
        self._client.post(path(*COORDINATORS, "taskslots"), params=slots, idempotent=True, audit=self._audit)
