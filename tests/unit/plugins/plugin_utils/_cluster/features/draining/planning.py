# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Live states, answers of Druid, and plans of a cluster whose workers are drained, for tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    VERSION,
    active_tasks,
    task_payload,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import Question, Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    decided,
    inputs,
    with_answers,
)

GROUP, NAME = "middlemanagers", "druid-c-middlemanagers"
SET = ObjectKey("StatefulSet", NAME)
STRATEGY: dict[str, Any] = {"middleManagerDrainStrategy": {}}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PENDING = {"updateRevision": "b", "updatedReplicas": 0}
ANY = (
    questions.SERVERS,
    questions.LOAD_STATUS,
    questions.SEGMENTS,
    questions.SUPERVISORS,
    questions.OVERLORD_LEADER,
    questions.COORDINATOR_LEADER,
    questions.WORKERS,
)


def worker(ordinal: int, *tasks: str, is_enabled: bool = True) -> questions.Worker:
    return questions.Worker(f"10.0.0.{ordinal}:8091", is_enabled, 2, tasks)


def druid(*workers: questions.Worker, answers: dict[Question[Any], Any] | None = None) -> dict[Question[Any], Any]:
    kafka = questions.Task("k", "index_kafka", "pages", None, None)
    healthy = questions.Supervisor("pages", "RUNNING", "RUNNING", True, False)
    known = {questions.WORKERS: workers, questions.RUNNING_TASKS: (kafka,), questions.SUPERVISORS: (healthy,)}
    return {**known, VERSION: (33,), **(answers or {})}


def unknown() -> dict[Question[Any], Any]:
    return {question: Unavailable(questions.NO_ROUTER, "") for question in ANY}


def live(cluster: Cluster, annotation: Any = None, partition: int = 0, **more: Any) -> Observed:
    """Return the live state: workers that announce the IPs of their pods; `more` is the status of the StatefulSet."""
    found = rolling.observed(cluster, **({GROUP: more} if more else {}))
    workload = found.objects[SET]
    annotations = {**(workload["metadata"].get("annotations") or {})}
    if annotation is not None:
        annotations[names.DRAIN_ANNOTATION] = json.dumps(annotation)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    workload = {
        **workload,
        "metadata": {**workload["metadata"], "annotations": annotations},
        "spec": {**workload["spec"], "updateStrategy": strategy},
    }
    pods = [
        {**each, "status": {**each["status"], "podIP": f"10.0.0.{each['metadata']['name'][-1]}"}}
        for each in found.of_kind("Pod")
        if each["metadata"]["name"].startswith(NAME)
    ]
    return found.with_objects([workload, *pods])


def planned(which: Inputs, answers: dict[Question[Any], Any] | None = None) -> Plan:
    """Return the plan; the API server changes nothing in what it dry runs, and Druid gives these answers."""
    return decided(with_answers(which, answers=answers))


def of_workers(plan: Plan) -> tuple[Step, ...]:
    return tuple(step for step in plan.steps if step.group == GROUP)


def requests(plan: Plan) -> list[str]:
    return [step.title for step in of_workers(plan) if step.in_druid]


def partition_of(plan: Plan) -> int:
    write = of_workers(plan)[0]
    return int(write.manifest["spec"]["updateStrategy"]["rollingUpdate"]["partition"])


def recorded(ordinal: int, **more: Any) -> dict[str, Any]:
    uid = f"uid-of-{NAME}-{ordinal}"
    return {"pod": f"{NAME}-{ordinal}", "uid": uid, "since": "2025-12-31T23:59:00Z", "disabledByUs": True, **more}


def document(which: Inputs, answers: dict[Question[Any], Any] | None = None) -> dict[str, Any]:
    """Return the status that follows from the decision alone."""
    plan, drafted = decide(with_answers(which, answers=answers))
    result = ClusterResult(which.resource, which.cluster, which.observed, plan, inputs=drafted and drafted.inputs)
    return DRUID.status(result, plan, NOW, check_mode=False)


def while_reading(**record: Any) -> Inputs:
    which = rolling.cluster(**STRATEGY)
    return inputs(which, live(which, [recorded(1, **record)], partition=2, **PENDING), now=NOW)


def reading(*tasks: str) -> dict[Question[Any], Any]:
    payload = {"payload": {"dataSource": "pages", "ioConfig": {"taskGroupId": 7}}}
    status = {"payload": {"activeTasks": [{"id": each} for each in tasks], "publishingTasks": [{"id": "p"}]}}
    found: tuple[tuple[Question[Any], Any], ...] = (*((task_payload(each), payload) for each in tasks),)
    return {question: question.read(answer) for question, answer in (*found, (active_tasks("pages"), status))}
