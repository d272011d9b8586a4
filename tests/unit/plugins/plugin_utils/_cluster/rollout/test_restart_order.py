# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of restarts: as specified or as Druid documents, reversed for a downgrade, and behind a blocked group."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.restart_order import rollout_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

UPGRADE = ("historicals", "middlemanagers", "brokers", "coordinators")
DOWNGRADE = tuple(reversed(UPGRADE))


def restarts(before: str, after: str) -> list[Step]:
    live = rolling.observed(rolling.cluster(before))
    return [step for step in rolling.steps(rolling.cluster(after, annotations=AGAIN), live) if step.restart.pods]


# Restarts without another image, too.
AGAIN = {"druid.apache.org/restarted-at": "2026-01-02T03:04:05Z"}
# (image before, image after, order, whether there is a warning)
TABLE: list[tuple[str, str, tuple[str, ...], bool]] = [
    ("druid:36.0.0", "druid:37.0.0", UPGRADE, False),
    ("druid:37.0.0", "druid:36.0.0", DOWNGRADE, False),
    ("druid:9.0.0", "druid:10.0.0", UPGRADE, False),
    ("druid:37.0.0", "druid:37.0", UPGRADE, False),
    ("druid:37.0.1", "druid:37", DOWNGRADE, False),
    ("druid:37.0.0-a", "druid:37.0.0-b", UPGRADE, False),
    ("druid:latest", "druid:latest", UPGRADE, False),
    ("druid:37.0.0", "druid:latest", UPGRADE, True),
    ("druid:latest", "druid:36.0.0", UPGRADE, True),
    ("druid:37.0.0", "druid@sha256:0123", UPGRADE, True),
]


@pytest.mark.parametrize(("before", "after", "groups", "warns"), TABLE)
def test_order(before: str, after: str, groups: tuple[str, ...], warns: bool) -> None:
    found = rollout_order(rolling.cluster(after), restarts(before, after))
    assert found.groups == groups
    assert len(found.warnings) == warns
    for text in found.warnings:
        assert "is not a version, so whether Druid is upgraded or downgraded is not known" in text


def test_without_a_restart_the_order_is_that_of_an_upgrade() -> None:
    assert rollout_order(rolling.cluster(), ()).groups == UPGRADE


def test_a_specified_order_comes_before_the_documented_one() -> None:
    which = rolling.cluster(rolloutOrder=["broker", "coordinator"])
    assert rollout_order(which, ()).groups == ("brokers", "coordinators", "historicals", "middlemanagers")


def test_groups_of_one_type_are_ordered_by_key() -> None:
    node = rolling.cluster().spec["nodes"]["historicals"]
    tiers = druid.cluster(nodes=dict.fromkeys(("hot", "cold", "archive"), node))
    assert rollout_order(tiers, ()).groups == ("archive", "cold", "hot")


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
    plan = DraftPlan(inputs(UPGRADED, LIVE, verdicts={KEY: verdict}), STEPS, BLOCKED).plan()
    assert rolling.restarted(plan) == restarted
    assert bool(plan.rollout_warnings) is not bool(restarted)
