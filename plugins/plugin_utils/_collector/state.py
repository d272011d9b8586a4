# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of a reconcile of a Collector: what it read, wants, found and did. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

NamespaceState = Literal["active", "missing", "terminating"]


class Plan(plan.Plan[plan.Step]):
    """The plan of a Collector."""


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
class Observed:
    """What was read. `owner` is the Collector that the release belongs to, if it is another one and exists.

    `unreadable` is why a Secret of the release cannot be read. `environment` are the Secrets with environment variables
    by name, None for one that does not exist.
    """

    release: Release | None = None
    unreadable: str = ""
    owner: Manifest | None = None
    siblings: tuple[Manifest, ...] = ()
    druid: Manifest | None = None
    source: Manifest | None = None
    environment: Mapping[str, Manifest | None] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[Manifest, ...]:
        """The Secrets whose values may be quoted in messages of others."""
        found = (self.source, *self.environment.values())
        return tuple(each for each in found if each is not None and each["kind"] == "Secret")


@dataclass(frozen=True)
class CollectorResult(plan.Completed[Plan]):
    """What a reconcile found and did.

    `release` is our release, None if there is none, or if it is not ours. `is_owned` is false if the release of that
    name belongs to another client. `failed_attempt` and `is_installing` are for the status: an installation has begun,
    and our mark is not yet on the release. `secrets` are those with the configuration and the environment.
    """

    collector: Collector
    release: Release | None = None
    is_owned: bool = True
    desired: Target | None = None
    secrets: tuple[Manifest, ...] = field(default=(), repr=False)
    objects: Objects = field(default_factory=Objects)
    failed_attempt: Mapping[str, Any] = field(default_factory=dict)
    is_installing: bool = False
