# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Druid's dynamic configurations: read and written after Kubernetes, once the pods that serve them are ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import (
    BROKER,
    COORDINATOR,
    OVERLORD,
    TASK_RUNNER,
    SpecifiedConfigs,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.request import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads

# The node types that serve a kind: the first one that exists (a Coordinator can also be the Overlord).
_SERVERS: Mapping[str, tuple[str, ...]] = {
    COORDINATOR: ("coordinator",),
    BROKER: ("coordinator",),
    OVERLORD: ("overlord", "coordinator"),
    TASK_RUNNER: ("overlord", "coordinator"),
}
_ROUTER = ("router",)


class DynamicConfig(Feature):
    """Changes the dynamic configurations that the resource specifies."""

    def in_druid(self, result: ClusterResult, desired: SpecifiedConfigs, reads: ClusterReads) -> Plan:
        """Return the changes. A problem with Druid is a finding, not an error: Kubernetes has been written already."""
        specified = due(desired, result.cluster, result.observed)
        noted = Plan((), specified.findings, specified.warnings)
        if not specified.configs:
            return noted
        try:
            changes = reads.config_changes(result, specified.configs)
        except ConnectionUnavailable as error:
            return replace(noted, findings=(*noted.findings, error.finding))
        return Plan(
            tuple(map(ChangeConfig.of, changes.changes)),
            (*noted.findings, *changes.findings),
            (*noted.warnings, *changes.warnings),
        )


def due(desired: SpecifiedConfigs, cluster: Cluster, observed: Observed) -> SpecifiedConfigs:
    """Return the configurations that can be compared now; a finding that is not a problem names the others."""
    waits = unready_servers(cluster, observed, desired.configs)
    if not waits:
        return desired
    ready = {kind: config for kind, config in desired.configs.items() if kind not in waits}
    return replace(desired, configs=ready, findings=(*desired.findings, _waiting(waits)))


def unready_servers(cluster: Cluster, observed: Observed, kinds: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, by kind, the groups that need a ready pod first.

    The state of groups outside the resource is unknown, so they are not waited for.
    """
    unready = {
        kind: tuple(key for types in (_ROUTER, _SERVERS[kind]) for key in observed.unready_groups(cluster, types))
        for kind in kinds
    }
    return {kind: groups for kind, groups in unready.items() if groups}


def _waiting(kinds: Mapping[str, tuple[str, ...]]) -> Finding:
    groups = dict.fromkeys(key for keys in kinds.values() for key in keys)
    message = f"The dynamic configuration of {', '.join(kinds)} waits for a ready pod in {', '.join(groups)}."
    return Finding(reasons.WAITING_FOR_DRUID, message, is_problem=False, rank=Rank.WAITING)


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
