# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report on a reconcile: a value for the caller, one patch of the status if it differs, and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    degraded,
    is_ready,
    observe_failure,
    with_short_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import send
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.operator_environment import LEAST_PERIOD_SECONDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Completed, Plan, previous_status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText

_Plan = TypeVar("_Plan", bound=Plan[Any])

Conditions = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Report(Generic[_Plan]):
    """Completed steps of a reconcile, or planned ones in check mode. All texts are masked, but for those of steps.

    With `is_final` there is nothing to wait for: the desired state is reached, or a lasting problem blocks it.
    `progress` is a line of text. `requeue_after` are the seconds until the next reconcile, None for the regular period.
    `reporting_errors` are errors of writes of status and events; with `is_deleted` the resource was deleted.
    `stuck`: why it does not reach the desired state by itself, empty if it may. With `is_known` there is nothing to
    write: no step, and the status and the events have all this already. `is_too_often`: the resource
    requests a shorter period than the operator has. `masking` is for the texts of the steps.
    """

    plan: _Plan
    status: dict[str, Any]
    warnings: tuple[str, ...] = ()
    requeue_after: int | None = None
    reporting_errors: tuple[str, ...] = ()
    is_deleted: bool = False
    is_final: bool = False
    progress: str = ""
    stuck: str = ""
    is_known: bool = False
    is_too_often: bool = False
    masking: Masking = field(default_factory=Masking, compare=False, repr=False)

    @property
    def changed(self) -> bool:
        return self.plan.changes

    @property
    def least_requeue_after(self) -> int | None:
        """After how many seconds the operator reconciles next; None for the regular period."""
        return LEAST_PERIOD_SECONDS if self.requeue_after is None and self.is_too_often else self.requeue_after

    @property
    def is_ready(self) -> bool:
        return is_ready(self.status["conditions"])

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.plan.problems


@dataclass(frozen=True)
class StatusChange:
    """The status before and after a reconcile, and the warnings that the report has."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def has_new_problems(self) -> bool:
        """True when the condition Degraded changed: an unchanged problem is in the conditions only."""
        return degraded(self.before) != degraded(self.after)

    @property
    def is_new_generation(self) -> bool:
        """True when the status is about another generation than before."""
        return self.before.get("observedGeneration") != self.after.get("observedGeneration")


def ready_message(status: Mapping[str, Any]) -> str:
    """Return the message of the condition Ready."""
    return str(next(each["message"] for each in status["conditions"] if each["type"] == "Ready"))


def publish(
    api: KubernetesApi, completed: Completed[Any], document: dict[str, Any], texts: Iterable[EventText], now: datetime
) -> tuple[str, ...]:
    """Write status and events; return the errors, which do not fail the reconcile."""
    try:
        if document != completed.previous and not completed.is_deleted:
            write_status(api, completed.resource, document)
        send(api, completed.resource, texts, now)
    except KubernetesError as error:
        return reporting_errors(error)
    return ()


def is_new_generation(resource: Manifest) -> bool:
    """Return whether no reconcile has reported on this generation yet.

    A CRD of the Go operator drops observedGeneration from each status, so that no generation is known to be new.
    """
    previous, generation = previous_status(resource), resource["metadata"].get("generation")
    reported = previous.get("observedGeneration")
    return not previous if reported is None else bool(reported != generation)


def report_observe_failure(
    api: KubernetesApi,
    resource: Manifest,
    error: KubernetesError,
    now: datetime,
    adapted: Callable[[Mapping[str, Any]], dict[str, Any]] = dict,
) -> None:
    """Report in the conditions that a read failed; the rest of the status stays unchanged."""
    previous = resource.get("status") or {}
    metadata = resource["metadata"]
    conditions = observe_failure(str(error), previous, metadata.get("generation"), now)
    document = with_short_messages(adapted({**previous, "conditions": conditions}))
    if "uid" in metadata and document != previous:
        with suppress(KubernetesError):
            write_status(api, resource, {**document, "reason": reasons.OBSERVE_FAILED})


def write_status(api: KubernetesApi, resource: Manifest, document: Mapping[str, Any]) -> None:
    """Write the whole status, with the uid and the generation as preconditions.

    If the generation has changed, nothing is written: the reconcile of the later generation writes its own status.
    """
    metadata = resource["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "test", "path": "/metadata/generation", "value": metadata["generation"]},
        {"op": "add", "path": "/status", "value": document},
    ]
    try:
        api.patch_status(resource["kind"], metadata["namespace"], metadata["name"], operations)
    except ApiError as error:
        if not error.is_failed_patch_test:
            raise


def reporting_errors(error: KubernetesError) -> tuple[str, ...]:
    """Return the error of a write of status or events; nothing if the resource was deleted."""
    return () if isinstance(error, ApiError) and error.is_missing_object else (str(error),)
