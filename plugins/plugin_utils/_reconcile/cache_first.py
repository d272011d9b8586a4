# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's cache decides one thing: that there is nothing to do. Everything else is decided by the API server.

A reconcile on the cache is one in check mode. At least one in ten is not believed: what the cache has is compared with
what the API server has.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import (
    CachedApi,
    RecordingApi,
    SomethingToDo,
    StaleCache,
    stale_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.operator_environment import (
    LEAST_PERIOD_SECONDS,
    PERIOD,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import is_new_generation
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import seconds_of

_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])

# One reconcile is due in each cycle. Reconciles are a period and some milliseconds apart: the tolerance is for these,
# and for the longest time for which the operator postpones a run.
_CYCLE_PERIODS, _TOLERANCE_PERIODS, _POSTPONED_SECONDS = 9, 0.2, 30


def cache_first(
    kind: Kind[_Options, Any, _Plan],
    request: Request[_Options],
    cached: CachedApi,
    period: float,
    now: datetime,
    reconcile: Callable[[KubernetesApi], Outcome[_Plan]],
    on_error: Callable[[KubernetesError], None],
) -> Outcome[_Plan]:
    """Return the outcome of a reconcile on the cache if there is nothing to do, else the one on the API server.

    `period` is the operator's, in seconds. `on_error` is called with the error of a cache that did not respond, or that
    is stale. DruidopsError as from `reconcile`.
    """
    outcome, is_due = None, False
    with suppress(SomethingToDo, KubernetesError):
        with request.options.phases("observe"):
            resource = cached.get(kind.name, request.namespace, request.name)
        if resource is not None:
            period = period_of(resource, period)
            is_due = is_full_due(resource["metadata"]["uid"], period, now)
            outcome = _nothing_to_do(kind, request, cached, resource, period, now)
    if cached.error is not None:
        on_error(cached.error)
    elif outcome is not None and not is_due:
        return outcome
    elif is_due:
        return _compared(cached, reconcile, on_error)
    return reconcile(cached.direct)


def _nothing_to_do(
    kind: Kind[_Options, Any, _Plan],
    request: Request[_Options],
    cached: CachedApi,
    resource: Manifest,
    period: float,
    now: datetime,
) -> Outcome[_Plan] | None:
    """Return the outcome of a reconcile that writes nothing, None if there is something to write."""
    if is_terminating(resource) or is_new_generation(resource):
        return None
    options = replace(request.options, check_mode=True)
    report = kind.reconcile(cached, resource, options, now)
    # A resource that is reconciled less often than once in a period would hardly ever be due.
    is_frequent = (report.requeue_after or 0) <= period
    return Outcome(kind.plan()).after(report) if report.is_known and is_frequent else None


def _compared(
    cached: CachedApi,
    reconcile: Callable[[KubernetesApi], Outcome[_Plan]],
    on_error: Callable[[KubernetesError], None],
) -> Outcome[_Plan]:
    """Reconcile on the API server, and report a cache that does not have what the server has."""
    server = RecordingApi.of(cached.direct)
    try:
        return reconcile(server)
    finally:
        with suppress(KubernetesError):
            if stale := stale_objects(cached, server):
                on_error(StaleCache(stale))


def period_of(resource: Manifest, period: float) -> float:
    """Return the seconds between two reconciles of a resource to which nothing happens."""
    specified = (resource["metadata"].get("annotations") or {}).get(PERIOD)
    return max(seconds_of(specified), LEAST_PERIOD_SECONDS) if isinstance(specified, str) else period


def is_full_due(uid: str, period: float, now: datetime) -> bool:
    """Return whether the reconcile at this time reads the API server: at least one in ten, at each resource's own time.

    Nothing is stored for this: the clock is divided into cycles, and the first reconcile in each cycle is due.
    """
    if period <= 0:
        return True
    cycle = _CYCLE_PERIODS * period
    offset = zlib.crc32(uid.encode()) % 1000 / 1000 * cycle
    return (now.timestamp() + offset) % cycle < (1 + _TOLERANCE_PERIODS) * period + _POSTPONED_SECONDS
