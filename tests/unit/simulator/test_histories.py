# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories of a cluster, none of which may lose data, pods or addresses, or get stuck."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.specification import Cluster
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Create, Event
from ansible_collections.druidops.druid.tests.unit.simulator.histories import (
    CLUSTERS,
    CLUSTERS_WITH_ORPHANS,
    ROLLING_CLUSTERS,
    histories,
    histories_of_rollouts,
    histories_with_orphans,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from hypothesis import given, settings

# A history takes a quarter of a second.
EXAMPLES = settings(max_examples=20 if settings.default.derandomize else settings.default.max_examples)


@EXAMPLES
@given(CLUSTERS, histories("operator"))
def test_no_history_of_the_operator_breaks_a_cluster(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


@EXAMPLES
@given(CLUSTERS, histories("playbook"))
def test_no_history_of_playbooks_breaks_a_cluster(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("playbook"), cluster, history)


@EXAMPLES
@given(CLUSTERS_WITH_ORPHANS, histories_with_orphans("operator"))
def test_no_history_loses_a_pvc_that_was_not_marked(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


@EXAMPLES
@given(ROLLING_CLUSTERS, histories_of_rollouts("operator"))
def test_no_history_restarts_two_groups_at_once(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


def _play(observer: Observer, cluster: Cluster, history: list[Event]) -> None:
    observer.act(Create(cluster))
    observer.converge()
    observer.play(history)
    observer.delete()
