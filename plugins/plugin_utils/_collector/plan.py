# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a Collector, with what is to be deployed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import FAILED, Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer


@dataclass(frozen=True)
class Chart:
    """A chart: `reference`, `repository` and `requested_version` are arguments of Helm."""

    name: str
    version: str
    reference: str
    repository: str | None = None
    requested_version: str | None = None

    @property
    def title(self) -> str:
        return f"{self.name}-{self.version}"


@dataclass(frozen=True)
class Target:
    """What is to be deployed: release and namespace have been validated."""

    release: str
    namespace: str
    chart: Chart
    values: Mapping[str, Any]


class ObjectChange(NamedTuple):
    """An object of a release before and after a step; None: it does not exist then."""

    before: Manifest | None
    after: Manifest | None

    @property
    def title(self) -> str:
        manifest = self.after or self.before or {}
        operation = "delete" if self.after is None else "create" if self.before is None else "update"
        return f"{operation} {manifest.get('kind')} {manifest.get('metadata', {}).get('name')}"


@dataclass(frozen=True)
class Objects:
    """The objects that differ, those that cannot be made equal, and the workloads whose pods are not available.

    `warnings` are about objects that cannot be compared. `cause` is why pods are not available (an event).
    """

    changes: tuple[ObjectChange, ...] = ()
    problems: tuple[Finding, ...] = ()
    unavailable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cause: str = ""


@dataclass(frozen=True)
class RemovePending:
    """Remove the record of a revision that was interrupted or failed: while one is pending, Helm refuses all else.

    `objects` are those that it may have created, and that Helm knows from no other revision.
    """

    revision: Revision
    objects: tuple[ObjectChange, ...] = ()

    @property
    def title(self) -> str:
        what = "failed" if self.revision.state == FAILED else "interrupted"
        return f"remove the {what} revision {self.revision.number} ({self.revision.state})"


@dataclass(frozen=True)
class Deploy:
    """Install or upgrade the release, with all that follows from it."""

    operation: Literal["install", "upgrade"]
    target: Target
    objects: tuple[ObjectChange, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.operation} release {self.target.release} of chart {self.target.chart.title}"


@dataclass(frozen=True)
class Mark:
    """Record in the Secret of a revision that it belongs to this Collector."""

    revision: Revision
    release: str

    @property
    def title(self) -> str:
        return f"take over release {self.release}"


@dataclass(frozen=True)
class Restore:
    """Write an object of the release that was changed or deleted since its revision."""

    change: ObjectChange
    revision: Revision

    @property
    def title(self) -> str:
        return f"{self.change.title}, which differs from the release"


@dataclass(frozen=True)
class Uninstall:
    """Uninstall the release."""

    release: Release
    name: str

    @property
    def title(self) -> str:
        return f"uninstall release {self.name}"


Step = Finalizer | RemovePending | Deploy | Mark | Restore | Uninstall


class Plan(plan.Plan[Any]):
    """The plan of a Collector. The plan of a task also has the write of the resource."""
