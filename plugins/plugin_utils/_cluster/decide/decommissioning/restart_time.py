# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a Historical that restarts may be unknown to Druid, and still have its segments. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.situation import (
    UNSURE_SECONDS,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group

# Without a startup probe: as long as a rollout may take without progress.
_DEFAULT_SECONDS = 900
# What Kubernetes uses if a field is not set.
_GRACE, _PERIOD, _FAILURES = 30, 10, 3


def restart_seconds(group: Group, manifests: Iterable[Mapping[str, Any]]) -> int:
    """Return the time after which a pod of the group that has not come back does not have segments any more."""
    specified = int(group.first_present("progressDeadlineSeconds") or 0)
    templates = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] == "StatefulSet"]
    started = max((_startup_seconds(template) for template in templates), default=0)
    return max(UNSURE_SECONDS, started, specified or (0 if started else _DEFAULT_SECONDS))


def _startup_seconds(template: Mapping[str, Any]) -> int:
    """Return the time until the kubelet gives up a pod that is starting, after the former one; 0 without a probe."""
    probes = [each["startupProbe"] for each in template.get("containers") or () if each.get("startupProbe")]
    if not probes:
        return 0
    grace = template.get("terminationGracePeriodSeconds")
    return (_GRACE if grace is None else int(grace)) + max(map(_probe_seconds, probes))


def _probe_seconds(probe: Mapping[str, Any]) -> int:
    attempts = int(probe.get("failureThreshold") or _FAILURES) * int(probe.get("periodSeconds") or _PERIOD)
    return int(probe.get("initialDelaySeconds") or 0) + attempts
