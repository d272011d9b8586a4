# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a pass is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Announce, say_nothing
from ansible_collections.druidops.druid.plugins.plugin_utils._druid.patience import Patience
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._phases import Phases

# A pass keeps whole clusters waiting, so that Druid is not waited for as long as by a module on its API.
PATIENCE = Patience(read_timeout=10, retry_timeout=5)


@dataclass(frozen=True)
class Settings:
    """How a pass is made: `check_mode` stops before the first write; references lead to these namespaces, too.

    With `keep_finalizer` the finalizer stays whatever becomes of the claims. `url` is where Druid is found from here,
    in place of the cluster's own Service; credentials go there. `meter` takes the time, and counts the requests.
    `announce` is told of each step that is about to be carried out.
    """

    check_mode: bool = False
    reference_namespaces: tuple[str, ...] = ()
    keep_finalizer: bool = False
    url: str | None = None
    patience: Patience = PATIENCE
    meter: Meter = field(default_factory=Meter, compare=False)
    announce: Announce = field(default=say_nothing, compare=False)

    @property
    def phases(self) -> Phases:
        return self.meter.phases
