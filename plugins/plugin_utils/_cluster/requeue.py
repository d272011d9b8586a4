# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When to reconcile a cluster again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import REQUESTED
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import DRUID_SECONDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    MIN_BACKOFF_SECONDS,
    backoff_since,
    is_settled,
)

# Pods of a deleted workload are terminating within a second, unless the garbage collector is busy.
DELETION_SECONDS = 1
# The next reconcile replaces the regular one, so that it must not be later: that is the default of RECONCILE_WAIT.
MAX_SECONDS = 60


def requeue_after(document: Mapping[str, Any], now: datetime, has_changed: bool = False) -> int | None:
    """Return the seconds until the next reconcile, given the status; None (the regular period) if it is settled.

    After a reconcile that wrote something or read a new generation (`has_changed`), it is the minimum: the time that
    the cluster was not ready before has no relation to the result. A deletion continues when the pods are terminating.
    """
    by_type = {each["type"]: each for each in document["conditions"]}
    if by_type["Ready"].get("reason") == reasons.DELETING:
        waited = min(backoff_since(by_type["Ready"]["lastTransitionTime"], now), MAX_SECONDS)
        return DELETION_SECONDS if has_changed else waited
    if has_changed:
        return MIN_BACKOFF_SECONDS
    if by_type["Paused"]["status"] == "True":
        return None
    is_moving = not is_settled(by_type.values(), REQUESTED)
    waited = backoff_since(by_type["Ready"]["lastTransitionTime"], now)
    return min(
        (
            *((waited,) if is_moving else ()),
            *((DRUID_SECONDS,) if (document.get("rollout") or {}).get("waitingFor") else ()),
            *(min(found, MAX_SECONDS) for each in FEATURES if (found := each.requeue(document, now)) is not None),
        ),
        default=None,
    )
