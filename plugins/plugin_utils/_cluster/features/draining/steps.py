# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a drain: requests to Druid, and how the write of a StatefulSet replaces pods that are drained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.pod_replacement import (
    WITH_STRATEGY,
    PodReplacement,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Restart, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    NOTHING_DRAINED,
    record_of_drain,
    released_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
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


@dataclass(frozen=True)
class DrainedReplacement(PodReplacement):
    """The partition of the StatefulSet is a temporary one: a rollout replaces all pods but the first `kept_pods`."""

    kept_pods: int

    def kept(self, after: Manifest) -> int:
        return self.kept_pods

    def released(self, live: Manifest, after: Manifest) -> int:
        return released_pods(live, after, self.kept_pods if _begins(live) else None)

    def waiting_fields(self, live: Manifest, manifest: Manifest, restart: Restart) -> tuple[str, ...]:
        return WITH_STRATEGY if _begins(live) else super().waiting_fields(live, manifest, restart)

    def annotations_before(self, live: Manifest, manifest: Manifest, restart: Restart) -> Mapping[str, str | None]:
        """Return the record: no pod is released yet, and a partition that is not written is not that of a drain.

        Other versions of the live object can have other pods to release.
        """
        record = record_of_drain(manifest)
        is_only_mark = record == NOTHING_DRAINED if _begins(live) else bool(restart.released)
        return {names.DRAIN_ANNOTATION: record_of_drain(live) if is_only_mark else record}


def _begins(live: Manifest) -> bool:
    """True unless the partition is that of a drain already."""
    return record_of_drain(live) is None
