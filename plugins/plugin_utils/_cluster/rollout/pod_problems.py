# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why a pod is not ready, as Kubernetes reports it: its containers, the scheduler, or its eviction by the kubelet.

To wait for pods of the current revision that will not start by themselves is of no use. Those of an earlier revision
may be about to be replaced, and those of a group whose restart is pending, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Explanation, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import REVISION_LABEL, TEMPLATE_LABEL
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready, seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import END, excerpt

_CRASH_LOOP, _OUT_OF_MEMORY = "CrashLoopBackOff", "OOMKilled"
# Waiting reasons of a container that need a change by the user.
FAILING = frozenset(
    {
        _CRASH_LOOP,
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "ImageInspectError",
        "SignatureValidationFailed",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
    }
)
# What Kubernetes has tried for so long, or so often, does not succeed by itself.
LASTING_SECONDS, MIN_RESTARTS = 60, 3
# The end of a termination message, which can be a whole log.
MAX_MESSAGE_CHARACTERS = 200
KILLED, TERMINATED = 137, 143
# What an exit code means, if the container has not printed it.
_EXIT_CODES = {
    1: "it has ended by itself with an error",
    3: "as Java with ExitOnOutOfMemoryError ends when it has no more memory",
    134: "Java has aborted (SIGABRT)",
    KILLED: "it was killed (SIGKILL), but not for its memory limit: by the kubelet, because it did not stop in time, "
    "or because its node has no memory",
    139: "Java has crashed (SIGSEGV)",
    TERMINATED: "it was stopped (SIGTERM), as the kubelet does when a startup or liveness probe fails",
}

_Container = Mapping[str, Any]
Explanations = Mapping[str, Explanation]
NOTHING: Explanations = MappingProxyType({})


def is_failing(pod: Manifest) -> bool:
    """True if a container of the pod waits for a reason that needs a change by the user."""
    return any(map(_waits_for_change, _containers(pod)))


def cannot_recover(pod: Manifest, now: datetime) -> bool:
    """True if the pod will not start by itself: not ready for a minute, and it has crashed several times, or waits.

    It waits for its image, a Secret, or anything else that only a change provides.
    """
    if next(failure(pod), None) is None or _seconds_unready(pod, now) < LASTING_SECONDS:
        return False
    containers = _containers(pod)
    waits = {container["state"]["waiting"]["reason"] for container in containers if _waits_for_change(container)}
    return bool(waits - {_CRASH_LOOP}) or any(
        container.get("restartCount", 0) >= MIN_RESTARTS for container in containers
    )


def _seconds_unready(pod: Manifest, now: datetime) -> float:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    since = next(
        (condition.get("lastTransitionTime") for condition in conditions if condition["type"] == "Ready"), None
    )
    return seconds_since(since or pod["metadata"].get("creationTimestamp") or "", now)


def is_unschedulable(pod: Manifest) -> bool:
    """True if the scheduler has found no node for the pod."""
    return next(unplaced(pod), None) is not None


def is_evicted(pod: Manifest) -> bool:
    """True if the kubelet has stopped the pod for good, and its controller has not removed it."""
    return (pod.get("status") or {}).get("phase") == "Failed" and not is_terminating(pod)


def is_unready(pod: Manifest) -> bool:
    """True if the pod is not ready, or will not be soon."""
    return is_terminating(pod) or not is_ready((pod.get("status") or {}).get("conditions") or ())


def failure(pod: Manifest, known: Explanations = NOTHING) -> Iterator[str]:
    """Yield the problem of a container that cannot start, or else of one that has ended and is not ready again.

    `known`: what is known besides what Kubernetes reports.

    The kubelet waits between two attempts to start a container, and during an attempt it is as broken as before.
    """
    containers = _containers(pod)
    waiting = next(filter(_waits_for_change, containers), None)
    if waiting is not None:
        state = waiting["state"]["waiting"]
        # the message of a crash loop only names the pod again, and changes with every pause
        text = "" if state["reason"] == _CRASH_LOOP else state.get("message")
        yield f"{_head(pod, waiting)}: {state['reason']}{f': {text}' if text else ''}{_last_end(pod, waiting, known)}"
    elif is_unready(pod) and not is_terminating(pod) and not is_evicted(pod):
        ended = next(filter(_is_down, containers), None)
        if ended is not None:
            count = ended.get("restartCount", 0)
            restarts = f"restarted {count} times" if count > 1 else "restarted once" if count else "ended"
            yield f"{_head(pod, ended)}: {restarts}{_last_end(pod, ended, known)}"


def crashed(pod: Manifest) -> _Container | None:
    """Return the container whose end `failure` reports, unless the kernel has killed it: its log has the cause."""
    if next(failure(pod), None) is None:
        return None
    containers = _containers(pod)
    container = next(filter(_waits_for_change, containers), None) or next(filter(_is_down, containers))
    return container if _end(container) and _end(container).get("reason") != _OUT_OF_MEMORY else None


def hanging(pod: Manifest, now: datetime) -> _Container | None:
    """Return the first container that runs, but has not been ready for a minute."""
    if not is_unready(pod) or is_terminating(pod) or _seconds_unready(pod, now) < LASTING_SECONDS:
        return None
    running = (container for container in _containers(pod) if "running" in (container.get("state") or {}))
    return next((each for each in running if each.get("ready") is False), None)


def last_end(container: _Container) -> tuple[int, str]:
    """Return the exit code of a container that has ended, and its termination message."""
    ended = _end(container)
    return int(ended.get("exitCode") or 0), str(ended.get("message") or "")


def has_restarted(container: _Container) -> bool:
    """True if the log of its last end is that of the previous container."""
    return "terminated" not in (container.get("state") or {})


def explanation(pod: Manifest, known: Explanations, *, only_causes: bool = False) -> Iterator[str]:
    """Yield why a pod whose containers run is not ready, if it is known; `only_causes`: not just what shows it."""
    problem, status = known.get(_name(pod)), pod.get("status") or {}
    is_cause, text = (
        (problem.is_cause, problem.text) if problem else (False, "" if status.get("reason") else _message(pod))
    )
    if not text or (only_causes and not is_cause):
        return
    if is_unready(pod) and not is_terminating(pod) and next(failure(pod), None) is None:
        yield f"pod {_name(pod)} is not ready: {text}"


def log_command(pod: Manifest, container: _Container) -> str:
    """Return the command that prints the log, that of the previous container if there was one."""
    namespace = pod["metadata"].get("namespace", "default")
    # what has never been started again has no previous log
    which = " --previous" if container.get("restartCount") else ""
    return f"see kubectl logs {_name(pod)} --container {container['name']} --namespace {namespace}{which}"


def unplaced(pod: Manifest) -> Iterator[str]:
    """Yield the scheduler's message for an unschedulable pod."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if (condition["type"], condition["status"]) == ("PodScheduled", "False"):
            yield ": ".join((f"pod {_name(pod)}", *filter(None, (condition.get("reason"), condition.get("message")))))


def unplaced_since(pod: Manifest) -> str:
    """Return since when the scheduler has found no node for the pod; empty if it has, or that is not known."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next(
        (condition.get("lastTransitionTime") or "" for condition in conditions if condition["type"] == "PodScheduled"),
        "",
    )


def eviction(pod: Manifest) -> str:
    """Return why the kubelet has stopped the pod for good."""
    status = pod["status"]
    message = excerpt(_one_line(status.get("message")), MAX_MESSAGE_CHARACTERS)
    return ": ".join(filter(None, (f"pod {_name(pod)}", status.get("reason") or "Failed", message)))


def _containers(pod: Manifest) -> Sequence[_Container]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _waits_for_change(container: _Container) -> bool:
    return ((container.get("state") or {}).get("waiting") or {}).get("reason") in FAILING


def _head(pod: Manifest, container: _Container) -> str:
    return f"pod {_name(pod)}, container {container['name']}"


def _name(pod: Manifest) -> str:
    name: str = pod["metadata"]["name"]
    return name


def _end(container: _Container) -> Mapping[str, Any]:
    """Return how the container ended, empty if it never did, or if it is an init container that has succeeded."""
    now = (container.get("state") or {}).get("terminated")
    if now is not None:
        return now if now.get("exitCode") else {}
    last: Mapping[str, Any] = (container.get("lastState") or {}).get("terminated") or {}
    return last


def _is_down(container: _Container) -> bool:
    return not container.get("ready") and bool(_end(container))


def _last_end(pod: Manifest, container: _Container, known: Explanations) -> str:
    """Return how the container ended the last time: its exit code, the reason, why, and how to read more."""
    ended = _end(container)
    if not ended:
        return ""
    reason = f" ({ended['reason']})" if ended.get("reason") else ""
    return f", last exit code {ended.get('exitCode')}{reason}: {'; '.join(_why(pod, container, ended, known))}"


def _why(pod: Manifest, container: _Container, ended: Mapping[str, Any], known: Explanations) -> Iterator[str]:
    if ended.get("reason") == _OUT_OF_MEMORY:
        yield _more_memory(pod, container)
        return
    printed = excerpt(_one_line(ended.get("message")), MAX_MESSAGE_CHARACTERS, END)
    known_problem = known.get(_name(pod))
    text = (
        (known_problem.text if known_problem else "")
        or _message(pod)
        or printed
        or _EXIT_CODES.get(ended.get("exitCode") or 0)
    )
    yield from filter(None, ((text or "").rstrip("."), log_command(pod, container)))


def _more_memory(pod: Manifest, container: _Container) -> str:
    spec = pod.get("spec") or {}
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    current: _Container = next((each for each in containers if each["name"] == container["name"]), {})
    limit = ((current.get("resources") or {}).get("limits") or {}).get("memory")
    which = f"its memory limit of {limit}" if limit else "the memory of its node"
    return f"the container needs more than {which}, raise it or lower the sizes of its JVM"


def _message(pod: Manifest) -> str:
    """Return what Kubernetes itself reports about the pod, such as a node that does not respond."""
    return excerpt(_one_line((pod.get("status") or {}).get("message")), MAX_MESSAGE_CHARACTERS)


def _one_line(text: str | None) -> str:
    return " ".join(str(text or "").split())


def unrecoverable(cluster: Cluster, observed: Observed, changing: Collection[str], now: datetime) -> str:
    """Return why the first such pod does not start; empty if there is none. `changing`: groups that restart anyway."""
    groups = (group for group in cluster.groups if group.key not in changing)
    failing = (pod for group in groups for pod in failing_pods(group, observed, now))
    return next((text for pod in failing for text in failure(pod, observed.explanations)), "")


def failing_pods(group: Group, observed: Observed, now: datetime) -> Iterator[Manifest]:
    """Yield the pods of the current revision that will not start by themselves."""
    yield from (pod for pod in current_pods(group, observed) if cannot_recover(pod, now))


def current_pods(group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods of the revision that the workload specifies; none until its controller has observed it."""
    workload = observed.workload(group)
    if workload is None:
        return
    status, pods = workload.get("status") or {}, [pod for pod in observed.pods_of(group) if not is_terminating(pod)]
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return
    is_set = workload["kind"] == "StatefulSet"
    label, revision = (REVISION_LABEL, status.get("updateRevision")) if is_set else (TEMPLATE_LABEL, _latest(pods))
    yield from (pod for pod in pods if revision and _label(pod, label) == revision)


def _latest(pods: Sequence[Manifest]) -> str | None:
    """Return the template of the last created pod of a Deployment: it creates only those of the current one."""
    last = max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None)
    return None if last is None else _label(last, TEMPLATE_LABEL)


def _label(pod: Manifest, name: str) -> str | None:
    label: str | None = (pod["metadata"].get("labels") or {}).get(name)
    return label
