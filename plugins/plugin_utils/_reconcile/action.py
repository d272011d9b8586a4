# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base of the action plugins that reconcile: the only code here that depends on Ansible."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError, AnsibleFileNotFound
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import try_cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection_options import argument_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import (
    ignored_namespace,
    log_file,
    pending_run,
    result,
    unchanged,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import (
    ARGUMENTS,
    CONSTRAINTS,
    Request,
    to_request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_input import InvalidResource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import log_line
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.role_variables import (
    UnknownVariables,
    listed,
    names_of,
    unknown_variables,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run

display = Display()


class ReconcileAction(ActionBase):
    """Reads, decides and writes in the action plugin: Ansible never handles the bodies of objects."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    kind: Kind[Any, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the reconcile that the task specifies, and return its result."""
        del tmp
        pending_run.report_start()
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        unknown = self._unknown_variables(task_vars or {})
        if unknown.error:
            return {**returned, "changed": False, "failed": True, "msg": unknown.error}
        if unknown.warning:
            display.warning(unknown.warning)
        options = {**ARGUMENTS, **self.kind.arguments, **argument_spec()}
        arguments = self._valid_arguments(options)
        began, meter = time.monotonic(), Meter()
        try:
            settings = self.kind.to_options(arguments, self._task.check_mode, meter)
            request = to_request(self.kind.name, arguments, settings, self._find_file)
            meter.on_druid_retry = partial(_progress, request.name)
            if request.namespace in arguments["ignored_namespaces"]:
                return returned | self._release(arguments, request)
            if request.is_default_namespace:
                _progress(request.name, f"in the namespace {request.namespace}, because none is specified")
            outcome = self._reconcile(arguments, request, meter)
            returned |= result.of_outcome(self.kind, request, outcome, arguments["fail_when_blocked"])
            measured: Outcome[Any] | DruidopsError = outcome
        except DruidopsError as error:
            measured = error
            returned |= result.of_error(error, arguments["fail_when_blocked"])
        line = self._publish(arguments, returned, measured, meter, time.monotonic() - began)
        if unchanged.is_repeatable(returned, meter):
            unchanged.record(arguments, line, meter)
        return returned

    def _unknown_variables(self, variables: Mapping[str, Any]) -> UnknownVariables:
        """Return the unknown variables of the role; a task without the role does not set the option.

        This comes before the validation of the options, which a mistyped variable can make incomplete.
        """
        prefix, ignored = self.kind.prefix, self._task.args.get("ignored_variables")
        known = names_of(prefix, {**ARGUMENTS, **self.kind.arguments}, self.kind.role_variables)
        return unknown_variables(prefix, known, () if ignored is None else variables, listed(ignored))

    def _valid_arguments(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of the task; the error quotes them, but without the password of a URL."""
        try:
            _validation, arguments = self.validate_argument_spec(dict(options), **CONSTRAINTS)
        except AnsibleError as error:
            message = without_userinfo(str(error))
            if message == str(error):
                raise
            raise AnsibleActionFail(message) from None
        return dict(arguments)

    def _release(self, arguments: Mapping[str, Any], request: Request[Any]) -> dict[str, Any]:
        """Return the result for a resource in an ignored namespace. Only a change or an error is worth a log line."""
        began = time.monotonic()
        try:
            returned = ignored_namespace.release(self._server(arguments), self.kind, request, datetime.now(UTC))
        except DruidopsError as error:
            returned = result.of_error(error, arguments["fail_when_blocked"])
        if arguments["log"] and not returned.get("skipped"):
            _log(self.kind.name, arguments, returned, time.monotonic() - began)
        return returned

    def _reconcile(self, arguments: Mapping[str, Any], request: Request[Any], meter: Meter) -> Outcome[Any]:
        """Return the outcome of the reconcile; the operator tries it on its cache first."""

        def attempt(api: KubernetesApi) -> Outcome[Any]:
            return run(self.kind, api, request, partial(_progress, request.name), Clock())

        def connect_server() -> KubernetesApi:
            return meter.of_server(self._server(arguments))

        cache = _cache(arguments["cache_kubeconfig"], meter) if arguments["cache_kubeconfig"] else None
        if cache is None:
            return attempt(connect_server())
        cache = meter.of_cache(cache, is_recorded=unchanged.is_requested())
        return try_cache_first(cache, connect_server, attempt, meter.record_cache_error)

    def _server(self, arguments: Mapping[str, Any]) -> KubernetesApi:
        """Return the connection to the API server, never to a cache."""
        if not arguments["cache_kubeconfig"]:
            return connect(arguments)
        # ansible-operator sets this variable to the kubeconfig of its cache.
        return connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})

    def _publish(
        self,
        arguments: Mapping[str, Any],
        returned: Mapping[str, Any],
        outcome: Outcome[Any] | DruidopsError,
        meter: Meter,
        seconds: float,
    ) -> str:
        """Push the metrics, and write and return the log line, with everything else that has failed."""
        metrics_error = None
        if arguments["metrics_url"] and not self._task.check_mode:
            metrics_error = self.kind.telemetry.publish(arguments, outcome, meter, seconds)
        failures = result.failures_of(outcome, meter.cache_error, metrics_error)
        return _log(self.kind.name, arguments, {**returned, "failures": failures}, seconds)

    def _find_file(self, path: str) -> str:
        """Return the path of a file of the playbook or role, or relative to the working directory."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                if without_userinfo(path) != path:
                    raise InvalidResource(f"resource: there is no file {without_userinfo(path)}.") from None
                raise
            return os.path.abspath(path)


def _cache(kubeconfig: str, meter: Meter) -> KubernetesApi | None:
    """Return the connection to the cache; None, and an error in the meter, if its kubeconfig is unreadable."""
    try:
        return connect({"kubeconfig": kubeconfig}, {})
    except KubernetesError as error:
        meter.record_cache_error(error)
    return None


def _log(kind: str, arguments: Mapping[str, Any], returned: Mapping[str, Any], seconds: float) -> str:
    """Return the line of this reconcile, which is appended to the log, if there is one. An error is a warning only."""
    named = {name: arguments[name] for name in ("name", "namespace")}
    line = log_line(kind, {**named, **returned}, seconds, datetime.now(UTC))
    error = log_file.append(arguments["log"], line) if arguments["log"] else None
    if error:
        display.warning(error)
    return line


def _progress(name: str, text: str) -> None:
    """Print the progress."""
    display.display(f"{name}: {text}")
