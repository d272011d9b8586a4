# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that are not ready, and are not expected to be so again before they are replaced. Pure."""

from __future__ import annotations

from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.pod_problems import (
    is_failing,
    is_unschedulable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready, seconds_since


def is_broken(pod: Manifest, limit: float, now: datetime) -> bool:
    """True if Kubernetes reports why the pod cannot run, or it has not been ready for longer than the limit."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if is_ready(conditions):
        return False
    changed = next((each.get("lastTransitionTime") for each in conditions if each["type"] == "Ready"), None)
    since = changed or pod["metadata"].get("creationTimestamp")
    is_late = bool(since) and seconds_since(str(since), now) >= limit
    return is_late or is_failing(pod) or is_unschedulable(pod)
