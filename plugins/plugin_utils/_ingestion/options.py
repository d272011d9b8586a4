# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options and intermediate result of a reconcile."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import DruidState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter


@dataclass(frozen=True)
class Options:
    """Options of a reconcile: `check_mode` stops before the first write.

    `allowed_reference_namespaces` are other namespaces whose Secrets may be read. `url` is the address of Druid instead
    of the one in the resource; credentials are sent there. `meter` measures time, and counts requests.
    """

    check_mode: bool = False
    allowed_reference_namespaces: tuple[str, ...] = ()
    url: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    meter: Meter = field(default_factory=Meter, compare=False)


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) completed steps of a reconcile; `failed_step` is the step that failed.

    `is_gone`: the finalizer was removed, so that the resource is deleted.
    """

    resource: Manifest
    plan: Plan
    druid_state: DruidState | None = None
    observed: Observed = field(default_factory=Observed)
    warnings: tuple[str, ...] = ()
    failed_step: Step | None = None
    is_gone: bool = False
