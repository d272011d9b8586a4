# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When ansible-operator reconciles next. The options are documented in plugins/modules/requeue_after.py."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Returns its argument: ansible-operator reads it from the event of the task."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({"seconds": {"type": "int", "required": True}})
        # A duration as Go writes it.
        return {**returned, "changed": False, "period": f"{arguments['seconds']}s"}
