# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark of an orphaned PVC, and its deletion, if nothing uses it and the resource is unchanged.

All of that is read again immediately before each deletion, since the plan was made earlier: the deletion of many PVCs
takes long, and a user may stop it with each field of the resource.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.outdated_resource import is_current
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_update import (
    Noticed,
    UpdateClaim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_users import (
    KINDS,
    Orphan,
    Users,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Context, Result


class StillUsed(KubernetesError):
    """The PVC is used again, or may be."""


@dataclass(frozen=True, kw_only=True)
class MarkOrphan(UpdateClaim):
    """The mark of an orphaned PVC is added or removed."""

    is_of_orphan: ClassVar[bool] = True

    @property
    def is_destructive(self) -> bool:
        return self.notice.reason == reasons.ORPHANED_PVC_MARKED

    @property
    def verdicts(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class DeleteOrphan(Noticed, Delete):
    """The deletion of an orphaned PVC in the version that was read.

    `resource`: the resource whose spec does not need it; None for a cluster without one.
    """

    live: Manifest
    orphan: Orphan
    resource: Manifest | None = None

    is_of_orphan: ClassVar[bool] = True

    def carry_out(self, context: Context) -> Result[Step]:
        """Delete the PVC; StillUsed if it is used again, or may be."""
        usage = Users(*(tuple(context.api.list_objects(each, self.namespace)) for each in KINDS)).usage(
            self.key.name, self.orphan
        )
        if usage is not None:
            raise StillUsed(f"{self.key} is not deleted: {usage}.")
        self._require_current(context)
        metadata = self.live["metadata"]
        context.api.delete(*self.key_in_namespace, metadata["uid"], resource_version=metadata["resourceVersion"])
        return Result(self)

    def _require_current(self, context: Context) -> None:
        """StillUsed if the resource was changed, paused or deleted: the groups may need the PVC again."""
        if self.resource is None:
            return
        kind, name = self.resource["kind"], self.resource["metadata"]["name"]
        if not is_current(self.resource, context.api.get(kind, self.namespace, name)):
            raise StillUsed(f"{self.key} is not deleted: {kind} {name} was modified concurrently.")
