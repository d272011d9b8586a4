# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A second playbook, which has read the resource earlier than others, and is slow."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.simulator.world import World


@dataclass(frozen=True)
class SecondPlaybook:
    """A playbook that has read this version of the resource."""

    resource: Manifest

    def reconcile(self, world: World) -> Report[Plan]:
        """Reconcile what was read, whatever has been specified since."""
        return DRUID.reconcile(world.api(), self.resource, Options(), world.clock.now())
