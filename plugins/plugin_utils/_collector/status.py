# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a Collector: standard conditions, and the release. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import sentences
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import CollectorResult, Objects
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    condition,
    degraded_condition,
    ready_and_progressing,
    stalled_condition,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, joined_messages
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import excerpt, join_limited

_MAX_DESCRIPTION = 500
# Reasons of Ready that end by themselves.
_PASSING = reasons.TRANSIENT_OF_COLLECTOR | {reasons.PODS_NOT_READY, reasons.DELETING}


def status(result: CollectorResult, findings: Sequence[Finding], now: datetime, check_mode: bool) -> dict[str, Any]:
    """Return the whole status; fields of others stay."""
    collector = result.collector
    previous = collector.status
    before = previous.get("conditions") or ()
    current = conditions(result, findings, check_mode)
    kept = {name: value for name, value in previous.items() if name not in ("release", "failedAttempt")}
    return {
        **kept,
        "observedGeneration": collector.generation or 0,
        "conditions": with_transition_times(current, before, collector.generation, now),
        **_release(result),
        **_failed(result),
    }


def conditions(result: CollectorResult, findings: Sequence[Finding], check_mode: bool) -> list[Condition]:
    """Return Ready, Progressing, Degraded and, if it is true, Stalled, without times."""
    found = _conditions(result, findings, check_mode)
    return [*found, *stalled_condition(found[0], _PASSING)]


def _conditions(result: CollectorResult, findings: Sequence[Finding], check_mode: bool) -> list[Condition]:
    problems = [finding for finding in findings if finding.is_problem]
    others = [finding for finding in findings if not finding.is_problem]
    degraded = degraded_condition((problems[0].reason, joined_messages(problems)) if problems else None)
    if problems:
        return [*ready_and_progressing(False, problems[0].reason, joined_messages(problems)), degraded]
    if others:
        pending = next((each for each in others if each.reason == reasons.CHANGES_PENDING), others[0])
        is_kept = pending.reason in (reasons.PAUSED, reasons.IGNORED) and result.release is not None
        unavailable = result.objects.unavailable
        message = f"{pending.message} {_not_available(result.objects)}" if unavailable else pending.message
        return [*ready_and_progressing(is_kept and not unavailable, pending.reason, message), degraded]
    if check_mode and result.plan.steps:
        return [
            *ready_and_progressing(False, reasons.CHANGES_PENDING, f"{len(result.plan.steps)} pending changes."),
            degraded,
        ]
    if result.objects.unavailable:
        message = _not_available(result.objects)
        return [*ready_and_progressing(False, reasons.PODS_NOT_READY, message, in_progress=True), degraded]
    return [*ready_and_progressing(True, reasons.RELEASE_DEPLOYED, _deployed(result.release)), degraded]


def deploying(collector: Collector, title: str, now: datetime) -> list[Condition]:
    """Return the conditions while Helm is run."""
    before = collector.status.get("conditions") or ()
    text = f"In progress: {title}."
    current = [condition(kind, kind == "Progressing", reasons.DEPLOYING, text) for kind in ("Ready", "Progressing")]
    others = [each for each in before if each["type"] not in ("Ready", "Progressing")]
    return [*with_transition_times(current, before, collector.generation, now), *others]


def _not_available(objects: Objects) -> str:
    return sentences(f"Pods are not available: {join_limited(objects.unavailable)}", objects.cause)


def _deployed(release: Release | None) -> str:
    revision = release.deployed if release else None
    return f"Revision {revision.number} of chart {revision.chart_title} is deployed." if revision else "It is deployed."


def _release(result: CollectorResult) -> dict[str, Any]:
    """Return the release in the status; the former one stays if it was not read."""
    former = result.collector.status.get("release")
    if result.release is None:
        # Our record is kept while nothing is known: who owns a release that appears later, would be unknown.
        was_read = result.desired is not None and result.is_owned and not result.is_installing
        return {} if was_read or not former else {"release": former}
    revision = result.release.latest
    release = {"name": result.collector.release, "namespace": result.collector.tenant, **_revision(revision)}
    return {"release": {**release, **({"installing": True} if result.is_installing else {})}}


def _revision(revision: Revision) -> Mapping[str, Any]:
    return {
        "revision": revision.number,
        "state": revision.state,
        "chart": revision.chart_title,
        "appVersion": revision.app_version,
        "description": excerpt(revision.description, _MAX_DESCRIPTION),
        "updated": revision.updated,
    }


def _failed(result: CollectorResult) -> dict[str, Any]:
    failed = result.failed_attempt
    return {"failedAttempt": {**failed, "message": str(failed.get("message", ""))}} if failed else {}
