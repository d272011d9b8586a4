# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The changes of dynamic configurations, as steps that are decided after the writes in Kubernetes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult


@dataclass(frozen=True, kw_only=True)
class ChangeConfig(DruidRequest):
    """A change of a dynamic configuration of the cluster."""

    change: DruidChange

    @classmethod
    def of(cls, change: DruidChange) -> Self:
        """Return the step for a change."""
        what, states = ObjectKey(change.kind, change.id), (change.before, change.after)
        return cls(what=what, action=change.title, states=states, change=change)

    @property
    def subject(self) -> str:
        return self.change.what

    @property
    def place(self) -> str:
        return self.change.what

    @property
    def marked_states(self) -> tuple[Any, Any]:
        return self.change.marked

    def send(self, client: Any, _context: Context) -> StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import write_change

        written = write_change(client, self.change)
        return StepResult(self.of(replace(self.change, after=written.after)), warnings=written.warnings)
