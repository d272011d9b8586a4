# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A resource in an ignored namespace: nothing is touched but a finalizer that ansible-operator has set there.

ansible-operator sets the finalizer before it runs anything, and nothing else would remove it. The Go operator, which
may manage that namespace, uses the same name for its own finalizer.
"""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import (
    finalizer_patch,
    is_set_by_operator,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import send
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText

# The Go operator takes the finalizer for its own, and deletes PVCs by it: that must happen first.
GRACE = timedelta(seconds=30)
# The resource was changed after it was read.
CONFLICT_SECONDS = 5
# After a run without a request to be repeated, ansible-operator removes the finalizer of a terminating resource.
REPEATED_SECONDS = 300


def release(api: KubernetesApi, kind: Kind[Any, Any, Any], request: Request[Any], now: datetime) -> dict[str, Any]:
    """Return the result of the task: skipped, unless the finalizer was removed. KubernetesError if it cannot be."""
    resource = api.get(kind.name, request.namespace, request.name)
    if resource is None or not is_held_by_operator_finalizer(resource, kind.finalizer):
        return _skipped()
    seconds = seconds_left(resource, now)
    if seconds > 0:
        return _skipped(seconds)
    operations = finalizer_patch(resource, kind.finalizer, is_desired=False)
    try:
        api.json_patch(kind.name, request.namespace, request.name, operations, request.options.check_mode)
    except ApiError as error:
        if error.is_missing_object:
            return _skipped()
        if not error.is_conflict:
            raise
        return _skipped(CONFLICT_SECONDS)
    if not request.options.check_mode:
        text = f"The finalizer {kind.finalizer} of ansible-operator was removed: the operator ignores this namespace."
        # The log line reports it, too, and no event can be created in a terminating namespace.
        with suppress(KubernetesError):
            send(api, resource, [EventText("Normal", reasons.FINALIZER_REMOVED, text)], now)
    plan = [f"remove finalizer {kind.finalizer} of {kind.name} {request.name}"]
    return {"name": request.name, "namespace": request.namespace, "changed": True, "plan": plan}


def is_held_by_operator_finalizer(resource: Manifest, finalizer: str) -> bool:
    """True when only a finalizer that ansible-operator has set may hold a deletion."""
    return is_terminating(resource) and is_set_by_operator(resource, finalizer)


def seconds_left(resource: Manifest, now: datetime) -> int:
    """Return how long another operator still has to finalize the resource; 0 or less if its time is over."""
    deleted = datetime.fromisoformat(resource["metadata"]["deletionTimestamp"])
    return math.ceil((deleted.replace(tzinfo=UTC) + GRACE - now).total_seconds())


def _skipped(requeue_after: int = REPEATED_SECONDS) -> dict[str, Any]:
    """Return the result of a task that did nothing."""
    return {
        "changed": False,
        "skipped": True,
        "skip_reason": "The namespace is ignored.",
        "requeue_after": requeue_after,
    }
