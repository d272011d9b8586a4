# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Runs a module on Druid's API as Ansible does, prints a line while it takes long, which a module itself cannot, and
masks the options of a module that could not start.

It is the action_plugin of all modules of the group in meta/runtime.yml.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action.normal import ActionModule as NormalAction
from ansible.utils.display import Display
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import structured
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.still_running import (
    report_elapsed,
    still_running,
)

display = Display()


class ActionModule(NormalAction):
    """Runs the module of the task."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of the module."""
        with report_elapsed(self._report):
            result: dict[str, Any] = super().run(tmp, task_vars)
        # If Ansible rejects an option, it may know no secret among the others, which it returns.
        if result.get("failed") and "invocation" in result:
            result["invocation"] = masked(structured(result["invocation"]))
        return result

    def _report(self, seconds: int) -> None:
        arguments = {} if self._task.no_log else self._task.args
        # on stderr, so that stdout is only what the callback plugin prints
        display.display(f"{self._task.action}: {still_running(arguments, seconds)}", stderr=True)
