# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a pass is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import OnStep, noop
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.timers import PhaseTimer

# A pass keeps whole clusters waiting, so that Druid is not waited for as long as by a module on its API.
TIMEOUTS = Timeouts(read_timeout=10, retry_timeout=5)


@dataclass(frozen=True)
class Options:
    """How a pass is made: `check_mode` stops before the first write; references lead to these namespaces, too.

    With `keep_finalizer` the finalizer stays whatever becomes of the claims. `url` is where Druid is found from here,
    in place of the cluster's own Service; credentials go there. `meter` takes the time, and counts the requests.
    `on_step` is told of each step that is about to be carried out.
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
