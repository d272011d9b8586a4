# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a pass is made, and what it has come to."""

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
    """How a pass is made: `check_mode` stops before the first write; Secrets of these namespaces are read, too.

    `url` is where Druid is found from here, in place of what the resource says; credentials go there. `meter` takes the
    time, and counts the requests.
    """

    check_mode: bool = False
    allowed_reference_namespaces: tuple[str, ...] = ()
    url: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    meter: Meter = field(default_factory=Meter, compare=False)


@dataclass(frozen=True)
class Reconciled:
    """What a pass has read, decided and (not in check mode) done; `failed_step` is the step that could not be done.

    `is_gone`: the finalizer has been taken off, so that there is no status any more.
    """

    resource: Manifest
    plan: Plan
    druid_state: DruidState | None = None
    observed: Observed = field(default_factory=Observed)
    warnings: tuple[str, ...] = ()
    failed_step: Step | None = None
    is_gone: bool = False
