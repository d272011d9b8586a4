# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to tell, as metrics, of one task about one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils import _metrics, _telemetry
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import census, names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._task import NotThere

KIND = names.KIND.lower()
APPLIED = ("create", "update", "recreate")


def tell(arguments: Mapping[str, Any], made: Outcome | DruidopsError, meter: Meter, seconds: float) -> str | None:
    """Post what there is to tell of a task; return why that did not go well, None when it did."""
    run = of_outcome(made, meter, seconds) if isinstance(made, Outcome) else _telemetry.failed(made, meter, seconds)
    count = partial(_census, arguments, made, meter)
    return _telemetry.tell(arguments["metrics_url"], KIND, run, count, meter.has_written or isinstance(made, NotThere))


def _census(arguments: Mapping[str, Any], made: Outcome | DruidopsError, meter: Meter) -> dict[str, float] | None:
    """Return the gauges about all clusters as the cache knows them, None when it does not answer or there is none."""
    watched = [name for name in map(str.strip, arguments["metrics_namespaces"]) if name]
    resources = census.read(meter.cache, watched) if meter.cache else None
    if resources is not None and (isinstance(made, Outcome | NotThere)):
        status = status_of(made) if isinstance(made, Outcome) else None
        resources = census.with_own(resources, arguments["namespace"], arguments["name"], status)
    return None if resources is None else census.census(resources)


def of_outcome(outcome: Outcome, meter: Meter, seconds: float) -> _metrics.Run:
    """Return what there is to tell of a task that could be carried out, be it in part."""
    operations = [step.operation for step in outcome.plan.steps]
    return _metrics.Run(
        seconds=seconds,
        outcome=_outcome(outcome),
        phases=meter.phases.seconds,
        errors=_errors(outcome),
        requests=meter.requests,
        applied=sum(operation in APPLIED for operation in operations),
        removed=operations.count("delete"),
    )


def status_of(outcome: Outcome) -> Mapping[str, Any] | None:
    """Return the status that a pass has left, None when the resource has gone."""
    return None if outcome.report is None or outcome.report.is_gone else outcome.report.status


def _outcome(outcome: Outcome) -> _metrics.Outcome:
    if _problems(outcome):
        return "with_problems"
    return "changed" if outcome.changed else "unchanged"


def _problems(outcome: Outcome) -> list[str]:
    return [problem.reason for problem in outcome.problems]


def _errors(outcome: Outcome) -> dict[str, int]:
    untold = len(outcome.report.troubles) if outcome.report else 0
    return {"act": _problems(outcome).count(reasons.WRITE_FAILED), "report": untold}
