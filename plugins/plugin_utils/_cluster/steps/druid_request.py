# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes to Druid, as steps of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import (
    ObjectDifference,
    differences,
    listed,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import UPDATE, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Operation


@dataclass(frozen=True, kw_only=True)
class DruidRequest(Request, Step):
    """A write to Druid. `states` are those of an object there, `what`, before and after.

    `action` is what it does, such as "disable worker 10.0.0.1:8091". `reason` is that of its event. It follows a write
    of its group only if that succeeds.
    """

    what: ObjectKey
    action: str
    states: tuple[Any, Any]
    reason: str = reasons.UPDATE_SUCCEEDED

    @property
    def operation(self) -> Operation:
        return UPDATE._replace(reason=self.reason)

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
    def place(self) -> str:
        """The object in a diff."""
        return f"{self.key} in Druid"

    @property
    def marked_states(self) -> tuple[Any, Any]:
        """The states, with their secrets marked."""
        return self.states

    @property
    def differences(self) -> tuple[ObjectDifference, ...]:
        return (ObjectDifference(self.place, *self.marked_states),)

    @property
    def message(self) -> str:
        # Marks are lost in a text, and the exit does not search for short values.
        return f"Done in Druid: {self.action}.{listed(list(differences(*masked_pair(*self.marked_states))))}"

    def blocks(self, step: Step) -> bool:
        """What follows in Kubernetes is decided on what Druid has, once it has it. So nothing else has to wait.

        Nor does another group that changes its own entries of the same list.
        """
        return self.key == step.key and self.group == step.group
