# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a blocked group holds the restarts of later ones. What then waits: tests/unit/simulator."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

UPGRADED, LIVE = rolling.cluster(rolling.NEW), rolling.observed(rolling.cluster())
STEPS = rolling.steps(UPGRADED, LIVE)
BLOCKED = (Finding("NameConflict", "No.", "historicals"),)
KEY = ObjectKey("StatefulSet", "druid-c-historicals")


@pytest.mark.parametrize(
    ("dry_run", "restarted"),
    [
        pytest.param("predicted", [], id="they would"),
        pytest.param("live", ["middlemanagers"], id="a webhook changes the template back"),
        pytest.param("rejected", [], id="it is not known"),
    ],
)
def test_the_next_group_restarts_only_if_the_blocked_one_need_not(dry_run: str, restarted: list[str]) -> None:
    [step] = (each for each in STEPS if each.key == KEY)
    verdict = {
        "predicted": Verdict(step, step.after),
        "live": Verdict(step, step.live),
        "rejected": Verdict(step, rejection=BLOCKED[0]),
    }[dry_run]
    plan = Draft(inputs(UPGRADED, LIVE, verdicts={KEY: verdict}), STEPS, BLOCKED).plan()
    assert rolling.restarted(plan) == restarted
    assert bool(plan.rollout_warnings) is not bool(restarted)
