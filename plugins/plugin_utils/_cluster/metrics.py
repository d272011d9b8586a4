# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of one task about one cluster, and of all clusters."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_settled
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import Conditions, KindMetrics, is_true
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Counts, Telemetry


def is_as_desired(conditions: Conditions) -> bool:
    """Return whether the cluster is in the desired state: ready, stopped or paused."""
    return is_settled(conditions.values()) or is_true(conditions, "Paused")


KIND_METRICS = KindMetrics(names.KIND, "clusters", ("Ready", "Progressing", "Degraded", "Paused"), is_as_desired)


def count(plan: Plan) -> Counts:
    """Return the numbers of objects that the plan applies, in Kubernetes and in Druid, and that it removes."""
    applied = sum(not (step.deletes or step.is_finalizer) for step in plan.steps)
    return Counts(applied + len(plan.in_druid), sum(step.deletes for step in plan.steps))


TELEMETRY = Telemetry(KIND_METRICS, count)
