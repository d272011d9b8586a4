# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a DruidIngestion, in-process. The options are documented in plugins/modules/ingestion.py."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._action import ReconcileAction, attempt, log, progress
from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import argument_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, result
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.arguments import (
    CONSTRAINTS,
    INGESTION,
    to_request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.fulfil import fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter


class ActionModule(ReconcileAction):
    """Keeps an ingestion."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({**INGESTION, **argument_spec()}, **CONSTRAINTS)
        began = time.monotonic()
        returned |= self._reconcile(arguments)
        if arguments["log"]:
            log(names.KIND, arguments, returned, time.monotonic() - began)
        return returned

    def _reconcile(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            request = to_request(arguments, self._task.check_mode, self.find_file)
            fulfilled = partial(fulfil, request=request, progress=partial(progress, request.name), clock=Clock())
            outcome = attempt(arguments, fulfilled, Meter())
        except DruidopsError as error:
            return result.of_error(error, arguments["fail_on_problem"])
        return result.of_outcome(outcome, request, arguments["fail_on_problem"])
