# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deletion of an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context, Result


@dataclass(frozen=True, kw_only=True)
class Delete(Step):
    """The deletion of the live object, bound to its uid."""

    live: Manifest

    deletes: ClassVar[bool] = True

    @property
    def verb(self) -> str:
        return "delete"

    @property
    def message(self) -> str:
        return f"Successfully deleted object [{self.key.name}:*v1.{self.key.kind}] in namespace [{self.namespace}]"

    @property
    def is_destructive(self) -> bool:
        return self.deletes_claim or super().is_destructive

    @property
    def is_leaf(self) -> bool:
        """The replicas of a group depend on the removal of its autoscaler: until then it would revert them."""
        return super().is_leaf and self.key.kind != "HorizontalPodAutoscaler"

    def skipped(self, failed: Step) -> str:
        return f"{self.key} was not deleted because {failed.key} failed."

    def observed_after(self, observed: Observed, _live: Manifest | None) -> Observed:
        return observed.without([self.key])

    def dry_run(self, context: Context) -> Verdict:
        if not is_terminating(self.live):
            context.api.delete(*self.key_in_namespace, self.live["metadata"]["uid"], "Background", dry_run=True)
        return Verdict(self)

    def carry_out(self, context: Context) -> Result[Step]:
        context.api.delete(*self.key_in_namespace, self.live["metadata"]["uid"])
        return Result(self)

    @property
    def key_in_namespace(self) -> tuple[str, str, str]:
        """Kind, namespace and name of the object."""
        return self.key.kind, self.namespace, self.key.name
