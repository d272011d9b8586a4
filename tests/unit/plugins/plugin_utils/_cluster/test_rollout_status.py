# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rollout in the status: the group, how far it is, since when, and whether it has stalled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import (
    NOTHING_PENDING,
    Pending,
    revision_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.rolling import pod

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTED = "2026-01-02T03:04:05Z"
ROLLING = {"updateRevision": "b", "updatedReplicas": 1, "readyReplicas": 1}
CLUSTER = rolling.cluster()


def reported(
    live: Observed, previous: Any = None, minutes: int = 0, pending: Pending = NOTHING_PENDING, which: Any = CLUSTER
) -> Any:
    return status(ClusterState(which, live, (), previous or {}, START + timedelta(minutes=minutes), pending=pending))


def revision(group: str, which: Any = CLUSTER) -> str:
    workload = rolling.observed(which).workload(next(each for each in which.groups if each.key == group))
    assert workload is not None
    return revision_of(workload)


def condition(document: Any, kind: str) -> Any:
    return next(each for each in document["conditions"] if each["type"] == kind)


def test_no_rollout_while_all_pods_are_available() -> None:
    document = reported(rolling.observed(CLUSTER))
    assert "rollout" not in document
    assert condition(document, "Ready")["status"] == "True"


def test_a_pod_that_is_not_ready_is_no_rollout() -> None:
    assert "rollout" not in reported(rolling.observed(CLUSTER, brokers={"readyReplicas": 1}))


def test_the_cause_stays_as_long_as_the_pods_are_specified_like_that() -> None:
    live, because = rolling.observed(CLUSTER, historicals=ROLLING), {"historicals": "Secret db changed"}
    document = reported(live, pending=Pending(causes=because))
    for found in (document, reported(live, document, 1)):
        assert found["rollout"]["cause"] == "Secret db changed"
        assert f"since {STARTED} (Secret db changed)." in condition(found, "Progressing")["message"]
    other = {**document["rollout"], "revision": "of others"}
    assert "cause" not in reported(live, {**document, "rollout": other}, 1)["rollout"]


def test_the_group_and_what_follows() -> None:
    document = reported(rolling.observed(CLUSTER, historicals=ROLLING), pending=Pending(("brokers", "coordinators")))
    assert document["rollout"] == {
        "group": "historicals",
        "progress": "historicals 1/2",
        "updated": 1,
        "outdated": 1,
        "ready": 0,
        "pods": 2,
        "revision": revision("historicals"),
        "startedAt": STARTED,
        "progressedAt": STARTED,
        "pending": ["brokers", "coordinators"],
    }
    message = (
        f"Pods are being changed in historicals. Group historicals: 1 of 2 pods are updated, since {STARTED}. "
        "Then: brokers, coordinators."
    )
    found = condition(document, "Progressing")
    assert (found["status"], found["reason"], found["message"]) == ("True", reasons.ROLLING_OUT, message)


def test_a_group_that_blocks_others_is_reported_although_it_is_up_to_date() -> None:
    document = reported(rolling.observed(CLUSTER, brokers={"readyReplicas": 1}), pending=Pending(("historicals",)))
    assert (document["rollout"]["group"], document["rollout"]["pending"]) == ("brokers", ["historicals"])
    assert document["rollout"]["onlyBlocks"] is True
    # an autoscaler scales it
    scaled = rolling.observed(CLUSTER, brokers={"readyReplicas": 1, "observedGeneration": 0})
    assert reported(scaled, document, pending=Pending(("historicals",)))["rollout"]["onlyBlocks"] is True
    # another client restarts it
    rolls = reported(rolling.observed(CLUSTER, brokers=ROLLING), document, 1, Pending(("historicals",)))["rollout"]
    assert "onlyBlocks" not in rolls
    assert rolls["startedAt"] == "2026-01-02T03:05:05Z"
    last = reported(rolling.observed(CLUSTER, brokers={"readyReplicas": 1}), {"rollout": rolls}, 2)["rollout"]
    assert "onlyBlocks" not in last


@pytest.mark.parametrize("other", ["historicals", "middlemanagers", "coordinators"])
@pytest.mark.parametrize("pending", [NOTHING_PENDING, Pending(("coordinators",))])
def test_a_rollout_goes_on_while_a_pod_of_another_group_is_not_ready(other: str, pending: Pending) -> None:
    first = reported(rolling.observed(CLUSTER, brokers=ROLLING), pending=pending)
    live = rolling.observed(CLUSTER, brokers=ROLLING, **{other: {"readyReplicas": 1}})
    assert reported(live, first, 1, pending)["rollout"] == first["rollout"]
    restarted = rolling.observed(CLUSTER, brokers=ROLLING, **{other: ROLLING})
    assert reported(restarted, first, 1, pending)["rollout"] == first["rollout"]
    result = rolling.observed(CLUSTER, **{other: ROLLING})
    assert reported(result, first, 1, pending)["rollout"]["group"] == other


def test_a_rollout_is_reported_when_it_starts() -> None:
    """The controller has not observed the new template yet."""
    live = rolling.observed(CLUSTER, brokers={"observedGeneration": 0})
    found = reported(live, pending=Pending(("coordinators",), (), ("brokers",)))["rollout"]
    assert (found["progress"], found["pending"]) == ("brokers 0/2", ["coordinators"])
    # another change, such as the number of replicas
    assert "rollout" not in reported(live)


def test_a_rollout_lasts_until_the_last_pod_is_ready() -> None:
    before = reported(rolling.observed(CLUSTER, brokers=ROLLING))
    document = reported(rolling.observed(CLUSTER, brokers={"readyReplicas": 1}), before, 1)
    assert document["rollout"]["progress"] == "brokers 2/2"
    assert "rollout" not in reported(rolling.observed(CLUSTER), document, 2)


# (state of the next reconcile, whether that is progress)
PROGRESS = [
    (ROLLING, False),
    ({**ROLLING, "updatedReplicas": 2}, True),
    ({**ROLLING, "readyReplicas": 2}, True),
    # A pod that fails and restarts is not progress.
    ({**ROLLING, "readyReplicas": 0}, False),
]


@pytest.mark.parametrize(("later", "is_progress"), PROGRESS)
def test_progress(later: dict[str, Any], is_progress: bool) -> None:
    before = reported(rolling.observed(CLUSTER, brokers=ROLLING))
    found = reported(rolling.observed(CLUSTER, brokers=later), before, 5)["rollout"]
    assert found["startedAt"] == STARTED
    assert found["progressedAt"] == ("2026-01-02T03:09:05Z" if is_progress else STARTED)


# (further fields of the cluster, minutes, whether it has stalled)
STALLS: list[tuple[dict[str, Any], int, bool]] = [
    ({}, 14, False),
    ({}, 15, True),
    ({"progressDeadlineSeconds": 60}, 1, True),
    ({"progressDeadlineSeconds": 1800}, 15, False),
    ({"progressDeadlineSeconds": 60, "minReadySeconds": 180}, 3, False),
    ({"progressDeadlineSeconds": 60, "minReadySeconds": 180}, 4, True),
]


@pytest.mark.parametrize(("more", "minutes", "has_stalled"), STALLS)
def test_a_stalled_rollout(more: dict[str, Any], minutes: int, has_stalled: bool) -> None:
    which = rolling.cluster(**more)
    live = rolling.observed(which, brokers=ROLLING)
    found = condition(reported(live, reported(live, which=which), minutes, which=which), "Degraded")
    assert (found["status"] == "True", found["reason"] == reasons.ROLLOUT_STALLED) == (has_stalled, has_stalled)


@pytest.mark.parametrize(("minutes", "has_stalled"), [(15, False), (74, False), (75, True)])
def test_a_pod_that_is_terminating_has_its_grace_period(minutes: int, has_stalled: bool) -> None:
    """Such as a MiddleManager that completes its tasks: the time limit begins at the end of the period."""
    terminating = pod("middlemanagers", 1)
    terminating["metadata"]["deletionTimestamp"] = "2026-01-02T04:04:05Z"
    live = rolling.observed(CLUSTER, middlemanagers={"updateRevision": "b", "updatedReplicas": 0, "readyReplicas": 1})
    live = live.with_objects([terminating])
    found = condition(reported(live, reported(live), minutes), "Degraded")
    assert (found["status"] == "True") == has_stalled
    text = "pod druid-c-middlemanagers-1 is terminating, with a grace period until 2026-01-02T04:04:05Z"
    assert (text in found["message"]) == has_stalled


ENDED = {"lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "No such\nmetadata store."}}}
UNPLACED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
# (pod, its part of the message)
CAUSES = [
    (pod("brokers", 1, "b", "CrashLoopBackOff", container=ENDED),
     "pod druid-c-brokers-1, container druid-c-brokers: CrashLoopBackOff, last exit code 1 (Error): "
     "No such metadata store; see kubectl logs druid-c-brokers-1 --container druid-c-brokers --namespace ns"),
    (pod("brokers", 1, "b", conditions=[{"type": "Ready", "status": "False", "lastTransitionTime": STARTED}]),
     f"pod druid-c-brokers-1 is not ready, since {STARTED}"),
    (pod("brokers", 1, "b", conditions=[UNPLACED]),
     "pod druid-c-brokers-1: Unschedulable: 0/3 nodes are available"),
]  # fmt: skip


@pytest.mark.parametrize(("failing", "cause"), CAUSES)
def test_a_stalled_rollout_names_the_pod_and_its_last_message(failing: Any, cause: str) -> None:
    live = rolling.observed(CLUSTER, brokers=ROLLING).with_objects([failing])
    found = condition(reported(live, reported(live), 20), "Degraded")
    assert found["message"].endswith(
        "The rollout of group brokers is stalled: 1 of 2 pods are updated, "
        f"without progress since {STARTED} ({cause}). "
        "No other group whose pods are available restarts until its pods are available."
    )


def test_a_stalled_rollout_names_a_pod_that_does_not_exist() -> None:
    """The API server does not accept it: that is only in the events of the StatefulSet."""
    live = rolling.observed(CLUSTER, historicals=ROLLING).without([ObjectKey("Pod", "druid-c-historicals-1")])
    found = condition(reported(live, reported(live), 20), "Degraded")["message"]
    name = "druid-c-historicals"
    assert f"since {STARTED} (pod {name}-1 does not exist: see the events of StatefulSet {name})." in found


def test_a_stall_while_all_pods_are_ready_does_not_say_that_it_blocks_other_groups() -> None:
    """As with an eviction that a PodDisruptionBudget never allows."""
    live = rolling.observed(CLUSTER, brokers={"updateRevision": "b", "updatedReplicas": 1})
    found = condition(reported(live, reported(live), 20), "Degraded")
    assert found["message"] == (
        f"The rollout of group brokers is stalled: 1 of 2 pods are updated, without progress since {STARTED}. "
        "All of its pods are ready: see the events of its workload and its pods."
    )


def test_another_problem_does_not_hide_a_stall() -> None:
    live = rolling.observed(CLUSTER, brokers=ROLLING)
    problem = Finding(reasons.INVALID_SPEC, "Another problem.", "coordinators")
    now = START + timedelta(minutes=20)
    document = status(ClusterState(CLUSTER, live, (problem,), reported(live), now))
    found = condition(document, "Degraded")
    stall = document["rollout"]["stalled"]
    assert stall.startswith("The rollout of group brokers is stalled: 1 of 2 pods")
    assert (found["reason"], found["message"]) == (reasons.INVALID_SPEC, f"Another problem. | {stall}")


@pytest.mark.parametrize(("drained", "has_stalled"), [("middlemanagers", False), ("brokers", True)])
def test_only_the_group_that_is_drained_has_the_limits_of_a_drain(drained: str, has_stalled: bool) -> None:
    live = rolling.observed(CLUSTER, middlemanagers=ROLLING)
    found = live.objects[ObjectKey("StatefulSet", f"druid-c-{drained}")]
    live = live.with_objects([annotated(found, {names.DRAIN_ANNOTATION: '[{"pod": "p"}]'})])
    document = status(ClusterState(CLUSTER, live, (), reported(live), START + timedelta(minutes=20)))
    assert ("stalled" in document["rollout"]) == has_stalled
    assert (condition(document, "Degraded")["reason"] == reasons.ROLLOUT_STALLED) == has_stalled


def test_a_change_of_the_pods_restarts_the_time_limit() -> None:
    live = rolling.observed(CLUSTER, brokers=ROLLING)
    changed = rolling.observed(rolling.cluster("apache/druid:38.0.0"), brokers=ROLLING)
    found = reported(changed, reported(live), 20)
    assert found["rollout"]["startedAt"] == STARTED
    assert condition(found, "Degraded")["status"] == "False"


def test_pods_that_are_not_available_after_a_wait_for_druid_get_the_whole_time_limit() -> None:
    pending = Pending(("coordinators",), not_recovered=AWAITED)
    waiting = reported(rolling.observed(CLUSTER), reported(rolling.observed(CLUSTER, brokers=ROLLING)), 20, pending)
    lost = rolling.observed(CLUSTER, brokers={"readyReplicas": 1})
    found = reported(lost, waiting, 21, Pending(("coordinators",)))
    assert condition(found, "Degraded")["status"] == "False"
    later = reported(lost, found, 36, Pending(("coordinators",)))
    assert condition(later, "Degraded")["reason"] == reasons.ROLLOUT_STALLED


def test_pending_although_all_pods_are_ready() -> None:
    """Pods that have not been available for long enough."""
    pending = Pending(("brokers",), ("StatefulSet druid-c-old",))
    found = condition(reported(rolling.observed(CLUSTER), pending=pending), "Ready")
    assert (found["status"], found["reason"]) == ("False", reasons.ROLLING_OUT)
    progressing = condition(reported(rolling.observed(CLUSTER), pending=pending), "Progressing")
    assert (progressing["status"], progressing["reason"]) == ("True", reasons.ROLLING_OUT)
    assert found["message"] == "brokers restarts and StatefulSet druid-c-old is deleted when all pods are available."


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", None, 5])
def test_a_time_in_the_status_that_is_not_valid_is_no_stall(text: Any) -> None:
    live = rolling.observed(CLUSTER, brokers=ROLLING)
    before = reported(live)
    damaged = {**before, "rollout": {**before["rollout"], "progressedAt": text, "startedAt": text}}
    assert condition(reported(live, damaged, 20), "Degraded")["status"] == "False"


BEFORE = {"unavailableSegments": 0, "missingReplicas": 2, "supervisorsNotRunning": 0}
AWAITED = "there is no leader of the Overlords"


def test_the_state_of_druid_before_is_kept_until_the_last_group() -> None:
    rolls = rolling.observed(CLUSTER, historicals=ROLLING)
    first = reported(rolls, pending=Pending(("brokers",), (), ("historicals",), druid_before=BEFORE))
    assert first["rollout"]["druidBefore"] == BEFORE
    later = reported(rolls, first, pending=Pending(("brokers",)))
    assert later["rollout"]["druidBefore"] == BEFORE
    next_group = reported(rolling.observed(CLUSTER, brokers=ROLLING), later, pending=Pending((), (), ("brokers",)))
    assert (next_group["rollout"]["group"], next_group["rollout"]["druidBefore"]) == ("brokers", BEFORE)


def test_a_group_that_waits_for_druid_is_part_of_the_rollout() -> None:
    first = reported(rolling.observed(CLUSTER, historicals=ROLLING), pending=Pending(("brokers",), druid_before=BEFORE))
    waiting = Pending(("brokers",), not_recovered=AWAITED)
    found = reported(rolling.observed(CLUSTER), first, 30, waiting)
    rollout = found["rollout"]
    assert (rollout["group"], rollout["waitingFor"], rollout["pending"]) == ("historicals", AWAITED, ["brokers"])
    ready = condition(found, "Ready")
    assert (ready["reason"], ready["message"]) == (
        reasons.ROLLING_OUT,
        f"brokers restarts when Druid has recovered: {AWAITED}.",
    )
    # the limit of the wait is another one
    assert condition(found, "Degraded")["status"] == "False"
    # after a change of the specification without the group
    assert "rollout" not in reported(rolling.observed(CLUSTER), {"rollout": {"group": "removed"}}, pending=waiting)
