# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report on a reconcile: a value for the caller, one patch of the status if it differs, and events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    CONFLICT,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    degraded,
    is_ready,
    observe_failure,
    timestamp,
    with_short_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.operator_environment import LEAST_PERIOD_SECONDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import (
    Completed,
    EventText,
    Plan,
    previous_status,
)

_Plan = TypeVar("_Plan", bound=Plan[Any])
Conditions = Iterable[Mapping[str, Any]]
COMPONENT = "druid-operator"
# An event's note has at most 1024 (events.k8s.io/v1), counted in bytes.
MAX_EVENT_BYTES = 1000
# An object's name has at most 253 characters. An event's name ends in a dot and 16 digits of a digest.
MAX_EVENT_STEM = 253 - 17
# Maximum number of events per reconcile.
MAX_EVENTS = 20


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


def event(resource: Manifest, text: EventText, now: datetime) -> Manifest:
    """Return the Event (core/v1) about `resource`."""
    metadata = resource["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": event_name(resource, text),
            "namespace": metadata["namespace"],
        },
        "involvedObject": _reference(resource),
        "type": text.kind,
        "reason": text.reason,
        "message": _shortened(text.message),
        "source": {"component": COMPONENT},
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
        "count": 1,
    }


def event_name(resource: Manifest, text: EventText) -> str:
    """Return the event's name: the same for the same message about the same resource."""
    metadata = resource["metadata"]
    content = "\0".join((metadata["uid"], text.kind, text.reason, text.message))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{metadata['name'][:MAX_EVENT_STEM]}.{digest[:16]}"


def _shortened(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= MAX_EVENT_BYTES else encoded[: MAX_EVENT_BYTES - 3].decode("utf-8", "ignore") + "..."


def _reference(resource: Manifest) -> Mapping[str, Any]:
    metadata = resource["metadata"]
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    }


def send(api: KubernetesApi, resource: Manifest, texts: Iterable[EventText], now: datetime) -> None:
    """Write the events of the resource; KubernetesError if the API server rejects one."""
    for text in limited(texts):
        manifest = event(resource, text, now)
        try:
            api.create(manifest)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            _count(api, manifest, now)


def limited(texts: Iterable[EventText]) -> tuple[EventText, ...]:
    """Return the events without duplicates, warnings first; one event counts those beyond the limit."""
    found = sorted(dict.fromkeys(texts), key=lambda text: text.kind != "Warning")
    if len(found) <= MAX_EVENTS:
        return tuple(found)
    kept, left = found[: MAX_EVENTS - 1], found[MAX_EVENTS - 1 :]
    omitted = [text.reason for text in left]
    numbers = ", ".join(f"{reason}: {omitted.count(reason)}" for reason in dict.fromkeys(omitted))
    # Warnings come first: the first one is a warning if there is any.
    return (*kept, EventText(left[0].kind, reasons.EVENTS_OMITTED, f"and {len(left)} more events ({numbers})"))


def _count(api: KubernetesApi, manifest: Manifest, now: datetime) -> None:
    """Increment the count of the existing event; an API error is ignored."""
    namespace, title = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
    with suppress(ApiError):
        live = api.get("Event", namespace, title)
        if live is None:
            return
        operations: list[dict[str, Any]] = [
            {"op": "add", "path": "/count", "value": (live.get("count") or 1) + 1},
            {"op": "add", "path": "/lastTimestamp", "value": timestamp(now)},
        ]
        api.json_patch("Event", namespace, title, operations)
