# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's own metrics: definitions, values of a run, and their push to ansible-operator.

One connection, a limited time, and no failure of the reconcile.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import DRUID_OBJECTS, object_of

Outcome = Literal["unchanged", "changed", "blocked", "failed"]
PHASES = ("observe", "decide", "act", "report")
OUTCOMES: Mapping[Outcome, str] = {
    "unchanged": "Reconciles that changed nothing.",
    "changed": "Reconciles that wrote an object.",
    "blocked": "Reconciles that ended with a problem; the conditions report it.",
    "failed": "Reconciles that failed: the resource or its objects could not be read.",
}
ERRORS: Mapping[str, str] = {
    "observe": "Reconciles that failed because the resource or its objects could not be read.",
    "decide": "Reconciles that failed because the API server did not respond to dry runs.",
    "act": "Failed writes.",
    "report": "Failed writes of the status or of events.",
}
# Requests that the transport counts.
REQUESTS: Mapping[str, str] = {
    "cache_requests": "Reads from the cache of ansible-operator.",
    "cache_errors": "Reconciles to which the cache of ansible-operator did not respond.",
    "stale_caches": "Full reconciles that found a cache that was not refreshed for seconds.",
    "kubernetes_reads": "Reads from the API server.",
    "kubernetes_dry_runs": "Dry runs of writes.",
    "kubernetes_writes": "Writes, including those of status and events.",
    "kubernetes_request_errors": "Requests without a response, or with status 429 or 5xx.",
}
DRUID_REQUESTS: Mapping[str, str] = {
    "druid_reads": "Reads from Druid.",
    "druid_writes": "Requests that may change state in Druid.",
    "druid_request_errors": "Requests to which Druid did not respond.",
}
# ansible-operator cannot set a gauge to 0, but it can subtract the value that was set.
ALMOST_NOTHING = 1e-9


class Metric(NamedTuple):
    """A metric; ``name`` follows the prefix ``druidops_KIND_``."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    description: str


COMMON: tuple[Metric, ...] = (
    Metric("reconcile_duration_seconds", "histogram", "Duration of a reconcile, from its first request to its last."),
    *(Metric(f"{phase}_duration_seconds", "histogram", f"Duration of the phase {phase}.") for phase in PHASES),
    *(Metric(f"reconciles_{outcome}_total", "counter", text) for outcome, text in OUTCOMES.items()),
    *(Metric(f"{phase}_errors_total", "counter", text) for phase, text in ERRORS.items()),
    *(Metric(f"{request}_total", "counter", text) for request, text in REQUESTS.items()),
    Metric("objects_applied_total", "counter", "Objects that were created, updated or recreated."),
    Metric("objects_removed_total", "counter", "Objects that were deleted."),
    Metric("last_reconcile_timestamp_seconds", "gauge", "Time of the end of the last reconcile."),
)


def _of_all(plural: str, conditions: Iterable[str], not_awaited: str) -> tuple[Metric, ...]:
    """Return the gauges of all resources of a kind; `not_awaited` describes which others count as ready."""
    one = plural.removesuffix("s")
    return (
        Metric(plural, "gauge", "Resources in the watched namespaces that are not being deleted."),
        *(
            Metric(f"{plural}_{condition.lower()}", "gauge", f"Resources with the condition {condition}.")
            for condition in conditions
        ),
        Metric(
            "not_ready_since_timestamp_seconds",
            "gauge",
            f"Time when the {one} that has been unready longest became unready; 0 if all are ready, {not_awaited}.",
        ),
        Metric(
            "degraded_since_timestamp_seconds",
            "gauge",
            f"Time when the {one} that has been degraded longest became degraded; 0 if none is.",
        ),
    )


CLUSTERS = _of_all("clusters", ("Ready", "Progressing", "Degraded", "Paused"), "or are paused")
INGESTIONS: tuple[Metric, ...] = (
    *_of_all("ingestions", ("Ready", "Progressing", "Suspended", "Degraded"), "are paused, or are batches that run"),
    Metric("highest_lag_records", "gauge", "Lag of the supervisor with the highest lag, in records."),
)
OBJECTS = tuple(f"{object_of(kind)}s" for kind in DRUID_OBJECTS)
COLLECTORS = _of_all("collectors", ("Ready", "Progressing", "Degraded"), "or are paused")
DRUID = tuple(Metric(f"{name}_total", "counter", text) for name, text in DRUID_REQUESTS.items())
# Metrics by kind, in lower case.
METRICS: Mapping[str, tuple[Metric, ...]] = {
    "druid": (*COMMON, *CLUSTERS, *DRUID),
    "druidingestion": (*COMMON, *INGESTIONS, *DRUID),
    "collector": (*COMMON, *COLLECTORS),
    **{
        f"druid{plural.removesuffix('s')}": (
            *COMMON,
            *_of_all(plural, ("Ready", "Progressing", "Degraded"), "or are paused"),
            *DRUID,
        )
        for plural in OBJECTS
    },
}
PREFIX = "druidops_"


@dataclass(frozen=True)
class Run:
    """The measurements of one run of the action.

    Durations are in seconds. ``errors`` is by phase, ``requests`` by the names in REQUESTS and in DRUID_REQUESTS.
    ``census`` has the gauges of all resources, None if they were not counted.
    """

    seconds: float
    outcome: Outcome
    phases: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    requests: Mapping[str, int] = field(default_factory=dict)
    applied: int = 0
    removed: int = 0
    census: Mapping[str, float] | None = None


def metric_values(run: Run, now: float) -> dict[str, float]:
    """Return increments of counters, observations of histograms, values of gauges; ``now`` in seconds since 1970.

    Unchanged counters are included with the census only, so that they exist with the value 0 soon after the start.
    """
    counters: dict[str, float] = {f"reconciles_{outcome}_total": int(outcome == run.outcome) for outcome in OUTCOMES}
    counters |= {f"{phase}_errors_total": run.errors.get(phase, 0) for phase in PHASES}
    counters |= {f"{request}_total": run.requests.get(request, 0) for request in (*REQUESTS, *DRUID_REQUESTS)}
    counters |= {"objects_applied_total": run.applied, "objects_removed_total": run.removed}
    # most reconciles have nothing to do, and each value is a request
    phases = {} if run.outcome == "unchanged" else run.phases
    observed = {f"{phase}_duration_seconds": seconds for phase, seconds in phases.items()}
    return {
        "reconcile_duration_seconds": run.seconds,
        **observed,
        **{name: value for name, value in counters.items() if value or run.census is not None},
        "last_reconcile_timestamp_seconds": now,
        **(run.census or {}),
    }


def requests_for(kind: str, values: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the request bodies, in the order of METRICS; ``kind`` is in lower case."""
    return [
        {"name": f"{PREFIX}{kind}_{metric.name}", "description": metric.description, metric.type: change}
        for metric in METRICS[kind]
        if metric.name in values
        for change in _changes(metric, values[metric.name])
    ]


def _changes(metric: Metric, value: float) -> Iterator[dict[str, float]]:
    if metric.type == "histogram":
        yield {"observe": value}
    elif metric.type == "counter":
        yield {"add": value} if value else {}
    elif value:
        yield {"set": value}
    else:
        yield {"set": ALMOST_NOTHING}
        yield {"subtract": ALMOST_NOTHING}


TIMEOUT_SECONDS = 2.0
_HEADERS = {"Content-Type": "application/json"}


class PushError(Exception):
    """The endpoint rejected a metric, or did not respond in time."""


def push(url: str, bodies: Iterable[Mapping[str, Any]], timeout: float = TIMEOUT_SECONDS) -> None:
    """Post the bodies one after the other; PushError if the endpoint did not accept all of them in time."""
    deadline = time.monotonic() + timeout
    address = urlsplit(url)
    try:
        connection = HTTPConnection(address.hostname or "", address.port, timeout=timeout)
    except (HTTPException, ValueError) as error:
        raise PushError(f"The metrics cannot be pushed to {url}: {error}") from error
    try:
        connection.connect()
        refused = [each for each in (_push(connection, address.path, body, deadline) for body in bodies) if each]
    except (OSError, HTTPException) as error:
        raise PushError(f"The metrics could not be pushed to {url}: {error!r}") from error
    finally:
        connection.close()
    if refused:
        raise PushError(f"{url} rejected metrics: {refused[0]}")


def _push(connection: HTTPConnection, path: str, body: Mapping[str, Any], deadline: float) -> str | None:
    """Return why the metric was rejected, None if it was accepted."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    if connection.sock:
        connection.sock.settimeout(left)
    connection.request("POST", path, json.dumps(body).encode(), _HEADERS)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace").strip()
    return f"{body['name']}: {answer.status} {text}" if answer.status >= 300 else None
