# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Druid cluster, in-process. The options are documented in plugins/modules/cluster.py."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ansible.errors import AnsibleFileNotFound
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import measured, names, result
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.arguments import CLUSTER, CONSTRAINTS, to_request
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.fulfil import fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import argument_spec, connect
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import look_first
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._log_line import log_line
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter

display = Display()


class ActionModule(ActionBase):
    """Reads, decides and writes where the playbook runs: bodies of objects never travel through Ansible."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({**CLUSTER, **argument_spec()}, **CONSTRAINTS)
        began, meter = time.monotonic(), Meter()
        try:
            request = to_request(arguments, self._task.check_mode, self._find_file, meter.phases)
            fulfilled = partial(fulfil, request=request, progress=partial(_progress, request.name), clock=Clock())
            outcome = _attempt(arguments, fulfilled, meter)
            made: Outcome | DruidopsError = outcome
            returned |= result.of_outcome(outcome, request, arguments["fail_on_problem"])
        except DruidopsError as error:
            made = error
            returned |= result.of_error(error, arguments["fail_on_problem"])
        self._tell(arguments, returned, made, meter, time.monotonic() - began)
        return returned

    def _tell(
        self,
        arguments: Mapping[str, Any],
        returned: Mapping[str, Any],
        made: Outcome | DruidopsError,
        meter: Meter,
        seconds: float,
    ) -> None:
        """Tell the log and the metrics what came of it; what goes wrong with the metrics is in the log."""
        untold = None
        if arguments["metrics_url"] and not self._task.check_mode:
            untold = measured.tell(arguments, made, meter, seconds)
        if arguments["log"]:
            _log(arguments, {**returned, "metrics": untold}, seconds)

    def _find_file(self, path: str) -> str:
        """Return the real path of a file beside the playbook or role, or else where ansible-playbook was started."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                raise
            return os.path.abspath(path)


def _attempt(arguments: Mapping[str, Any], fulfilled: Callable[[KubernetesApi], Outcome], meter: Meter) -> Outcome:
    if not arguments["cache_kubeconfig"]:
        return fulfilled(meter.of_server(connect(arguments)))
    # What ansible-operator has put into the environment is the way to the cache.
    direct = connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})
    cache = connect({"kubeconfig": arguments["cache_kubeconfig"]}, {})
    return look_first(meter.of_cache(cache), meter.of_server(direct), fulfilled)


def _log(arguments: Mapping[str, Any], returned: Mapping[str, Any], seconds: float) -> None:
    """Add the line of this pass to the log; one that cannot be written is no reason to fail."""
    named = {name: arguments[name] for name in ("name", "namespace")}
    line = log_line(names.KIND, {**named, **returned}, seconds, datetime.now(UTC))
    try:
        with open(arguments["log"], "a", encoding="utf-8") as log:
            log.write(f"{line}\n")
    except OSError as error:
        display.warning(f"The log {arguments['log']} cannot be written: {error}")


def _progress(name: str, text: str) -> None:
    display.display(f"{name}: {text}")
