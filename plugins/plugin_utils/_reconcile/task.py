# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task does with valid arguments: a reconcile, its metrics, its log line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_connection import connect_cache
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cached_api import CachedApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import (
    ignored_namespace,
    log_file,
    operator_environment,
    result,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.cache_first import cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import report_observe_failure
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, Request, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import publish_metrics


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
            if self.arguments["operator"] and outcome.report:
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
            returned = ignored_namespace.release(self._server(), self.kind, request, datetime.now(UTC))
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
            return meter.of_server(self._server())

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

    def _server(self) -> KubernetesApi:
        """Return the connection to the API server, never to a cache."""
        return connect(
            self.arguments, operator_environment.of_server(os.environ, is_operator=self.arguments["operator"])
        )

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
        error = log_file.append(self.arguments["log"], line) if self.arguments["log"] else None
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
