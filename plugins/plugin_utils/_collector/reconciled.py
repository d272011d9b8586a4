# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of a Collector read, found and did. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Objects, Plan, Target
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

NamespaceState = Literal["active", "missing", "terminating"]


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


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) completed steps of a reconcile.

    `release` is our release, None if there is none, or if it is not ours. `is_owned` is false if the release of that
    name belongs to another client. `failed_attempt` and `is_installing` are for the status: an installation has begun,
    and our mark is not yet on the release.
    """

    resource: Manifest
    collector: Collector
    plan: Plan
    release: Release | None = None
    is_owned: bool = True
    desired: Target | None = None
    secret: Manifest | None = None
    objects: Objects = field(default_factory=Objects)
    failed_attempt: Mapping[str, Any] = field(default_factory=dict)
    is_installing: bool = False
    is_deleted: bool = False

    def with_findings(self, *findings: Finding) -> Reconciled:
        """Return the reconcile with further findings."""
        return replace(self, plan=replace(self.plan, findings=(*self.plan.findings, *findings)))

    def blocked(self, *problems: Finding) -> Reconciled:
        """Return the reconcile with these findings and nothing to do."""
        return replace(self, plan=replace(self.plan, steps=(), findings=(*self.plan.findings, *problems)))
