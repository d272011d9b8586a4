# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base of the action plugins that reconcile: the only code here that depends on Ansible."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError, AnsibleFileNotFound
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection_options import argument_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import operator_environment
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, CONSTRAINTS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_documents import InvalidResource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.role_variables import (
    UnknownVariables,
    listed,
    names_of,
    unknown_variables,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import Task

display = Display()


class ReconcileAction(ActionBase):
    """Reads, decides and writes in the action plugin: Ansible never handles the bodies of objects."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    kind: Kind[Any, Any, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the reconcile that the task specifies, and return its result."""
        del tmp
        if self._is_operator:
            operator_environment.report_start()
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        unknown = self._unknown_variables(task_vars or {})
        if unknown.error:
            return {**returned, "changed": False, "failed": True, "msg": unknown.error}
        if unknown.warning:
            display.warning(unknown.warning)
        arguments = self._valid_arguments({**ARGUMENTS, **self.kind.arguments, **argument_spec()})
        arguments = operator_environment.with_environment(arguments, os.environ)
        task = Task(self.kind, arguments, self._find_file, display.display, display.warning, self._task.check_mode)
        return returned | task.run()

    @property
    def _is_operator(self) -> bool:
        """Whether the task is one of the operator."""
        return bool(boolean(self._task.args.get("operator", False), strict=False))

    def _unknown_variables(self, variables: Mapping[str, Any]) -> UnknownVariables:
        """Return the unknown variables of the role; a task without the role does not set the option.

        This comes before the validation of the options, which a mistyped variable can make incomplete.
        """
        prefix, ignored = self.kind.prefix, self._task.args.get("ignored_variables")
        # the operator's playbooks set the option `operator`, not a variable of the role
        options = {*ARGUMENTS, *self.kind.arguments} - {"operator"}
        known = names_of(prefix, options, self.kind.role_variables)
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
