# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories of a cluster, none of which may lose data, pods or addresses, or get stuck."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.specification import NEW_IMAGE, OLD_IMAGE, Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Converge,
    Create,
    Delete,
    Edit,
    Event,
    ForeignAutoscaler,
    Load,
    Prune,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.environment import Break, DeletePod, Refuse, RolloutRestart
from ansible_collections.druidops.druid.tests.unit.simulator.histories import (
    CLUSTERS,
    CLUSTERS_WITH_ORPHANS,
    ROLLING_CLUSTERS,
    histories,
    histories_of_rollouts,
    histories_with_orphans,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer
from hypothesis import example, given, settings

# A history takes a quarter of a second.
EXAMPLES = settings(max_examples=settings.default.max_examples // 5)


_DELETED_WITH_ITS_OWNER = Cluster({"brokers": Group(when_deleted="Delete"), "historicals": Group()})


@EXAMPLES
@example(_DELETED_WITH_ITS_OWNER, [Delete("Orphan"), Converge(), Prune()])
@given(CLUSTERS, histories("operator"))
def test_no_history_of_the_operator_breaks_a_cluster(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


@EXAMPLES
@given(CLUSTERS, histories("playbook"))
def test_no_history_of_playbooks_breaks_a_cluster(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("playbook"), cluster, history)


_AUTOSCALED = Cluster({"brokers": Group(replicas=0, autoscaler=(1, 3))}, deletes_orphans=True)
# Two autoscalers, for which there is more load than one of them allows.
_AUTOSCALED_TWICE: list[Event] = [
    Run(),
    ForeignAutoscaler("brokers", (2, 4)),
    Load("brokers", 5),
    Edit("stopped", False),
]


@EXAMPLES
@example(_AUTOSCALED, _AUTOSCALED_TWICE)
@given(CLUSTERS_WITH_ORPHANS, histories_with_orphans("operator"))
def test_no_history_loses_a_pvc_that_was_not_marked(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


def _lacking_a_pod(has_budget: bool) -> Cluster:
    hot = Group(has_budget=False)
    return Cluster({"historicals": Group(has_budget=has_budget), "historicals-hot": hot}, rolls=True)


# The controller creates the deleted pod only after the eviction of the other one, which has to get a volume.
_A_POD_THAT_IS_NOT_CREATED: list[Event] = [
    DeletePod("historicals", 1),
    Edit("has_more_claims", True, "historicals"),
    RolloutRestart("historicals-hot"),
    Edit("kind", "Deployment", "historicals-hot"),
]


_NEW = Cluster(
    {key: Group(replicas=1, has_budget=False) for key in ("brokers", "historicals", "historicals-hot")},
    image=NEW_IMAGE,
    rolls=True,
)
# The workloads still count pods that are not ready any more.
_PODS_THAT_FAIL_IN_A_ROLLOUT: list[Event] = [
    Edit("image", OLD_IMAGE),
    RolloutRestart("historicals"),
    Edit("service", "%s-b", "historicals"),
    Break(NEW_IMAGE, "unready"),
    Run(),
]


_A_GROUP_THAT_IS_REFUSED: list[Event] = [
    Refuse("historicals"),
    Edit("image", NEW_IMAGE),
    Run(),
    DeletePod("brokers", 0),
    Run(),
]


@EXAMPLES
@example(Cluster(rolls=True), _A_GROUP_THAT_IS_REFUSED)
@example(_NEW, _PODS_THAT_FAIL_IN_A_ROLLOUT)
@example(_lacking_a_pod(has_budget=False), _A_POD_THAT_IS_NOT_CREATED)
@example(_lacking_a_pod(has_budget=True), _A_POD_THAT_IS_NOT_CREATED)
@given(ROLLING_CLUSTERS, histories_of_rollouts("operator"))
def test_no_history_restarts_two_groups_at_once_or_out_of_order(cluster: Cluster, history: list[Event]) -> None:
    _play(Observer("operator"), cluster, history)


def _play(observer: Observer, cluster: Cluster, history: list[Event]) -> None:
    observer.act(Create(cluster))
    observer.converge()
    observer.play(history)
    observer.delete()
