# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is progress of a rollout, and what is only the scaling by an autoscaler."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import Pending
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from hypothesis import given
from hypothesis import strategies as st

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CLUSTER = rolling.cluster()
GROUPS = {each.key: each for each in CLUSTER.groups}


class Pods(NamedTuple):
    """The pods of a group by revision: old ones, which are ready, and ready and other ones of the current revision."""

    old: int
    ready: int
    unready: int = 0


def reported(pods: Pods, minute: int, previous: Any, group: str = "brokers", generation: int = 1) -> Any:
    """Return the status; `generation` is that of the workload, which each scaling changes."""
    live = rolling.observed(CLUSTER)
    workload = live.workload(GROUPS[group])
    assert workload is not None
    counts = {
        "observedGeneration": generation,
        "updateRevision": "b",
        "replicas": sum(pods),
        "updatedReplicas": pods.ready + pods.unready,
        "readyReplicas": pods.old + pods.ready,
    }
    scaled = {
        **workload,
        "metadata": {**workload["metadata"], "generation": generation},
        "spec": {**workload["spec"], "replicas": sum(pods)},
        "status": {**workload["status"], **counts},
    }
    old = [rolling.pod(group, number, "a") for number in range(pods.old)]
    new = [rolling.pod(group, number, "b") for number in range(pods.old, sum(pods))]
    return status(
        ClusterState(CLUSTER, live.with_objects([scaled, *old, *new]), (), previous, START + timedelta(minutes=minute))
    )


# By id: the pods, those of the next reconcile, and whether that is progress.
STEPS = {
    "nothing": (Pods(2, 1, 1), Pods(2, 1, 1), False),
    "a pod is replaced": (Pods(2, 1, 1), Pods(1, 1, 2), True),
    "a new pod is ready": (Pods(2, 1, 1), Pods(2, 2, 0), True),
    "a new pod fails": (Pods(2, 2, 0), Pods(2, 1, 1), False),
    "an additional pod is created": (Pods(2, 1, 0), Pods(2, 1, 1), False),
    "more pods": (Pods(2, 1, 1), Pods(2, 1, 5), False),
    "more pods, also of the old revision": (Pods(2, 1, 1), Pods(4, 1, 3), False),
    "fewer new pods": (Pods(2, 1, 3), Pods(2, 1, 1), False),
    "more pods, one of which is ready": (Pods(2, 1, 1), Pods(2, 2, 4), True),
}


@pytest.mark.parametrize(("before", "after", "is_progress"), STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("group", ["historicals", "brokers"])
def test_progress(group: str, before: Pods, after: Pods, is_progress: bool) -> None:
    first = reported(before, 0, {}, group)
    found = reported(after, 5, first, group, generation=2)["rollout"]
    assert found["startedAt"] == first["rollout"]["startedAt"]
    assert (found["progressedAt"] != first["rollout"]["progressedAt"]) == is_progress


def test_the_end_of_a_pod_is_progress_before_its_stateful_set_shows_that() -> None:
    rolls = {"updateRevision": "b", "updatedReplicas": 1, "readyReplicas": 1}
    live = rolling.observed(CLUSTER, historicals=rolls).with_objects([rolling.pod("historicals", 1, "b")])
    first = status(ClusterState(CLUSTER, live, (), {}, START))
    without_old = live.without([ObjectKey("Pod", "druid-c-historicals-0")])
    found = [
        status(ClusterState(CLUSTER, each, (), first, START + timedelta(minutes=20))) for each in (live, without_old)
    ]
    assert [each["rollout"]["outdated"] for each in found] == [1, 0]
    reported_reasons = [each["reason"] for one in found for each in one["conditions"] if each["type"] == "Degraded"]
    assert reported_reasons == [reasons.ROLLOUT_STALLED, reasons.AS_EXPECTED]


def test_all_pods_are_old_until_the_controller_has_observed_the_change() -> None:
    """A StatefulSet that was recreated has no status yet."""
    live = rolling.observed(CLUSTER, brokers={"observedGeneration": 0})
    changed = [{**each, "status": {}} for each in live.of_kind("StatefulSet")]
    pending = Pending(started=("historicals",))
    found = status(ClusterState(CLUSTER, live.with_objects(changed), (), {}, START, pending=pending))["rollout"]
    assert (found["group"], found["updated"], found["outdated"], found["ready"]) == ("historicals", 0, 2, 0)


SCALED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=20)


@given(SCALED)
def test_an_autoscaler_does_not_prolong_the_time_limit(scaled: list[tuple[int, int]]) -> None:
    """As long as it adds and removes pods, and no other one becomes ready."""
    document = reported(Pods(1, 0, 1), 0, {})
    for number, (old, new) in enumerate(scaled, start=2):
        document = reported(Pods(1 + old, 0, 1 + new), 0, document, generation=number)
        document = reported(Pods(1 + old, 0, 1 + new), 14, document, generation=number)
    found = reported(Pods(1, 0, 1), 15, document, generation=99)
    reason = next(each["reason"] for each in found["conditions"] if each["type"] == "Degraded")
    assert reason == reasons.ROLLOUT_STALLED


@given(SCALED)
def test_a_rollout_that_goes_on_while_it_is_scaled_is_not_stalled(scaled: list[tuple[int, int]]) -> None:
    """Pods are added and removed; and every 10 minutes one is replaced."""
    document: Any = {}
    for old in range(6, 0, -1):
        for number, (more, new) in enumerate(scaled[-old:]):
            document = reported(Pods(old + more, 0, new), 10 * (6 - old), document, generation=10 * old + number)
        document = reported(Pods(old, 0, 6 - old), 10 * (6 - old), document, generation=99)
        assert next(each["status"] for each in document["conditions"] if each["type"] == "Degraded") == "False"
