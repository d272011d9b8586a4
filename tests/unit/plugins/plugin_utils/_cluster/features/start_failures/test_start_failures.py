# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which logs are read, and how the conditions of a cluster explain a pod that does not start."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import EVENT
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import masked_excerpts
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import deciding, druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

Manifest = dict[str, Any]

NOW = datetime(2026, 1, 2, 0, 2, tzinfo=UTC)
LONG_AGO, JUST_NOW = "2026-01-02T00:00:00Z", "2026-01-02T00:01:30Z"
SPEC: Manifest = {
    "name": "m",
    "ports": [{"name": "http", "containerPort": 8082}],
    "startupProbe": {"httpGet": {"path": "/status/health", "port": 8082}},
    "readinessProbe": {"httpGet": {"path": "/status/health", "port": "http"}},
}
FLAG = "Unrecognized VM option 'UseConcMarkSweepGC'\nError: Could not create the Java Virtual Machine.\n"
LISTENS = "2026-01-02T00:00:00,000 INFO [main] o.e.j - Started ServerConnector@1a{HTTP/1.1, (http/1.1)}{0.0.0.0:9999}\n"
PREVIOUS = "see kubectl logs p --container m --namespace default --previous"
CURRENT = "see kubectl logs p --container m --namespace default"


def pod(name: str = "p", since: str = LONG_AGO, **container: Any) -> Manifest:
    conditions = [{"type": "Ready", "status": "False", "lastTransitionTime": since}]
    statuses = [{"name": "m", "ready": False, "started": False, **container}]
    metadata = {"name": name, "uid": f"uid-{name}", "labels": {"nodeSpecUniqueStr": "druid-c-brokers"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [SPEC]},
        "status": {"conditions": conditions, "containerStatuses": statuses},
    }


def ended(code: int, reason: str = "Error", **more: Any) -> Manifest:
    return {"terminated": {"exitCode": code, "reason": reason, **more}}


def crashed(code: int, name: str = "p", reason: str = "Error", **more: Any) -> Manifest:
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
    return pod(name, state=waiting, lastState=ended(code, reason, **more), restartCount=3)


def running(since: str = LONG_AGO, **more: Any) -> Manifest:
    return pod(since=since, state={"running": {}}, **more)


def unhealthy(message: str, count: int = 1, container: str = "m") -> Manifest:
    involved = {"uid": "uid-p", "fieldPath": f"spec.containers{{{container}}}"}
    metadata = {"name": f"e{count}{container}"}
    return {"kind": EVENT, "metadata": metadata, "involvedObject": involved, "message": message, "count": count}


REFUSED = unhealthy('Startup probe failed: Get "http://10.1.2.3:8082/status/health": dial tcp 10.1.2.3:8082: '
                    "connect: connection refused", 20)  # fmt: skip
REFUSES = "startup probe fails (HTTP /status/health at port 8082: connection refused)"
NOT_FOUND = unhealthy("Startup probe failed: HTTP probe failed with statuscode: 404", 2)


def explained(
    *pods: Manifest,
    logs: Mapping[str, str] | None = None,
    events: Sequence[Manifest] = (),
    objects: Sequence[Manifest] = (),
    **more: Any,
) -> tuple[Manifest, list[Any]]:
    """Return the conditions by type, and what was read about pods."""
    cluster = druid.cluster(replicas=len(pods))
    live = Observed().with_objects([*map(stored, render(cluster).objects), *pods])
    reads = deciding.Answers(objects, {EVENT: events}, logs=logs)
    plan, seen = deciding.decided_with_live(deciding.inputs(cluster, live, reads=reads, now=NOW, **more))
    found = status(ClusterState(cluster, seen, plan.findings, {}, NOW))["conditions"]
    asked = [each for each in reads.asked if each == EVENT or (isinstance(each, tuple) and each[0] == "log")]
    return {each["type"]: each for each in found}, asked


CASES: list[tuple[str, Manifest, str, Sequence[Manifest], str, list[Any]]] = [
    (
        "a flag of Java",
        crashed(1),
        FLAG,
        (),
        "pod p, container m: CrashLoopBackOff, last exit code 1 (Error): Java does not know the option "
        f"UseConcMarkSweepGC: remove it from the options of the JVM; {PREVIOUS}",
        [("log", "p", "m", True)],
    ),
    (
        "just ended: the log is that of the container itself",
        pod(state=ended(1), lastState=ended(2), restartCount=1),
        FLAG,
        (),
        "restarted once, last exit code 1 (Error): Java does not know the option UseConcMarkSweepGC",
        [("log", "p", "m", False)],
    ),
    (
        "without the log",
        crashed(1),
        "",
        (),
        f"last exit code 1 (Error): it has ended by itself with an error; {PREVIOUS}",
        [("log", "p", "m", True)],
    ),
    (
        "without the log, but with the end of it",
        crashed(1, message=FLAG),
        "",
        (),
        "last exit code 1 (Error): Java does not know the option UseConcMarkSweepGC: remove",
        [("log", "p", "m", True)],
    ),
    (
        "a log that does not say why",
        crashed(3),
        "2026-01-02T00:00:00,000 INFO [main] - something\n",
        (),
        f"last exit code 3 (Error): as Java with ExitOnOutOfMemoryError ends when it has no more memory; {PREVIOUS}",
        [("log", "p", "m", True)],
    ),
    (
        "killed for lack of memory: nothing is read",
        crashed(137, reason="OOMKilled"),
        FLAG,
        (),
        "last exit code 137 (OOMKilled): the container needs more than the memory of its node, raise it or lower the "
        "sizes of its JVM",
        [],
    ),
    (
        "killed for another reason",
        crashed(137),
        "",
        (),
        "last exit code 137 (Error): it was killed (SIGKILL), but not for its memory limit: by the kubelet, because it "
        f"did not stop in time, or because its node has no memory; {PREVIOUS}",
        [("log", "p", "m", True), EVENT],
    ),
    (
        "stopped by a probe",
        crashed(143),
        "",
        (REFUSED, NOT_FOUND, unhealthy("Startup probe failed: of another one", 99, "n")),
        f"last exit code 143 (Error): the kubelet has stopped it, because its {REFUSES}; {PREVIOUS}",
        [("log", "p", "m", True), EVENT],
    ),
    (
        "stopped by a probe that asks another port",
        crashed(143),
        LISTENS,
        (REFUSED,),
        f"because its {REFUSES}; Druid listens on port 9999, but its probe asks port 8082: set druid.port of the group "
        f"to this port; {PREVIOUS}",
        [("log", "p", "m", True), EVENT],
    ),
    (
        "stopped, and no event is left",
        crashed(143),
        "",
        (unhealthy("Readiness probe failed: not this one"),),
        "last exit code 143 (Error): it was stopped (SIGTERM), as the kubelet does when a startup or liveness probe "
        f"fails; {PREVIOUS}",
        [("log", "p", "m", True), EVENT],
    ),
    (
        "running, with another port",
        running(),
        LISTENS,
        (REFUSED,),
        f"pod p is not ready: its {REFUSES}; Druid listens on port 9999, but its probe asks port 8082: set druid.port "
        f"of the group to this port; {CURRENT}",
        [EVENT, ("log", "p", "m", False)],
    ),
]


@pytest.mark.parametrize(
    ("found", "log", "events", "message", "asked"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_explained(found: Manifest, log: str, events: Sequence[Manifest], message: str, asked: list[Any]) -> None:
    conditions, read = explained(found, logs={"p": log}, events=events)
    assert message in conditions["Degraded"]["message"]
    assert message in conditions["Ready"]["message"]
    assert conditions["Degraded"]["reason"] == "PodsFailing"
    assert read == asked


IPV6 = unhealthy('Startup probe failed: Get "http://[fd00:10:244::5]:8082/status/health": dial tcp '
                 "[fd00:10:244::5]:8082: connect: connection refused", 20)  # fmt: skip
COMMAND = {**SPEC, "ports": [{"containerPort": 9404}], "startupProbe": {"exec": {"command": ["true"]}}}
INITIAL = [{"name": "wait", "ready": False, "started": True, "state": {"running": {}}}]


@pytest.mark.parametrize(
    ("found", "log", "events", "message"),
    [
        (running(), "", [IPV6], f"pod p is not ready: its {REFUSES}; {CURRENT}"),
        # whose port is not that of the probe
        (
            {**running(), "spec": {"containers": [COMMAND]}},
            LISTENS,
            [],
            f"pod p is not ready: its startup probe has not succeeded yet; {CURRENT}",
        ),
        (
            {
                **running(),
                "spec": {"containers": [SPEC], "initContainers": [{"name": "wait"}]},
                "status": {**pod()["status"], "initContainerStatuses": INITIAL, "containerStatuses": []},
            },
            "",
            [],
            "pod p is not ready: its container wait has not ended yet; "
            "see kubectl logs p --container wait --namespace default",
        ),
    ],
    ids=["IPv6", "a command and a port without a name", "a container before it"],
)
def test_what_shows_it(found: Manifest, log: str, events: Sequence[Manifest], message: str) -> None:
    conditions, _read = explained(found, logs={"p": log}, events=events)
    assert message in conditions["Ready"]["message"]
    assert conditions["Degraded"]["status"] == "False"


def test_a_start_that_takes_long_is_no_problem() -> None:
    conditions, _read = explained(running(), events=[NOT_FOUND], logs={"p": "2026-01-02 INFO - Loading segment 7\n"})
    assert conditions["Degraded"]["status"] == "False"
    failing = "its startup probe fails (HTTP probe failed with statuscode: 404)"
    assert f"(pod p is not ready: {failing}; see kubectl logs p " in conditions["Ready"]["message"]
    conditions, _read = explained(running(started=True))
    failing = "its readiness probe has not succeeded yet"
    assert f"pod p is not ready: {failing}; see kubectl" in conditions["Ready"]["message"]


@pytest.mark.parametrize(
    "found",
    [
        running(JUST_NOW),
        pod(state={"running": {}}, ready=True),
        pod(state={"waiting": {"reason": "ImagePullBackOff"}}),
        pod(state={"waiting": {"reason": "ContainerCreating"}}),
    ],
    ids=["starts", "another container", "no image", "being created"],
)
def test_nothing_is_read(found: Manifest) -> None:
    assert explained(found)[1] == []


def test_a_few_pods_are_read() -> None:
    pods = [crashed(1, f"p{number}") for number in range(7)]
    conditions, read = explained(*pods, logs={each["metadata"]["name"]: FLAG for each in pods})
    assert [each[1] for each in read] == ["p0", "p1", "p2", "p3", "p4"]
    assert "and 2 more" in conditions["Degraded"]["message"]


def test_the_text_does_not_change_with_times_and_attempts() -> None:
    def message(second: int) -> str:
        line = f"2026-01-02T00:00:{second:02},000 ERROR [main] CliBroker - Error when starting up.  Failing.\n"
        waited = f"after {second}234 ms at 2026-01-02 00:00:{second:02}"
        cause = f"java.lang.IllegalStateException: cannot start org.apache.druid.Thing@{second:08x} {waited}\n"
        return str(explained(crashed(1), logs={"p": line + cause})[0]["Degraded"]["message"])

    assert "its log has: IllegalStateException: cannot start org.apache.druid.Thing after ... ms at" in message(1)
    assert message(1) == message(2)


VARIABLE = {"name": "V", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}}


def with_secret(found: Manifest) -> Manifest:
    """Return a pod whose container has a variable with the value of a Secret, that the specification does not name."""
    return {**found, "spec": {"containers": [{**SPEC, "env": [VARIABLE]}]}}


def test_secrets_of_the_log_are_masked() -> None:
    """Those of the specification, of a Secret that the pod refers to, and what is in the place of a secret."""
    password, read, other = "of-the-resource-0", "of-a-secret-1", "of-a-url-2"
    resource = {**druid.resource(), "spec": {"common.runtime.properties": f"druid.x.password={password}"}}
    data = {"key": base64.b64encode(read.encode()).decode()}
    secret = {"kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": data}
    text = (
        'Exception in thread "main" java.lang.RuntimeException: no\n'
        f"Caused by: java.sql.SQLException: neither {password} nor {read} for jdbc:x://h/d?user=u&password={other} ok\n"
    )
    pods = [with_secret(crashed(1))]
    conditions, _read = explained(*pods, logs={"p": text}, resource=resource, objects=[secret])
    message = masked_excerpts(conditions["Degraded"]["message"], str)
    assert "neither ******** nor ******** for jdbc:x://h/d?user=u&password=********" in message
    assert not [each for each in (password, read, other) if each in message]


class WithoutSecrets(deciding.Answers):
    """Without the permission to read Secrets."""

    def get(self, kind: str, name: str) -> Manifest | None:
        if kind == "Secret":
            raise ApiError("get", "secrets", "Secret", "default", name, 403, {"message": "no"})
        return super().get(kind, name)


@pytest.mark.parametrize(
    ("found", "rest"), [(crashed(1, message="s3cr3t"), PREVIOUS), (running(started=True), CURRENT)]
)
def test_nothing_of_a_log_is_shown_whose_secrets_cannot_be_read(found: Manifest, rest: str) -> None:
    reads = WithoutSecrets(lists={EVENT: [unhealthy("Readiness probe failed: s3cr3t")]}, logs={"p": "Error: s3cr3t\n"})
    cluster = druid.cluster(replicas=1)
    live = Observed().with_objects([*map(stored, render(cluster).objects), with_secret(found)])
    plan, seen = deciding.decided_with_live(deciding.inputs(cluster, live, reads=reads, now=NOW))
    message = str(status(ClusterState(cluster, seen, plan.findings, {}, NOW))["conditions"])
    assert f"its log is not shown, because Secret s cannot be read, whose values could be in it; {rest}" in message
    assert "s3cr3t" not in message


class Failing:
    """An API server that does not answer for a log."""

    def __init__(self, status: int) -> None:
        self.status, self.asked = status, 0

    def pod_log(self, *_args: Any, **_more: Any) -> str:
        self.asked += 1
        raise ApiError("get", "pods/log", "Pod", "default", "p", self.status, {"message": "no"})


class Long:
    """An API server with a log of lines that are too long for the limit."""

    def __init__(self, line: str, lines: int) -> None:
        self.text = "".join(f"{number} {line}\n" for number in range(lines))

    def pod_log(self, *_args: Any, lines: int, limit: int, **_more: Any) -> str:
        return "".join(self.text.splitlines(keepends=True)[-lines:])[:limit]


@pytest.mark.parametrize(("characters", "last"), [(200, "2999"), (2000, "2999"), (10_000, "2925")])
def test_the_end_of_a_long_log_is_read_without_a_line_that_is_cut(characters: int, last: str) -> None:
    api: Any = Long("x" * characters, 3000)
    text = ClusterReads(api, "default", None).pod_log("p", "m", True)  # type: ignore[arg-type]
    assert text.splitlines()[-1] == f"{last} {'x' * characters}"


@pytest.mark.parametrize(("code", "asked"), [(403, 1), (500, 1), (400, 3), (404, 3)])
def test_without_the_permission_or_a_kubelet_no_other_log_is_read(code: int, asked: int) -> None:
    api: Any = Failing(code)
    reads = ClusterReads(api, "default", None)  # type: ignore[arg-type]
    assert [reads.pod_log(f"p{number}", "m", True) for number in range(3)] == ["", "", ""]
    assert api.asked == asked
