# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base of the action plugins that reconcile: the only code here that depends on Ansible."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError, AnsibleFileNotFound
from ansible.module_utils.common.validation import check_type_path
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import argument_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import operator_environment, plan_files
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import ARGUMENTS, CONSTRAINTS, NEVER
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import InvalidResource
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import Task
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

display = Display()
# Of whole names: with the prefix, two of four characters may differ (wiat, wait).
SIMILARITY = 0.93
MAX_CHARACTERS = 80
# Variables of every role: the registered result, and what the role prints.
_COMMON = ("result", "print_result")


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
        else:
            self._remove_earlier_plan()
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        unknown = self._unknown_variables(task_vars or {})
        if unknown.error:
            return {**returned, "changed": False, "failed": True, "msg": unknown.error}
        if unknown.warning:
            display.warning(unknown.warning)
        arguments = self._valid_arguments({**ARGUMENTS, **self.kind.arguments, **argument_spec()})
        arguments = operator_environment.with_environment(arguments, os.environ)
        check_mode, files = self._task.check_mode, arguments["plan_files"]
        if arguments["fail_on"] != NEVER and not check_mode:
            raise AnsibleActionFail(
                "fail_on is for check mode (--check): otherwise the changes are made before the task fails."
            )
        task = Task(self.kind, arguments, self._find_file, display.display, display.warning, check_mode)
        returned |= task.run()
        # without a diff, there is no plan
        error = plan_files.write(files, self.kind.name, returned, check_mode) if "diff" in returned else ""
        text = " ".join(filter(None, (returned.get("msg"), error)))
        return {**returned, "failed": True, "msg": text} if error else returned

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

    def _remove_earlier_plan(self) -> None:
        """Remove the files of an earlier plan, whatever comes of this one; AnsibleActionFail if they cannot be."""
        files = [check_type_path(each) for each in listed(self._task.args.get("plan_files"))]
        problem = plan_files.problem_of(files) or plan_files.remove(files)
        if problem:
            raise AnsibleActionFail(problem)

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


@dataclass(frozen=True)
class UnknownVariables:
    """Names of unknown variables: `mistyped` with the known one that each is similar to."""

    prefix: str
    mistyped: Mapping[str, str]
    others: tuple[str, ...]

    @property
    def error(self) -> str | None:
        """The message about mistyped variables; None if there are none."""
        if not self.mistyped:
            return None
        pairs = (f"{_shown(name)} (did you mean {known}?)" for name, known in self.mistyped.items())
        return f"Unknown variables: {join_limited(pairs)}. Rename or remove them. {self._remedy}"

    @property
    def warning(self) -> str | None:
        """The message about the others; None if there are none."""
        if not self.others:
            return None
        return f"Unknown variables have no effect: {join_limited(map(_shown, self.others))}. {self._remedy}"

    @property
    def _remedy(self) -> str:
        return f"If they are your own variables, list their names in {self.prefix}ignored_variables."


def names_of(prefix: str, options: Iterable[str], own: Iterable[str]) -> frozenset[str]:
    """Return the names of a role's variables, from the options of its action and what is the role's own."""
    return frozenset(f"{prefix}{name}" for name in (*_COMMON, *options, *own))


def unknown_variables(
    prefix: str, known: frozenset[str], variables: Iterable[str], ignored: Iterable[str]
) -> UnknownVariables:
    """Return the unknown ones among the names of all variables of a task. Their values are not read."""
    skipped = {*known, *ignored}
    unknown = sorted(str(name) for name in variables if name.startswith(prefix) and name not in skipped)
    mistyped = {name: nearest for name in unknown if (nearest := _nearest(name, known)) is not None}
    return UnknownVariables(prefix, mistyped, tuple(name for name in unknown if name not in mistyped))


def listed(value: Any) -> tuple[str, ...]:
    """Return the elements of a list option before Ansible has validated it: it may be a string with commas."""
    elements: Iterator[Any] = iter(value.split(",") if isinstance(value, str) else value or ())
    return tuple(str(element).strip() for element in elements)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name[:MAX_CHARACTERS], known, n=1, cutoff=SIMILARITY)), None)


def _shown(name: str) -> str:
    """Return the name as a short text that a terminal can print."""
    text = name if name.isprintable() else ascii(name)
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 3]}..."
