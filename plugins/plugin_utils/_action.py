# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the actions that make a reconcile have in common: the only code here that knows Ansible."""

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
from ansible_collections.druidops.druid.plugins.plugin_utils import _result
from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import argument_spec, connect
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import look_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._log_line import log_line
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._task import CONSTRAINTS, Task
from ansible_collections.druidops.druid.plugins.plugin_utils._waiting import Outcome, Progress

display = Display()

_Request = TypeVar("_Request", bound=Task)
_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


@dataclass(frozen=True)
class Parts(Generic[_Request, _Outcome]):
    """What the kinds differ in: the options, what they ask for, how that is done, and what is told of it."""

    kind: str
    options: Mapping[str, Any]
    to_request: Callable[[Mapping[str, Any], bool, Callable[[str], str], Meter], _Request]
    fulfil: Callable[[KubernetesApi, _Request, Progress, Clock], _Outcome]
    result: Callable[[_Outcome, _Request, bool], dict[str, Any]]
    tell: Callable[[Mapping[str, Any], _Outcome | DruidopsError, Meter, float], str | None]


class ReconcileAction(ActionBase):
    """Reads, decides and writes where the playbook runs: bodies of objects never travel through Ansible."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    parts: Parts[Any, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Make the reconcile that the task asks for, and return its result."""
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        options = {**self.parts.options, **argument_spec()}
        _validation, arguments = self.validate_argument_spec(options, **CONSTRAINTS)
        began, meter = time.monotonic(), Meter()
        try:
            request = self.parts.to_request(arguments, self._task.check_mode, self._find_file, meter)
            outcome: Outcome[Any] | DruidopsError = self._fulfilled(arguments, request, meter)
            returned |= self.parts.result(outcome, request, arguments["fail_on_problem"])
        except DruidopsError as error:
            outcome = error
            returned |= _result.of_error(error, arguments["fail_on_problem"])
        self._tell(arguments, returned, outcome, meter, time.monotonic() - began)
        return returned

    def _fulfilled(self, arguments: Mapping[str, Any], request: Task, meter: Meter) -> Outcome[Any]:
        """Return what came of it on the API server, for the operator after a first look at its cache."""

        def fulfilled(api: KubernetesApi) -> Outcome[Any]:
            return self.parts.fulfil(api, request, partial(_progress, request.name), Clock())

        if not arguments["cache_kubeconfig"]:
            return fulfilled(meter.of_server(connect(arguments)))
        # What ansible-operator has put into the environment is the way to the cache.
        direct = connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})
        cache = connect({"kubeconfig": arguments["cache_kubeconfig"]}, {})
        return look_first(meter.of_cache(cache), meter.of_server(direct), fulfilled)

    def _tell(
        self,
        arguments: Mapping[str, Any],
        returned: Mapping[str, Any],
        outcome: Outcome[Any] | DruidopsError,
        meter: Meter,
        seconds: float,
    ) -> None:
        """Tell the log and the metrics what came of it; what goes wrong with the metrics is in the log."""
        untold = None
        if arguments["metrics_url"] and not self._task.check_mode:
            untold = self.parts.tell(arguments, outcome, meter, seconds)
        if arguments["log"]:
            _log(self.parts.kind, arguments, {**returned, "metrics": untold}, seconds)

    def _find_file(self, path: str) -> str:
        """Return the real path of a file beside the playbook or role, or else where ansible-playbook was started."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                raise
            return os.path.abspath(path)


def _log(kind: str, arguments: Mapping[str, Any], returned: Mapping[str, Any], seconds: float) -> None:
    """Add the line of this pass to the log; one that cannot be written is no reason to fail."""
    named = {name: arguments[name] for name in ("name", "namespace")}
    line = log_line(kind, {**named, **returned}, seconds, datetime.now(UTC))
    try:
        with open(arguments["log"], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        display.warning(f"The log {arguments['log']} cannot be written: {error}")


def _progress(name: str, text: str) -> None:
    """Print how far it is."""
    display.display(f"{name}: {text}")
