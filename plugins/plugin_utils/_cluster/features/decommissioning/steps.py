# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The change of the list of servers that Druid decommissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import ListChange
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult


@dataclass(frozen=True, kw_only=True)
class ChangeList(DruidRequest):
    """A change of single entries of a list, which is read before the write and read back after it."""

    path: str
    change: ListChange

    def send(self, client: Any, _context: Context) -> StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import change_list

        change_list(client, self.path, self.change, self.action)
        return StepResult(self)
