# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which groups of a rollout wait for Druid, for what, and for how long."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_LEADER,
    OVERLORD_LEADER,
    SEGMENTS,
    SUPERVISORS,
    DruidState,
    Incomplete,
    Question,
    SegmentCounts,
    Supervisor,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import (
    OPEN,
    DruidGate,
    druid_gate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import Gated, gate
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    answers_of,
    inputs,
    with_answers,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.rolling import NEW, OLD

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROUTERS = {"routers": {**druid.NODE, "nodeType": "router", "replicas": 1}}
HEALTHY: dict[Question[Any], Any] = {
    COORDINATOR_LEADER: True,
    OVERLORD_LEADER: True,
    SEGMENTS: {"wiki": SegmentCounts()},
    SUPERVISORS: (Supervisor("s", "RUNNING", "RUNNING", True, False),),
}
WELL = {"unavailableSegments": 0, "missingReplicas": 0, "supervisorsNotRunning": 0}
AFTER_HISTORICALS = {"group": "historicals", "druidBefore": WELL}
LACKING = SegmentCounts(0, (Incomplete(replicas=1, required=2, number=2),))
NO_SEGMENTS = {SEGMENTS: {"wiki": SegmentCounts(3), "pages": LACKING}}
SILENT = dict.fromkeys(HEALTHY, Unavailable(questions.UNREACHABLE, "It was refused."))
UNKNOWN_NAME = dict.fromkeys(HEALTHY, Unavailable(questions.NOT_CONNECTABLE, "The name is unknown."))
FORBIDDEN = dict.fromkeys(HEALTHY, Unavailable(questions.UNAUTHORIZED, "403."))
NOT_PROXIED = Unavailable(questions.UNSUPPORTED, "404.")


def supervisor(detailed: str, *, state: str = "RUNNING", is_healthy: bool = True, is_suspended: bool = False) -> Any:
    return {SUPERVISORS: (Supervisor("s", state, detailed, is_healthy, is_suspended),)}


def cluster_inputs(
    rollout: dict[str, Any] | None = None,
    answers: dict[Question[Any], Any] | None = None,
    ready_seconds: int = 60,
    **spec: Any,
) -> Inputs:
    """Inputs of a cluster with routers that is being upgraded; all pods have been ready for these seconds."""
    desired = with_routers(NEW, **spec)
    live = ready_since(rolling.observed(with_routers(OLD)), NOW - timedelta(seconds=ready_seconds))
    found = inputs(desired, live, now=NOW, druid=None if answers is None else DruidState(answers))
    return replace(found, resource={**found.resource, "status": {"rollout": rollout} if rollout else {}})


def with_routers(image: str, **spec: Any) -> Any:
    found = rolling.cluster(image, **spec)
    return type(found).from_resource(
        {
            "metadata": {"name": found.name, "namespace": found.namespace, "uid": found.uid},
            "spec": {**found.spec, "nodes": {**found.spec["nodes"], **ROUTERS}},
        }
    )


def ready_since(live: Observed, since: datetime) -> Observed:
    pods = [
        {**pod, "status": {**pod["status"], "conditions": [{**READY, "lastTransitionTime": timestamp(since)}]}}
        for pod in live.of_kind("Pod")
    ]
    return live.with_objects(pods)


READY = {"type": "Ready", "status": "True"}
# (what Druid answers differently, what it was before, what the next group waits for)
WAITING: list[tuple[str, dict[Question[Any], Any], dict[str, int] | None, str]] = [
    ("healthy", {}, WELL, ""),
    ("no leader of the Coordinators", {COORDINATOR_LEADER: False}, WELL, "there is no leader of the Coordinators"),
    ("no leader of the Overlords", {OVERLORD_LEADER: False}, WELL, "there is no leader of the Overlords"),
    (
        "segments",
        NO_SEGMENTS,
        WELL,
        "datasource wiki has 3 unavailable segments, datasource pages has 2 missing replicas",
    ),
    ("segments as before", NO_SEGMENTS, {**WELL, "unavailableSegments": 3, "missingReplicas": 2}, ""),
    (
        "fewer replicas than before",
        {SEGMENTS: {"wiki": LACKING}},
        {**WELL, "missingReplicas": 1},
        "datasource wiki has 2 missing replicas",
    ),
    (
        "segments, if the state before is unknown",
        {SEGMENTS: {"w": SegmentCounts(1)}},
        None,
        "datasource w has 1 unavailable segment",
    ),
    ("a supervisor that starts", supervisor("PENDING", state="PENDING"), WELL, "supervisor s is PENDING"),
    ("a supervisor in its first run", supervisor("CREATING_TASKS"), WELL, "supervisor s is CREATING_TASKS"),
    ("an unhealthy one", supervisor("UNHEALTHY_TASKS", is_healthy=False), WELL, "supervisor s is UNHEALTHY_TASKS"),
    ("an unhealthy one, as before", supervisor("X", is_healthy=False), {**WELL, "supervisorsNotRunning": 1}, ""),
    ("a suspended one", supervisor("SUSPENDED", state="SUSPENDED", is_suspended=True), WELL, ""),
    ("an idle one", supervisor("IDLE", state="IDLE"), WELL, ""),
    ("a Router that forwards queries only", {COORDINATOR_LEADER: NOT_PROXIED, SUPERVISORS: NOT_PROXIED}, WELL, ""),
    ("no permission since the start", FORBIDDEN, WELL, "Druid does not answer about supervisors, segments (403)"),
    ("no permission for one of them, as before", {SEGMENTS: FORBIDDEN[SEGMENTS]}, {"supervisorsNotRunning": 0}, ""),
    ("no permission, as before", FORBIDDEN, {}, ""),
    (
        "an answer that cannot be read since the start",
        {SEGMENTS: Unavailable(questions.INVALID, "No number.")},
        WELL,
        "Druid does not answer about segments (No number)",
    ),
    ("an API that the Druid does not have since the start", {SUPERVISORS: NOT_PROXIED}, WELL, ""),
    ("a name that never resolved", UNKNOWN_NAME, None, ""),
    (
        "a name that does not resolve now",
        {**SILENT, SEGMENTS: UNKNOWN_NAME[SEGMENTS]},
        WELL,
        "Druid does not answer about leader of the Coordinators, leader of the Overlords, supervisors (It was "
        "refused); Druid does not answer about segments (The name is unknown)",
    ),
    ("silence, as before", SILENT, {}, ""),
    ("a Broker that took too long before", {SEGMENTS: SILENT[SEGMENTS]}, {"supervisorsNotRunning": 0}, ""),
    (
        "silence, if it was not asked before",
        SILENT,
        None,
        "Druid does not answer about leader of the Coordinators, leader of the Overlords, supervisors, segments (It "
        "was refused)",
    ),
    (
        "one server that does not respond",
        {SUPERVISORS: Unavailable(questions.UNREACHABLE, "503.")},
        None,
        "Druid does not answer about supervisors (503)",
    ),
]


@pytest.mark.parametrize(("answers", "before", "text"), [row[1:] for row in WAITING], ids=[row[0] for row in WAITING])
def test_the_next_group_waits(answers: dict[Question[Any], Any], before: dict[str, int] | None, text: str) -> None:
    rollout = {"group": "historicals", **({} if before is None else {"druidBefore": before})}
    found = druid_gate(cluster_inputs(rollout, {**HEALTHY, **answers}), ["brokers"])
    assert isinstance(found, DruidGate)
    assert found.not_recovered == text


def test_it_waits_no_longer_than_specified() -> None:
    sick = {**HEALTHY, **NO_SEGMENTS}
    for seconds, limit, waits in ((599, None, True), (600, None, False), (30, 20, False), (10, 20, True)):
        spec = {} if limit is None else {"druidHealthDeadlineSeconds": limit}
        found = druid_gate(cluster_inputs(AFTER_HISTORICALS, sick, seconds, **spec), ["brokers"])
        assert isinstance(found, DruidGate)
        assert (bool(found.not_recovered), bool(found.warnings)) == (waits, not waits)
    assert "has not recovered within 20 s (druidHealthDeadlineSeconds)" in warning_after_timeout(sick)


@pytest.mark.parametrize(("historicals", "text"), [(1, ""), (2, "datasource pages has 2 missing replicas")])
def test_it_does_not_wait_for_replicas_that_no_historical_could_load(historicals: int, text: str) -> None:
    """A segment that was added since the start, and of which the rules require two replicas."""
    nodes = {"historicals": {"replicas": historicals}}
    found = cluster_inputs(AFTER_HISTORICALS, {**HEALTHY, SEGMENTS: {"pages": LACKING}}, nodes=nodes)
    live = ready_since(rolling.observed(with_routers(OLD, nodes=nodes)), NOW - timedelta(seconds=60))
    gated = druid_gate(replace(found, observed=live), ["brokers"])
    assert isinstance(gated, DruidGate)
    assert gated.not_recovered == text


def test_a_pod_that_another_group_gets_meanwhile_does_not_prolong_it() -> None:
    found = cluster_inputs(AFTER_HISTORICALS, {**HEALTHY, **NO_SEGMENTS}, 601)
    just_now = {"conditions": [{**READY, "lastTransitionTime": timestamp(NOW)}]}
    pods = [pod for pod in found.observed.of_kind("Pod") if "brokers" in pod["metadata"]["name"]]
    added = [{**pod, "status": {**pod["status"], **just_now}} for pod in pods]
    gated = druid_gate(replace(found, observed=found.observed.with_objects(added)), ["brokers"])
    assert added
    assert isinstance(gated, DruidGate)
    assert not gated.not_recovered


def warning_after_timeout(answers: dict[Question[Any], Any]) -> str:
    found = druid_gate(cluster_inputs(AFTER_HISTORICALS, answers, 30, druidHealthDeadlineSeconds=20), ["brokers"])
    assert isinstance(found, DruidGate)
    return found.warnings[0]


def test_the_first_group_records_the_state_and_does_not_wait() -> None:
    sick = {**HEALTHY, **NO_SEGMENTS, COORDINATOR_LEADER: False}
    found = druid_gate(cluster_inputs(None, sick), ["historicals"])
    assert found == DruidGate(before={"unavailableSegments": 3, "missingReplicas": 2, "supervisorsNotRunning": 0})
    assert druid_gate(cluster_inputs(None, SILENT), ["historicals"]) == DruidGate(before={})
    assert druid_gate(cluster_inputs(None, UNKNOWN_NAME), ["historicals"]) == OPEN


def test_what_is_not_answered_from_the_start_on_is_a_warning() -> None:
    """A Broker that is busy takes too long for one of the answers."""
    warning = "the rollout does not wait for segments: It was refused."
    answers = {**HEALTHY, SEGMENTS: SILENT[SEGMENTS]}
    recorded = {"supervisorsNotRunning": 0}
    gate = druid_gate(cluster_inputs(answers=answers), ["historicals"])
    assert gate == DruidGate(warnings=(warning,), before=recorded)
    later = {"group": "historicals", "druidBefore": recorded}
    assert druid_gate(cluster_inputs(later, answers), ["brokers"]) == DruidGate(warnings=(warning,))
    assert druid_gate(cluster_inputs(later, {**HEALTHY, **NO_SEGMENTS}), ["brokers"]).not_recovered
    old = {**HEALTHY, SEGMENTS: Unavailable(questions.UNSUPPORTED, "There is no such column.")}
    assert druid_gate(cluster_inputs(later, old), ["brokers"]) == OPEN


def test_a_group_that_others_only_wait_for_has_not_been_restarted() -> None:
    """It waits for Druid when its turn comes; and if it was the first one that is not ready, the rollout begins."""
    blocked = {**AFTER_HISTORICALS, "group": "brokers", "onlyBlocks": True}
    found = druid_gate(cluster_inputs(blocked, {**HEALTHY, COORDINATOR_LEADER: False}), ["brokers"])
    assert isinstance(found, DruidGate)
    assert found.not_recovered == "there is no leader of the Coordinators"
    first = cluster_inputs({"group": "brokers", "onlyBlocks": True}, {**HEALTHY, **NO_SEGMENTS})
    assert druid_gate(first, ["historicals"]) == DruidGate(
        before={**WELL, "unavailableSegments": 3, "missingReplicas": 2}
    )


def test_a_missing_permission_is_a_warning() -> None:
    found = druid_gate(cluster_inputs(AFTER_HISTORICALS, FORBIDDEN), ["brokers"])
    assert isinstance(found, DruidGate)
    assert found.warnings == ("the rollout does not wait for Druid where it cannot be asked: 403.",)


def test_an_address_that_cannot_be_resolved_is_a_warning_if_it_is_specified() -> None:
    for spec, number in (({}, 0), ({"auth": {"type": "basic-auth"}}, 1)):
        found = druid_gate(cluster_inputs(None, UNKNOWN_NAME, **spec), ["historicals"])
        assert isinstance(found, DruidGate)
        assert len(found.warnings) == number


# Nothing is asked of Druid: (the rollout so far, the next group, whether it is the last one, further fields)
AT_REST: list[tuple[dict[str, Any] | None, str, bool, dict[str, Any]]] = [
    (None, "brokers", True, {}),
    (AFTER_HISTORICALS, "historicals", False, {}),
    (AFTER_HISTORICALS, "brokers", False, {"druidHealthDeadlineSeconds": 0}),
    (AFTER_HISTORICALS, "brokers", False, {"paused": True}),
]


@pytest.mark.parametrize(("rollout", "group", "is_last", "spec"), AT_REST)
def test_druid_is_not_asked(rollout: dict[str, Any] | None, group: str, is_last: bool, spec: dict[str, Any]) -> None:
    assert druid_gate(cluster_inputs(rollout, **spec), [group], is_last=is_last) == OPEN


def test_a_cluster_without_routers_is_not_asked() -> None:
    live = rolling.observed(rolling.cluster(OLD))
    assert druid_gate(inputs(rolling.cluster(NEW), live), ["brokers"]) == OPEN


def test_only_what_its_groups_can_answer_is_asked() -> None:
    stopped = {key: {"stopped": True} for key in ("historicals", "middlemanagers")}
    everything = (COORDINATOR_LEADER, OVERLORD_LEADER, SUPERVISORS, SEGMENTS)
    for nodes, asked in (({}, everything), (stopped, (COORDINATOR_LEADER,))):
        found = with_answers(cluster_inputs(AFTER_HISTORICALS, nodes=nodes), answers=HEALTHY)
        druid_gate(found, ["x"])
        assert answers_of(found).questions == [asked]


def gated(found: Inputs) -> Gated:
    return gate(rolling.steps(found.cluster, found.observed), found)


def test_the_gate_of_a_rollout() -> None:
    first = gated(with_answers(cluster_inputs(), answers=HEALTHY))
    assert (restarted(first), first.waits.druid_before) == (["historicals"], WELL)
    waiting = gated(cluster_inputs({"group": "brokers", "druidBefore": WELL}, {**HEALTHY, COORDINATOR_LEADER: False}))
    assert (restarted(waiting), waiting.waits.not_recovered) == ([], "there is no leader of the Coordinators")
    assert next(step.group for step in waiting.later if step.restart.pods) == "historicals"


def restarted(found: Gated) -> list[str | None]:
    return [step.group for step in found.steps if step.restart.pods]


def test_druid_is_not_asked_while_pods_are_not_available() -> None:
    found = cluster_inputs(AFTER_HISTORICALS)
    live = rolling.observed(with_routers(OLD), historicals={"readyReplicas": 1})
    gated(replace(found, observed=live))
    assert answers_of(found).questions == []
