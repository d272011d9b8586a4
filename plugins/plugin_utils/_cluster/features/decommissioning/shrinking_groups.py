# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups of Historicals that get fewer replicas: what their decommissioning is decided on, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HISTORICAL,
    UNSURE_SECONDS,
    HistoricalServer,
    entries_of,
    historical_servers,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_CONFIG,
    LOAD_QUEUES,
    LOAD_STATUS,
    SERVERS,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import (
    COORDINATOR,
    SpecifiedConfigs,
    specified,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decommission import (
    Decommission,
    decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    Entry,
    annotated_names,
    record_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.replicas import (
    replica_questions,
    with_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    SHRINK,
    InDruid,
    LeavingPod,
    ShrinkingGroup,
    Situation,
    is_decommissioned,
    names_of,
    server_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    first_ordinal,
    ordinal_of,
    replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import seconds_of

LIST = "decommissioningNodes"
_NEEDED = (SERVERS, LOAD_QUEUES, COORDINATOR_CONFIG)


def druid_state(inputs: Inputs) -> DruidState:
    """Return what Druid answers about its servers: nothing unless a group of Historicals shrinks, or one is recorded.

    A Druid that is stopped cannot answer: the names are removed from its list when it runs again.
    """
    if not _needs_answers(inputs):
        return DruidState()
    asked: tuple[Question[Any], ...] = (*_NEEDED, LOAD_STATUS)
    druid = inputs.ask(*asked)
    while druid.missing_answers(more := replica_questions(_situation(inputs, druid), druid)):
        asked = (*asked, *more)
        druid = inputs.ask(*asked)
    return druid


def _needs_answers(inputs: Inputs) -> bool:
    return not inputs.cluster.stopped and (any(entry.server for entry in record_of(inputs)) or any(shrinking(inputs)))


def decommission_of(inputs: Inputs) -> Decommission:
    """Return the decision about the Historicals. Druid is asked if it is needed."""
    record = record_of(inputs)
    if inputs.cluster.stopped or (not record and not any(shrinking(inputs))):
        return Decommission(record=record)
    return decommission(situation(inputs))


def unavailable(inputs: Inputs) -> Unavailable | None:
    """Return why an answer is missing, None if all are there, or were not needed."""
    known = druid_state(inputs).answers
    return next((each for each in (known.get(question) for question in _NEEDED) if isinstance(each, Unavailable)), None)


def with_names(due: SpecifiedConfigs, ours: frozenset[str]) -> SpecifiedConfigs:
    """Return the specified configurations with our names in the list of the Coordinator's, if it is specified."""
    config = due.configs.get(COORDINATOR) or {}
    if LIST not in config or not ours:
        return due
    both = {**config, LIST: sorted({*entries_of(config, LIST), *ours})}
    return replace(due, configs={**due.configs, COORDINATOR: both})


def shrinking(inputs: Inputs) -> Iterator[Group]:
    """Yield the groups that have more pods than specified, and whose pods are decommissioned.

    If all Historicals stop, there is nothing to move segments to.
    """
    groups = [group for group in inputs.cluster.groups if group.node_type == HISTORICAL]
    if inputs.cluster.uid is None or not any(_runs(group) for group in groups):
        return
    for group in groups:
        if is_decommissioned(group) and live_replicas(group, inputs) > group.replicas:
            yield group


def _runs(group: Group) -> bool:
    return not group.stopped and (group.keeps_replicas or group.replicas > 0)


def live_replicas(group: Group, inputs: Inputs) -> int:
    """Return the number of pods that the StatefulSet has, or those that its next one would adopt."""
    workload = inputs.observed.workload(group)
    return inputs.observed.orphaned_replicas(group.unique_name) if workload is None else replicas(workload)


def situation(inputs: Inputs) -> Situation:
    """Return what the decision is based on."""
    druid = druid_state(inputs)
    return with_replicas(_situation(inputs, druid), druid)


def _situation(inputs: Inputs, druid: DruidState) -> Situation:
    """Return the same without what is asked about replicas."""
    servers, record = _servers(druid), record_of(inputs)
    staying = _staying(inputs, record, servers or (), druid)
    others = tuple(server for server in servers or () if server.name not in staying)
    groups = tuple(_shrinking_group(group, inputs, others) for group in shrinking(inputs))
    existing = frozenset(entry.pod for entry in record if _is_stopping(entry, inputs))
    leaving = frozenset(pod.name for group in groups for pod in group.pods)
    known = None if servers is None else _in_druid(inputs, servers, leaving | existing, druid)
    return Situation(groups, existing | leaving, record, known, inputs.now, staying, annotated_names(inputs))


def _staying(
    inputs: Inputs, record: tuple[Entry, ...], servers: tuple[HistoricalServer, ...], druid: DruidState
) -> frozenset[str]:
    """Return the names of the pods that the spec keeps: of those in the record, in Druid's list, and of its servers."""
    listed = entries_of(_answer(druid, COORDINATOR_CONFIG) or {}, LIST)
    known = (entry.server for entry in record if entry.server)
    candidates = frozenset((*known, *listed, *(server.name for server in servers)))
    names_by_pod = (names_of(pod, group, candidates) for group, _name, pod in _kept_pods(inputs) if pod is not None)
    return frozenset().union(*names_by_pod)


def _answer(druid: DruidState, question: Question[Any]) -> Any:
    """Return the answer, None if there is none."""
    answer = druid.answers.get(question)
    return None if isinstance(answer, Unavailable) else answer


def _servers(druid: DruidState) -> tuple[HistoricalServer, ...] | None:
    servers, queues, config = (_answer(druid, question) for question in _NEEDED)
    return None if servers is None or queues is None or config is None else historical_servers(servers, queues)


def _in_druid(
    inputs: Inputs, servers: tuple[HistoricalServer, ...], stopping: frozenset[str], druid: DruidState
) -> InDruid:
    config, status = _answer(druid, COORDINATOR_CONFIG), _answer(druid, LOAD_STATUS)
    return InDruid(
        servers,
        frozenset(entries_of(config, LIST)),
        _specified(inputs),
        tuple(name for name in _unknown(inputs, servers) if name not in stopping),
        tuple(_absent(inputs, servers)),
        sum(status.values()) if status else None,
    )


def _specified(inputs: Inputs) -> frozenset[str]:
    configs = specified(inputs.cluster).configs
    return frozenset(entries_of(configs.get(COORDINATOR) or {}, LIST))


def _unknown(inputs: Inputs, servers: tuple[HistoricalServer, ...]) -> Iterator[str]:
    """Yield the names of the pods that are ready, but that Druid does not know."""
    for group in inputs.cluster.groups:
        if group.node_type == HISTORICAL:
            pods = (pod for pod in inputs.observed.pods_of(group) if _is_ready(pod))
            yield from (_name(pod) for pod in pods if server_of(pod, group, servers) is None)


def _absent(inputs: Inputs, servers: tuple[HistoricalServer, ...]) -> Iterator[str]:
    """Yield the names of the pods that the spec keeps, but that Druid does not know, or that do not even exist."""
    for group, name, pod in _kept_pods(inputs):
        if pod is None or server_of(pod, group, servers) is None:
            yield name


def _kept_pods(inputs: Inputs) -> Iterator[tuple[Group, str, Manifest | None]]:
    """Yield the pods that the spec keeps, with their groups and names; None if one does not exist."""
    for group in inputs.cluster.groups:
        if group.node_type == HISTORICAL:
            pods = {_name(pod): pod for pod in inputs.observed.pods_of(group)}
            for name in _kept_names(group, inputs, pods):
                yield group, name, pods.get(name)


def _kept_names(group: Group, inputs: Inputs, pods: Collection[str]) -> Iterator[str]:
    number = _kept_replicas(group, inputs)
    if not group.is_deployment:
        first = _first(group, inputs)
        yield from (f"{group.unique_name}-{ordinal}" for ordinal in range(first, first + number))
        return
    yield from pods if number else ()
    yield from (f"{group.unique_name}-..." for _missing in range(number - len(pods)))


def _kept_replicas(group: Group, inputs: Inputs) -> int:
    return live_replicas(group, inputs) if group.keeps_replicas else group.replicas


def _shrinking_group(group: Group, inputs: Inputs, servers: tuple[HistoricalServer, ...]) -> ShrinkingGroup:
    strategy: Mapping[str, Any] = group.decommission_strategy or {}
    pods = {ordinal_of(pod, group.unique_name): pod for pod in inputs.observed.pods_of(group)}
    first = _first(group, inputs)
    leaving = range(first + group.replicas, first + live_replicas(group, inputs))
    return ShrinkingGroup(
        group.key,
        group.replicas,
        tuple(_leaving_pod(ordinal, group, pods.get(ordinal), servers) for ordinal in leaving),
        seconds_of(str(strategy.get("decommissionTimeout") or "1h")),
        strategy.get("onTimeout") == SHRINK,
        first,
        restart_seconds(group, inputs.desired.groups.get(group.key, ())),
    )


def _leaving_pod(ordinal: int, group: Group, pod: Manifest | None, servers: tuple[HistoricalServer, ...]) -> LeavingPod:
    name = f"{group.unique_name}-{ordinal}"
    if pod is None:
        return LeavingPod(name, ordinal, is_ready=False)
    return LeavingPod(name, ordinal, _is_ready(pod), server_of(pod, group, servers))


def _is_stopping(entry: Entry, inputs: Inputs) -> bool:
    """True if the pod exists, and is one that the spec does not have any more."""
    if ObjectKey("Pod", entry.pod) not in inputs.observed.objects:
        return False
    group = next((each for each in inputs.cluster.groups if each.key == entry.group), None)
    if group is None or group.is_deployment:
        return True
    ordinal = ordinal_of({"metadata": {"name": entry.pod}}, group.unique_name)
    return ordinal is None or ordinal >= _first(group, inputs) + _kept_replicas(group, inputs)


def _first(group: Group, inputs: Inputs) -> int:
    workload = inputs.observed.workload(group)
    return first_ordinal(workload) if workload else 0


def _is_ready(pod: Manifest) -> bool:
    return not is_terminating(pod) and is_ready((pod.get("status") or {}).get("conditions") or ())


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])


# Without a startup probe: as long as a rollout may take without progress.
_DEFAULT_SECONDS = 900
# What Kubernetes uses if a field is not set.
_GRACE, _PERIOD, _FAILURES = 30, 10, 3


def restart_seconds(group: Group, manifests: Iterable[Mapping[str, Any]]) -> int:
    """Return the time after which a pod of the group that has not come back does not have segments any more."""
    specified = int(group.first_present("progressDeadlineSeconds") or 0)
    templates = [manifest["spec"]["template"]["spec"] for manifest in manifests if manifest["kind"] == "StatefulSet"]
    started = max((_startup_seconds(template) for template in templates), default=0)
    return max(UNSURE_SECONDS, started, specified or (0 if started else _DEFAULT_SECONDS))


def _startup_seconds(template: Mapping[str, Any]) -> int:
    """Return the time until the kubelet gives up a pod that is starting, after the former one; 0 without a probe."""
    probes = [
        container["startupProbe"] for container in template.get("containers") or () if container.get("startupProbe")
    ]
    if not probes:
        return 0
    grace = template.get("terminationGracePeriodSeconds")
    return (_GRACE if grace is None else int(grace)) + max(map(_probe_seconds, probes))


def _probe_seconds(probe: Mapping[str, Any]) -> int:
    attempts = int(probe.get("failureThreshold") or _FAILURES) * int(probe.get("periodSeconds") or _PERIOD)
    return int(probe.get("initialDelaySeconds") or 0) + attempts
