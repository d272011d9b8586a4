# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to tell, as metrics, of one task about one ingestion."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.counted import COUNTED
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge, End, Remember, Submit
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics import Run
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._telemetry import Telemetry


def of_outcome(outcome: Outcome, meter: Meter, seconds: float) -> Run:
    """Return what there is to tell of a task that could be carried out, be it in part."""
    plan = outcome.report.plan if outcome.report else None
    problems = [each.reason for each in plan.problems] if plan else []
    steps = plan.steps if plan else ()
    ended = [step for step in steps if isinstance(step, End) or (isinstance(step, Remember) and step.record is None)]
    given = [step for step in steps if isinstance(step, Converge | Submit | Remember) and step not in ended]
    return Run(
        seconds=seconds,
        outcome="with_problems" if problems else "changed" if outcome.done else "unchanged",
        phases=meter.phases.seconds,
        errors={"act": problems.count(reasons.WRITE_FAILED)},
        requests=meter.requests,
        applied=len(given),
        removed=len(ended),
    )


TELEMETRY = Telemetry(COUNTED, of_outcome)
