# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A drain that the Go operator has begun: its status becomes our record. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import (
    BLOCKED,
    DRAINING,
    WAITING_FOR_POD,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def records_of_status(status: Mapping[str, Any], name: str, pods: Iterable[Manifest]) -> tuple[Record, ...]:
    """Return the record of the drain that the status reports about the StatefulSet of this name."""
    found = status.get("middleManagerDrain")
    if not isinstance(found, Mapping) or found.get("statefulSet") != name:
        return ()
    pod, phase, since = (str(found.get(field) or "") for field in ("podName", "phase", "lastTransitionTime"))
    if not pod.rpartition("-")[2].isdecimal() or not since:
        return ()
    if phase == DRAINING:
        uid = next((live["metadata"]["uid"] for live in pods if live["metadata"]["name"] == pod), None)
        return (Record(pod, uid, since, is_ours=True),) if uid else ()
    if phase in (WAITING_FOR_POD, BLOCKED):
        return (Record(pod, str(found.get("oldPodUID") or "unknown"), since, released=since, is_ours=True),)
    return ()
