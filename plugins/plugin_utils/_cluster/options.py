# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of a reconcile."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import OnStep, noop
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.timers import PhaseTimer

# Shorter than in the modules: a reconcile that waits for Druid delays other clusters.
TIMEOUTS = Timeouts(read_timeout=10, retry_timeout=5)


@dataclass(frozen=True)
class Options:
    """Options of a reconcile: `check_mode` stops before the first write.

    `allowed_reference_namespaces` are other namespaces that references may use. With `keep_finalizer` the resource
    always has the finalizer. `url` is the address of Druid instead of the cluster's own Service; credentials are sent
    there. `meter` measures time, and counts requests. `on_step` is called before each step.
    """

    check_mode: bool = False
    allowed_reference_namespaces: tuple[str, ...] = ()
    keep_finalizer: bool = False
    url: str | None = None
    timeouts: Timeouts = TIMEOUTS
    meter: Meter = field(default_factory=Meter, compare=False)
    on_step: OnStep = field(default=noop, compare=False)

    @property
    def phases(self) -> PhaseTimer:
        return self.meter.phases
