# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deletion of an object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import Planned, of_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import (
    Effect,
    Step,
    Verdict,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Operation, StepResult


@dataclass(frozen=True, kw_only=True)
class Delete(Step):
    """The deletion of the live object, bound to its uid."""

    live: Manifest
    deletes: ClassVar[bool] = True

    @property
    def operation(self) -> Operation:
        return Operation("delete", reasons.DELETE_SUCCEEDED, reasons.DELETE_FAILED, "removed")

    @property
    def message(self) -> str:
        return f"Successfully deleted object [{self.key.name}:*v1.{self.key.kind}] in namespace [{self.namespace}]"

    def followed_by(self, planned: Planned) -> Iterable[Effect]:
        return of_deletion(self, self.live, planned)

    @property
    def needs_latest(self) -> bool:
        return super().needs_latest or self.key.kind in WORKLOADS

    def may_delete_claims(self, _planned: Planned) -> bool:
        return self.key.kind == "StatefulSet"

    def dry_run(self, context: Context) -> Verdict:
        if not is_terminating(self.live):
            context.api.delete(*self.key_in_namespace, self.live["metadata"]["uid"], "Background", dry_run=True)
        return Verdict(self)

    def carry_out(self, context: Context) -> StepResult[Step]:
        context.api.delete(*self.key_in_namespace, self.live["metadata"]["uid"])
        return StepResult(self)

    @property
    def key_in_namespace(self) -> tuple[str, str, str]:
        """Kind, namespace and name of the object."""
        return self.key.kind, self.namespace, self.key.name
