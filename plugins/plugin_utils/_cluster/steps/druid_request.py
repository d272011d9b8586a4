# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A request to Druid, as a step of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import differences, entry, listed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.list_change import ListChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context, Result


@dataclass(frozen=True, kw_only=True)
class DruidRequest(Step):
    """A POST for a group; `before` and `after` are the states of an object in Druid, `what`.

    `action` is what it does, such as "disable worker 10.0.0.1:8091". `is_idempotent`: it has the same effect if it is
    repeated. `reason` is that of its event. It follows a write of its group only if that succeeds.
    """

    what: ObjectKey
    action: str
    path: str
    states: tuple[Mapping[str, Any], Mapping[str, Any]]
    body: Any = None
    is_idempotent: bool = True
    reason: str = reasons.UPDATE_SUCCEEDED

    in_druid: ClassVar[bool] = True

    @property
    def key(self) -> ObjectKey:
        return self.what

    @property
    def title(self) -> str:
        return f"{self.action} in Druid"

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.title,)

    @property
    def differences(self) -> tuple[dict[str, Any], ...]:
        return (entry(f"{self.key} in Druid", *self.states),)

    @property
    def message(self) -> str:
        return f"Done in Druid: {self.action}.{listed(list(differences(*self.states)))}"

    def blocks(self, step: Step) -> bool:
        """What follows in Kubernetes is decided on what Druid has, once it has it. So nothing else has to wait.

        Nor does another group that changes its own entries of the same list.
        """
        return self.key == step.key and self.group == step.group

    def carry_out(self, context: Context) -> Result[Step]:
        failure = context.to_druid(self.action, self.send)
        return Result(self) if failure is None else Result(self, error=failure.message, reason=failure.reason)

    def send(self, client: Any) -> Finding | None:
        """Send the request with a client of Druid; return a finding if it fails."""
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.ask import send

        return send(client, self.path, self.body, self.action, idempotent=self.is_idempotent)


@dataclass(frozen=True, kw_only=True)
class ChangeList(DruidRequest):
    """A change of single entries of a list, which is read before the write and read back after it."""

    change: ListChange

    def send(self, client: Any) -> Finding | None:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.list_write import write_list

        return write_list(client, self.path, self.change, self.action)
