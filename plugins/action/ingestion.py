# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a DruidIngestion, in-process. The options are documented in plugins/modules/ingestion.py."""

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
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import argument_spec, connect
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._first_look import look_first
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, result
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.arguments import (
    CONSTRAINTS,
    INGESTION,
    to_request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.fulfil import fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._log_line import log_line

display = Display()


class ActionModule(ActionBase):
    """Reads, decides and writes where the playbook runs: specifications never travel through Ansible."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({**INGESTION, **argument_spec()}, **CONSTRAINTS)
        began = time.monotonic()
        returned |= self._reconcile(arguments)
        if arguments["log"]:
            _log(arguments, returned, time.monotonic() - began)
        return returned

    def _reconcile(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            request = to_request(arguments, self._task.check_mode, self._find_file)
            fulfilled = partial(fulfil, request=request, progress=partial(_progress, request.name), clock=Clock())
            outcome = _attempt(arguments, fulfilled)
        except DruidopsError as error:
            return result.of_error(error, arguments["fail_on_problem"])
        return result.of_outcome(outcome, request, arguments["fail_on_problem"])

    def _find_file(self, path: str) -> str:
        """Return the real path of a file beside the playbook or role, or else where ansible-playbook was started."""
        try:
            return str(self._loader.path_dwim_relative_stack(self._task.get_search_path(), "files", path))
        except AnsibleFileNotFound:
            if not os.path.exists(path):
                raise
            return os.path.abspath(path)


def _attempt(arguments: Mapping[str, Any], fulfilled: Callable[[KubernetesApi], Outcome]) -> Outcome:
    if not arguments["cache_kubeconfig"]:
        return fulfilled(connect(arguments))
    # What ansible-operator has put into the environment is the way to the cache.
    direct = connect(arguments, {name: os.environ[name] for name in os.environ if name != "K8S_AUTH_KUBECONFIG"})
    return look_first(connect({"kubeconfig": arguments["cache_kubeconfig"]}, {}), direct, fulfilled)


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
