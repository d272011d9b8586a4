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
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import measured, names, result
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.arguments import (
    CONSTRAINTS,
    INGESTION,
    to_request,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.fulfil import fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter


class ActionModule(ReconcileAction):
    """Keeps an ingestion."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        del tmp
        returned: dict[str, Any] = super().run(task_vars=task_vars)
        _validation, arguments = self.validate_argument_spec({**INGESTION, **argument_spec()}, **CONSTRAINTS)
        began, meter = time.monotonic(), Meter()
        try:
            request = to_request(arguments, self._task.check_mode, self.find_file, meter)
            fulfilled = partial(fulfil, request=request, progress=partial(progress, request.name), clock=Clock())
            outcome = attempt(arguments, fulfilled, meter)
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
            untold = measured.tell(arguments["metrics_url"], made, meter, seconds)
        if arguments["log"]:
            log(names.KIND, arguments, {**returned, "metrics": untold}, seconds)
