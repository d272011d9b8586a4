# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of a drain to Druid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult


@dataclass(frozen=True, kw_only=True)
class Post(DruidRequest):
    """A POST for a group. `is_idempotent`: it has the same effect if it is repeated."""

    path: str
    body: Any = None
    is_idempotent: bool = True

    def send(self, client: Any, _context: Context) -> StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import post

        post(client, self.path, self.body, self.action, idempotent=self.is_idempotent)
        return StepResult(self)
