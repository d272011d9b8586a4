# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell what a pass found and did: one patch of the status when it differs, events, and a report for the caller."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._masking import Masker
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.requeue import requeue_after
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import (
    is_reached,
    is_ready,
    status,
    unreadable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._events import send
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._masking import masker_of


@dataclass(frozen=True)
class Report:
    """What a pass has done (the steps that failed left out) or would do. All texts are masked.

    `troubles` say what of it could not be told to others; with `is_gone` the resource has none to tell any more.
    """

    plan: Plan
    status: dict[str, Any]
    changed: bool
    warnings: tuple[str, ...] = ()
    requeue_after: int | None = None
    troubles: tuple[str, ...] = ()
    is_gone: bool = False

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.plan.findings if finding.is_problem)

    @property
    def is_ready(self) -> bool:
        return is_ready(self.status["conditions"])

    @property
    def is_reached(self) -> bool:
        return is_reached(self.status["conditions"])


@dataclass(frozen=True)
class Pass:
    """What a pass has read, decided and (not in check mode) done."""

    resource: Manifest
    cluster: Cluster
    observed: Observed
    plan: Plan
    results: tuple[Result, ...] = ()


def report(api: KubernetesApi, made: Pass, check_mode: bool, now: datetime) -> Report:
    """Write status and events (never in check mode, never without a resource) and return the report."""
    findings = (*made.plan.findings, *_failures(made.results))
    masker = _masker(made.resource, made.observed) if findings or made.results or api.warnings else Masker()
    plan = replace(made.plan, findings=tuple(_masked(finding, masker) for finding in findings))
    if not check_mode:
        plan = replace(plan, steps=tuple(result.step for result in made.results if result.is_done))
    document = status(made.cluster, made.observed, plan.findings, made.resource.get("status") or {}, now)
    troubles: tuple[str, ...] = ()
    is_gone = _is_gone(made.results)
    if made.cluster.uid and not check_mode:
        if is_gone:
            troubles = _send(api, made.resource, events.warning_texts(plan.warnings, masker), now)
        else:
            troubles = _publish(api, replace(made, plan=plan), document, masker, now)
    warned = (warning for warning in api.warnings if names.FINALIZER not in warning)
    warnings = tuple(masker.text(warning) for warning in (*plan.warnings, *warned, *troubles))
    requeue = requeue_after(document["conditions"], now)
    return Report(plan, document, plan.changes, warnings, requeue, tuple(map(masker.text, troubles)), is_gone)


def _masker(resource: Manifest, observed: Observed) -> Masker:
    """Return what masks the secrets of all that was read, that which extraCommonConfig refers to included."""
    read = (*observed.objects.values(), *observed.references.values())
    return masker_of([resource, *(each for each in read if each)])


def report_unreadable(api: KubernetesApi, resource: Manifest, error: KubernetesError, now: datetime) -> None:
    """Say in the conditions that the cluster could not be read; all else in the status stays as it was last seen."""
    previous = resource.get("status") or {}
    metadata = resource["metadata"]
    document = {**previous, "conditions": unreadable(str(error), previous, metadata.get("generation"), now)}
    if "uid" in metadata and document != previous:
        with suppress(KubernetesError):
            _write_status(api, resource, {**document, "reason": reasons.CLUSTER_UNREADABLE})


def _failures(results: Iterable[Result]) -> tuple[Finding, ...]:
    return tuple(Finding(reasons.WRITE_FAILED, result.error, result.step.group) for result in results if result.error)


def _masked(finding: Finding, masker: Masker) -> Finding:
    return replace(finding, message=masker.text(finding.message))


def _is_gone(results: Iterable[Result]) -> bool:
    """True when the finalizer of a resource that is being deleted has been removed: there is no status any more."""
    patches = [result for result in results if result.step.patch is not None and result.is_done]
    return any(result.step.manifest["metadata"].get("deletionTimestamp") for result in patches)


def _publish(
    api: KubernetesApi, made: Pass, document: dict[str, Any], masker: Masker, now: datetime
) -> tuple[str, ...]:
    """Write what others see; return what went wrong with that, which is no reason to fail."""
    previous = made.resource.get("status") or {}
    news = events.done_texts(made.results, masker)
    # While it lasts it is in the conditions.
    if _troubles(previous) != _troubles(document):
        news = (*news, *events.trouble_texts(made.results, made.plan.findings, masker))
    try:
        if document != previous:
            _write_status(api, made.resource, document)
    except KubernetesError as error:
        return _trouble(error)
    return _send(api, made.resource, news, now)


def _send(api: KubernetesApi, resource: Manifest, news: Iterable[EventText], now: datetime) -> tuple[str, ...]:
    """Write the events; return what went wrong with that."""
    try:
        send(api, resource, news, now)
    except KubernetesError as error:
        return _trouble(error)
    return ()


def _trouble(error: KubernetesError) -> tuple[str, ...]:
    return () if isinstance(error, ApiError) and error.is_missing_object else (str(error),)


def _troubles(document: dict[str, Any]) -> tuple[str, str] | None:
    """Return reason and message of the condition Degraded while it is true."""
    degraded = next((each for each in document.get("conditions") or () if each["type"] == "Degraded"), None)
    return (degraded["reason"], degraded["message"]) if degraded and degraded["status"] == "True" else None


def _write_status(api: KubernetesApi, resource: Manifest, document: dict[str, Any]) -> None:
    metadata = resource["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "add", "path": "/status", "value": document},
    ]
    api.patch_status(resource["kind"], metadata["namespace"], metadata["name"], operations)
