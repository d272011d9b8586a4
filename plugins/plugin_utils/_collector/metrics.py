# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of one task about one Collector, and of all Collectors."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import names
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import Deploy, Plan, Restore, Uninstall
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.status import is_settled
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import Conditions, KindMetrics
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Counts, Telemetry


def is_as_desired(conditions: Conditions) -> bool:
    """Return whether the release is as specified, or the Collector is paused."""
    return is_settled([*conditions.values()])


def count(plan: Plan) -> Counts:
    """Return the numbers of releases and objects that the plan applies and removes."""
    applied = sum(isinstance(step, Deploy | Restore) for step in plan.steps)
    return Counts(applied, sum(isinstance(step, Uninstall) for step in plan.steps))


TELEMETRY = Telemetry(KindMetrics(names.KIND, "collectors", ("Ready", "Progressing", "Degraded"), is_as_desired), count)
