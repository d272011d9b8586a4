# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base of the action plugins that reconcile: the only code here that depends on Ansible."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from ansible.errors import AnsibleFileNotFound
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.cache_first import try_cache_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import argument_spec, connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import result
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import CONSTRAINTS, BaseRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.log_line import log_line
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.wait import Clock, Outcome, Progress

display = Display()

_Request = TypeVar("_Request", bound=BaseRequest)
_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


@dataclass(frozen=True)
class KindHandlers(Generic[_Request, _Outcome]):
    """The functions of one kind: its options, request, reconcile, result and metrics."""

    kind: str
    options: Mapping[str, Any]
    to_request: Callable[[Mapping[str, Any], bool, Callable[[str], str], Meter], _Request]
    run: Callable[[KubernetesApi, _Request, Progress, Clock], _Outcome]
    result: Callable[[_Outcome, _Request, bool], dict[str, Any]]
    publish: Callable[[Mapping[str, Any], _Outcome | DruidopsError, Meter, float], str | None]


class ReconcileAction(ActionBase):
    """Reads, decides and writes in the action plugin: Ansible never handles the bodies of objects."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    handlers: KindHandlers[Any, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the reconcile that the task specifies, and return its result."""
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        options = {**self.handlers.options, **argument_spec()}
        _validation, arguments = self.validate_argument_spec(options, **CONSTRAINTS)
        began, meter = time.monotonic(), Meter()
        try:
            request = self.handlers.to_request(arguments, self._task.check_mode, self._find_file, meter)
            outcome: Outcome[Any] | DruidopsError = self._reconcile(arguments, request, meter)
            returned |= self.handlers.result(outcome, request, arguments["fail_when_blocked"])
        except DruidopsError as error:
            outcome = error
            returned |= result.of_error(error, arguments["fail_when_blocked"])
        self._publish(arguments, returned, outcome, meter, time.monotonic() - began)
        return returned

    def _reconcile(self, arguments: Mapping[str, Any], request: BaseRequest, meter: Meter) -> Outcome[Any]:
        """Return the outcome of the reconcile; the operator tries it on its cache first."""

        def attempt(api: KubernetesApi) -> Outcome[Any]:
            return self.handlers.run(api, request, partial(_progress, request.name), Clock())

        if not arguments["cache_kubeconfig"]:
            return attempt(meter.of_server(connect(arguments)))
        # ansible-operator sets this variable to the kubeconfig of its cache.
        direct = connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})
        cache = connect({"kubeconfig": arguments["cache_kubeconfig"]}, {})
        return try_cache_first(meter.of_cache(cache), meter.of_server(direct), attempt)

    def _publish(
        self,
        arguments: Mapping[str, Any],
        returned: Mapping[str, Any],
        outcome: Outcome[Any] | DruidopsError,
        meter: Meter,
        seconds: float,
    ) -> None:
        """Write the log line and push the metrics; the log line has the error of the metrics."""
        metrics_error = None
        if arguments["metrics_url"] and not self._task.check_mode:
            metrics_error = self.handlers.publish(arguments, outcome, meter, seconds)
        if arguments["log"]:
            _log(self.handlers.kind, arguments, {**returned, "metrics": metrics_error}, seconds)

    def _find_file(self, path: str) -> str:
        """Return the path of a file of the playbook or role, or relative to the working directory."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                raise
            return os.path.abspath(path)


def _log(kind: str, arguments: Mapping[str, Any], returned: Mapping[str, Any], seconds: float) -> None:
    """Append the line of this reconcile to the log. A write error is a warning only."""
    named = {name: arguments[name] for name in ("name", "namespace")}
    line = log_line(kind, {**named, **returned}, seconds, datetime.now(UTC))
    try:
        with open(arguments["log"], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        display.warning(f"The log {arguments['log']} cannot be written: {error}")


def _progress(name: str, text: str) -> None:
    """Print the progress."""
    display.display(f"{name}: {text}")
