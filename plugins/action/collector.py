# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Collector. The options are documented in plugins/modules/collector.py."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import bytecode_cache  # pylint: disable=unused-import  # noqa: F401 - before the others

# isort: split
import os
import sys
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.plugins.loader import connection_loader
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm, helm_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.kind import CollectorKind
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import OPTIONS
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import operator_environment, result
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action import ReconcileAction


class ActionModule(ReconcileAction):
    """Reconciles a Collector: Helm runs in modules of kubernetes.core, on the controller."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the reconcile that the task specifies, and return its result."""
        is_operator = self._is_operator
        arguments = operator_environment.with_environment({**self._task.args, "operator": is_operator}, os.environ)
        environment = operator_environment.of_server(os.environ, is_operator=is_operator)
        try:
            connection = helm_connection({name: arguments.get(name) for name in OPTIONS}, environment)
        except KubernetesError as error:
            return result.of_error(error, True)

        def run_module(name: str, options: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
            return self._module(name, options, environment, task_vars or {})

        binary, registry = arguments.get("helm_binary"), arguments.get("helm_registry_config")
        helm = Helm(run_module, connection.arguments, connection.environment, binary, _local_temporary(), registry)
        self.kind = CollectorKind(helm)
        return super().run(tmp, task_vars)

    def _module(
        self, name: str, options: Mapping[str, Any], environment: Mapping[str, str], task_vars: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Run a module on the controller with this Python. It also runs in check mode, where it only renders."""
        self._connection = connection_loader.get("ansible.builtin.local", self._play_context, os.devnull)
        self._task = task = self._task.copy()
        before = task.environment, task.check_mode
        task.environment, task.check_mode = [*(task.environment or []), dict(environment)], False
        try:
            variables = {**task_vars, "ansible_python_interpreter": sys.executable}
            returned: Mapping[str, Any] = self._execute_module(name, module_args=dict(options), task_vars=variables)
            return returned
        finally:
            task.environment, task.check_mode = before


def _local_temporary() -> str:
    """Return Ansible's directory for temporary files of this run; it is removed when the run ends."""
    return str(constants.DEFAULT_LOCAL_TMP)  # type: ignore[attr-defined]
