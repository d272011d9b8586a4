# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task does with valid arguments: a reconcile, its metrics, its log line.

In an ignored namespace nothing is touched but a finalizer that ansible-operator has set there: it sets the finalizer
before it runs anything, and nothing else would remove it. The Go operator, which may manage that namespace, uses the
same name for its own finalizer.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache import CachedApi, connect_cache
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect, context_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    ApiError,
    DruidopsError,
    KubernetesError,
    ResourceNotFound,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    Manifest,
    finalizer_patch,
    is_finalizer_of_operator,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.file_lock import LockTimeout, file_lock
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import (
    PushError,
    Run,
    metric_values,
    push,
    requests_for,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import (
    operator_environment,
    reasons,
    result,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import FinalStatus, count_resources
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan_files import title_of
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Report,
    report_observe_failure,
    send,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, Request, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, run

# The Go operator takes the finalizer for its own, and deletes PVCs by it: that must happen first.
GRACE = timedelta(seconds=30)
# The resource was changed after it was read.
CONFLICT_SECONDS = 5
# After a run without a request to be repeated, ansible-operator removes the finalizer of a terminating resource.
REPEATED_SECONDS = 300
LOCK_SECONDS = 2.0
# Each reconcile that wrote counts all resources. Others try it at most this often.
CENSUS_PERIOD_SECONDS = 10
# A constant: there may be no memory for a text.
_OUT_OF_MEMORY = "The metrics could not be pushed: to count all resources needs more memory than a run may have."
_Plan = TypeVar("_Plan", bound=Plan[Any])
Census = Callable[[], Mapping[str, float] | None]


@dataclass(frozen=True)
class Task:
    """A task of a kind. `find_file` returns the path of a file of a playbook; `display` and `warn` print a text."""

    kind: Kind[Any, Any, Any]
    arguments: Mapping[str, Any]
    find_file: Callable[[str], str]
    display: Callable[[str], None]
    warn: Callable[[str], None]
    check_mode: bool = False

    def run(self) -> dict[str, Any]:
        """Reconcile, and return the result for Ansible. InvalidResource if no file has the resource."""
        began, meter = time.monotonic(), Meter()
        try:
            settings = self.kind.to_options(self.arguments, self.check_mode, meter)
            request = to_request(self.kind.name, self.arguments, settings, self.find_file)
            meter.on_druid_retry = partial(self._progress, request.name)
            if request.namespace in self.arguments["ignored_namespaces"]:
                return self._release(request)
            if request.is_default_namespace:
                self._progress(request.name, f"in the namespace {request.namespace}, because none is specified")
            if request.not_applied:
                self._progress(request.name, request.not_applied)
            outcome = self._reconcile(request, meter)
            returned = result.of_outcome(self.kind, request, outcome, self.arguments["fail_when_blocked"])
            if not self.arguments["operator"]:
                returned |= self._place(request)
            elif outcome.report:
                returned["requeue_after"] = outcome.report.least_requeue_after
            measured: Outcome[Any] | DruidopsError = outcome
        except DruidopsError as error:
            measured = error
            returned = result.of_error(error, self.arguments["fail_when_blocked"])
        self._publish(returned, measured, meter, time.monotonic() - began)
        return returned

    def _release(self, request: Request[Any]) -> dict[str, Any]:
        """Return the result for a resource in an ignored namespace. Only a change or an error is worth a log line."""
        began = time.monotonic()
        try:
            returned = release_finalizer(self._server, self.kind, request, datetime.now(UTC))
        except DruidopsError as error:
            returned = result.of_error(error, self.arguments["fail_when_blocked"])
        if self.arguments["log"] and not returned.get("skipped"):
            self._log(returned, time.monotonic() - began)
        return returned

    def _reconcile(self, request: Request[Any], meter: Meter) -> Outcome[Any]:
        """Return the outcome of the reconcile; the operator reads its cache first."""
        clock = Clock()

        def reconcile(api: KubernetesApi) -> Outcome[Any]:
            return run(self.kind, api, request, partial(self._progress, request.name), clock)

        def connect_server() -> KubernetesApi:
            return meter.of_server(self._server)

        unfinished = self.arguments["unfinished"]
        if unfinished:
            self._report_unfinished(connect_server(), request, unfinished)
        cache = _cache(self.arguments["cache_kubeconfig"], meter) if self.arguments["cache_kubeconfig"] else None
        if cache is None:
            return reconcile(connect_server())
        cached = CachedApi.of(meter.of_cache(cache), connect=connect_server, owner=self.kind.name)
        # the cache may not have the status that has just been written yet
        if unfinished or not self.kind.reads_cache:
            return reconcile(cached.direct)
        return cache_first(
            self.kind, request, cached, self.arguments["period"], clock.now(), reconcile, meter.record_cache_error
        )

    def _report_unfinished(self, api: KubernetesApi, request: Request[Any], cause: str) -> None:
        """Write to the status that the last reconcile did not end: this one may not, either, and write nothing."""
        text = f"The last reconcile did not end: {cause}. It is repeated."
        with suppress(KubernetesError):
            resource = api.get(self.kind.name, request.namespace, request.name)
            if resource is not None:
                report_observe_failure(api, resource, KubernetesError(text), datetime.now(UTC))

    @cached_property
    def _server(self) -> KubernetesApi:
        """The connection to the API server, never to a cache."""
        return connect(self.arguments, self._environment)

    @property
    def _environment(self) -> Mapping[str, str]:
        return operator_environment.of_server(os.environ, is_operator=self.arguments["operator"])

    def _place(self, request: Request[Any]) -> dict[str, str]:
        """Return where the resource is: one playbook is for many clusters."""
        place = {"context": context_of(self.arguments, self._environment), "server": self._server.server}
        named = {"kind": self.kind.name, "name": request.name, "namespace": request.namespace}
        return {**place, "target": title_of({**named, **place})}

    def _publish(
        self, returned: Mapping[str, Any], outcome: Outcome[Any] | DruidopsError, meter: Meter, seconds: float
    ) -> None:
        """Push the metrics, and write the log line, with everything else that has failed."""
        metrics_error = None
        if self.arguments["metrics_url"] and not self.check_mode:
            metrics_error = publish_metrics(self.kind, self.arguments, outcome, meter, seconds)
        failures = result.failures_of(outcome, meter.cache_error, metrics_error)
        self._log({**returned, "failures": failures}, seconds)

    def _log(self, returned: Mapping[str, Any], seconds: float) -> None:
        """Append the line of this reconcile to the log, if there is one. An error is a warning."""
        named = {name: self.arguments[name] for name in ("name", "namespace")}
        line = result.log_line(self.kind.name, {**named, **returned}, seconds, datetime.now(UTC))
        error = result.append_line(self.arguments["log"], line) if self.arguments["log"] else None
        if error:
            self.warn(error)

    def _progress(self, name: str, text: str) -> None:
        self.display(f"{name}: {text}")


def operator_task(kind: Kind[Any, Any, Any], namespace: str, name: str, display: Callable[[str], None]) -> Task:
    """Return the task of the operator's playbook for a resource, without Ansible."""
    options = {option: spec.get("default") for option, spec in {**ARGUMENTS, **kind.arguments}.items()}
    arguments = {**options, "namespace": namespace, "name": name, "operator": True}
    operator_environment.report_start()
    settled = operator_environment.with_environment(arguments, os.environ)
    return Task(kind, settled, str, display, display)


def _cache(kubeconfig: str, meter: Meter) -> KubernetesApi | None:
    """Return the connection to the cache; None, and an error in the meter, if its kubeconfig is unreadable."""
    try:
        return connect_cache(kubeconfig)
    except KubernetesError as error:
        meter.record_cache_error(error)
    return None


def release_finalizer(
    api: KubernetesApi, kind: Kind[Any, Any, Any], request: Request[Any], now: datetime
) -> dict[str, Any]:
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
    return is_terminating(resource) and is_finalizer_of_operator(resource, finalizer)


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


def publish_metrics(
    kind: Kind[Any, Any, _Plan],
    arguments: Mapping[str, Any],
    outcome: Outcome[_Plan] | DruidopsError,
    meter: Meter,
    seconds: float,
) -> str | None:
    """Push the metrics of a task; return the error, or None."""
    if isinstance(outcome, DruidopsError):
        run, left = (
            failed_run(outcome, meter, seconds),
            FinalStatus(None) if isinstance(outcome, ResourceNotFound) else None,
        )
    else:
        run, left = measure(kind, outcome, meter, seconds), final_status(outcome.report)
    census = partial(count_resources, kind, meter.cache, arguments, left)
    is_changed = meter.has_written or isinstance(outcome, ResourceNotFound)
    return publish(arguments["metrics_url"], kind.name.lower(), run, census, is_changed)


def measure(kind: Kind[Any, Any, _Plan], outcome: Outcome[_Plan], meter: Meter, seconds: float) -> Run:
    """Return the metrics of a task that ran, even in part."""
    problems = [problem.reason for problem in outcome.problems]
    reporting_errors = len(outcome.report.reporting_errors) if outcome.report else 0
    counts = kind.count(outcome.plan)
    return Run(
        seconds=seconds,
        outcome="blocked" if problems else "changed" if outcome.changed else "unchanged",
        phases=meter.phases.seconds,
        errors={"act": problems.count(reasons.APPLY_FAILED), "report": reporting_errors},
        requests=meter.requests,
        applied=counts.applied,
        removed=counts.removed,
    )


def failed_run(error: DruidopsError, meter: Meter, seconds: float) -> Run:
    """Return the metrics of a task that failed; a deleted resource is not a failure."""
    is_deleted = isinstance(error, ResourceNotFound)
    return Run(
        seconds=seconds,
        outcome="unchanged" if is_deleted else "failed",
        phases=meter.phases.seconds,
        errors={} if is_deleted else {meter.phases.last: 1},
        requests=meter.requests,
    )


def publish(url: str, kind: str, run: Run, count: Census, is_changed: bool) -> str | None:
    """Push the metrics of a run within a few seconds; return the error, or None.

    A lock serializes runs: ansible-operator (v1.42) crashes on concurrent registrations of a metric, and a gauge that
    becomes 0 needs two requests. ``count`` counts the resources; ``is_changed`` is True after a write.
    """
    try:
        file = Path(tempfile.gettempdir(), f"druidops-metrics-{urlsplit(url).netloc.replace('/', '-')}")
        with file_lock(file, LOCK_SECONDS) as lock:
            is_due = is_changed or lock.is_due(kind, CENSUS_PERIOD_SECONDS)
            try:
                if is_due:
                    # before it is counted: what fails is not due again in each run
                    lock.record_run(kind)
            finally:
                census = count() if is_due else None
                push(url, requests_for(kind, metric_values(replace(run, census=census), time.time())))
    except (LockTimeout, PushError, KubernetesError) as error:
        return without_userinfo(str(error))
    except (OSError, RecursionError, ValueError) as error:
        # /tmp is full, a counted resource is nested too deeply, or the URL is invalid. All writes are done already.
        return without_userinfo(f"The metrics could not be pushed to {url}: {error!r}")
    except MemoryError:
        return _OUT_OF_MEMORY
    return None


def final_status(report: Report[Any] | None) -> FinalStatus:
    """Return the final status of a reconcile; none if there is no report, since the resource was deleted."""
    return FinalStatus(None if report is None or report.is_deleted else report.status)
