# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deletion of a resource (state: absent): reconciles run its finalizer, with `wait` until it is deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import (
    Outcome,
    Progress,
    repeat_until,
    without_repeats,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import written
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind

_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])


def delete_resource(
    kind: Kind[_Options, Any, _Plan], api: KubernetesApi, request: Request[_Options], progress: Progress, clock: Clock
) -> Outcome[_Plan]:
    """Delete the resource and run its finalizer, as the operator does; with `wait` until it is deleted."""
    resource = api.get(kind.name, request.namespace, request.name)
    to_delete = None if resource is None or is_terminating(resource) else resource
    outcome = Outcome(kind.plan(written("delete", to_delete)), changed=to_delete is not None)
    if resource is None or request.options.check_mode:
        return outcome
    if to_delete is not None:
        api.delete(kind.name, request.namespace, request.name, to_delete["metadata"]["uid"])
    return until_deleted(kind, api, request, resource, outcome, progress, clock)


def until_deleted(
    kind: Kind[_Options, Any, _Plan],
    api: KubernetesApi,
    request: Request[_Options],
    resource: Manifest,
    outcome: Outcome[_Plan],
    progress: Progress,
    clock: Clock,
    add: Callable[[Outcome[_Plan], Report[_Plan]], Outcome[_Plan]] = Outcome.after,
) -> Outcome[_Plan]:
    """Reconcile a terminating resource, with `wait` until it is deleted; `add` adds a report to the outcome."""

    def attempt(last: Outcome[_Plan]) -> Outcome[_Plan]:
        return continue_deletion(kind, api, request, resource, last, clock, add)

    return until_nothing_remains(_is_deleted, attempt, outcome, request, progress, clock)


def continue_deletion(
    kind: Kind[_Options, Any, _Plan],
    api: KubernetesApi,
    request: Request[_Options],
    resource: Manifest,
    last: Outcome[_Plan],
    clock: Clock,
    add: Callable[[Outcome[_Plan], Report[_Plan]], Outcome[_Plan]] = Outcome.after,
) -> Outcome[_Plan]:
    """Reconcile a terminating resource once, unless it is deleted; the outcome names it while it remains."""
    live = _live(api, resource)
    if live is not None:
        last = add(last, kind.reconcile(api, live, request.options, clock.now()))
        if request.waits and last.report is not None and last.report.is_deleted:
            live = _live(api, resource)
    return replace(last, is_deleted=live is None, remains=() if live is None else (with_finalizers(live),))


def until_nothing_remains(
    is_final: Callable[[Outcome[_Plan]], bool],
    attempt: Callable[[Outcome[_Plan]], Outcome[_Plan]],
    outcome: Outcome[_Plan],
    request: Request[_Options],
    progress: Progress,
    clock: Clock,
) -> Outcome[_Plan]:
    """Repeat a deletion as `repeat_until` does, and name what remains as the progress."""
    report_change = without_repeats(progress)

    def show(last: Outcome[_Plan]) -> None:
        report_change(f"Waiting for the deletion of {join_limited(last.remains)}." if last.remains else "")

    return repeat_until(is_final, attempt, outcome, request, show, clock)


def _is_deleted(outcome: Outcome[Any]) -> bool:
    return not outcome.remains


def _live(api: KubernetesApi, resource: Manifest) -> Manifest | None:
    """Return the live resource; None if it is deleted, or replaced by another one of its name."""
    metadata = resource["metadata"]
    live = api.get(resource["kind"], metadata["namespace"], metadata["name"])
    return live if live is not None and live["metadata"]["uid"] == metadata["uid"] else None


def with_finalizers(live: Manifest) -> str:
    """Return kind and name of an object that is not deleted yet, with the finalizers that hold it."""
    title = f"{live['kind']} {live['metadata']['name']}"
    holders = live["metadata"].get("finalizers") if is_terminating(live) else None
    return f"{title} (finalizers: {', '.join(holders)})" if holders else title
