# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A reconcile of a Collector in progress, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Objects, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.target import Target
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


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
