# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The groups of workers of a decision: from the live objects, the desired ones, and Druid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import handoff_questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    LASTING,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.drain import drain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    GroupDrain,
    Record,
    WorkerGroup,
    WorkerPod,
    is_replaced_by_controller,
    limits,
    requests_drain,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import (
    as_worker,
    reads_streams,
    worker_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import (
    from_annotation,
    records_of_status,
    without_future,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import is_stuck
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    is_failing,
    is_unschedulable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    REVISION_LABEL,
    first_ordinal,
    ordinal_of,
    partition,
    pods_below_partition,
    record_of_drain,
    replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready, seconds_since


def drains(inputs: Inputs) -> tuple[GroupDrain, ...]:
    """Return the drain of each group of workers."""
    allowed = limits(inputs.cluster)
    return tuple(GroupDrain(group, found, drain(found, allowed, inputs.now)) for group, found in worker_groups(inputs))


def worker_groups(inputs: Inputs) -> Iterator[tuple[Group, WorkerGroup]]:
    """Yield the groups that are drained, or have been so. Druid is asked for the workers of drains that are under way.

    The questions about all groups are sent together.
    """
    groups = [*_worker_groups(inputs)]
    under_way = [(group, found) for group, found in groups if is_under_way(found)]
    druid = _druid_state(under_way, inputs)
    for group, worker_group in groups:
        yield (
            group,
            _with_workers(worker_group, group, inputs, druid) if (group, worker_group) in under_way else worker_group,
        )


def _worker_groups(inputs: Inputs) -> Iterator[tuple[Group, WorkerGroup]]:
    """Yield the same groups without what Druid knows."""
    for group in inputs.cluster.groups:
        live, manifest = _live(inputs, group), _desired(inputs, group)
        if manifest is None:
            continue
        if live is None:
            worker_group = _interrupted(inputs, group, manifest)
        else:
            records = _records(inputs, group, live)
            is_concerned = requests_drain(group) or records or _is_marked(live)
            worker_group = _worker_group(inputs, group, live, manifest, records) if is_concerned else None
        if worker_group is not None:
            yield group, worker_group


def _druid_state(groups: Collection[tuple[Group, WorkerGroup]], inputs: Inputs) -> DruidState:
    """Return what Druid answers about what the next step of the drains depends on; nothing if none is under way."""
    if not groups:
        return DruidState()
    asked: tuple[Question[Any], ...] = (questions.WORKERS,)
    druid = inputs.ask(*asked)
    drained = [
        worker
        for group, found in groups
        for pod, record in _pods_with_records(inputs, group, found)
        if (worker := _worker_of(pod, group, druid)) is not None and reads_streams(worker, record, inputs.now)
    ]
    if drained:
        while druid.missing_answers(more := handoff_questions(druid, drained)):
            asked = (*asked, *more)
            druid = inputs.ask(*asked)
    return druid


def is_under_way(group: WorkerGroup) -> bool:
    """True if the workers have to be known: pods are about to be replaced or removed, or were disabled before."""
    if group.records:
        return True
    if not group.requests_drain or not group.is_observed:
        return False
    is_outdated = any(pod.is_outdated and group.requested <= pod.index for pod in group.pods) and not group.restarts
    return is_outdated or any(group.desired <= pod.index < group.replicas for pod in group.pods)


def _live(inputs: Inputs, group: Group) -> Manifest | None:
    live = inputs.observed.objects.get(ObjectKey("StatefulSet", group.unique_name))
    return None if live is None or is_terminating(live) else live


def _desired(inputs: Inputs, group: Group) -> Manifest | None:
    manifests = inputs.desired.groups.get(group.key, ())
    return next((manifest for manifest in manifests if manifest["kind"] == "StatefulSet"), None)


def _is_marked(live: Manifest) -> bool:
    return record_of_drain(live) is not None


def _records(inputs: Inputs, group: Group, live: Manifest) -> tuple[Record, ...]:
    if _is_marked(live):
        records = from_annotation(record_of_drain(live))
    else:
        status = inputs.resource.get("status") or {}
        records = records_of_status(status, group.unique_name, inputs.observed.pods_of(group))
    return tuple(without_future(record, inputs.now) for record in records)


def _interrupted(inputs: Inputs, group: Group, manifest: Manifest) -> WorkerGroup | None:
    """Return the group of a StatefulSet whose recreation was interrupted, or that others have deleted without its pods.

    Which of the pods are outdated is known only when a new StatefulSet has adopted them. Until then, all of them stay.
    """
    live = inputs.observed.objects.get(ObjectKey("StatefulSet", group.unique_name), manifest)
    pods = tuple(pod for pod in _pods(inputs, group, manifest) if not pod.is_terminating)
    holder = live if _is_marked(live) else inputs.observed.objects.get(_config_map(group), live)
    records = _records(inputs, group, holder)
    if not records and not _is_marked(holder) and not (requests_drain(group) and pods):
        return None
    number = max([0 if live is manifest else replicas(live), *(pod.index + 1 for pod in pods)])
    requested, desired = group.partition, int(manifest["spec"].get("replicas", number))
    return WorkerGroup(
        group.unique_name,
        number,
        desired,
        max(requested, number),
        requested,
        requests_drain=requests_drain(group),
        is_observed=False,
        pods=pods,
        records=records,
    )


def _config_map(group: Group) -> ObjectKey:
    return ObjectKey("ConfigMap", names.node_config_map_name(group.unique_name))


def _worker_group(
    inputs: Inputs, group: Group, live: Manifest, manifest: Manifest, records: tuple[Record, ...]
) -> WorkerGroup:
    status, number = live.get("status") or {}, replicas(live)
    pods = tuple(_pods(inputs, group, live))
    is_begun = bool(records) or _is_marked(live)
    begins = _restarts(inputs, group, live, manifest) or (not is_begun and _releases(group, live, pods))
    return WorkerGroup(
        group.unique_name,
        number,
        int(manifest["spec"].get("replicas", number)),
        partition(live),
        group.partition,
        requests_drain=requests_drain(group),
        restarts=is_replaced_by_controller(group) and begins,
        is_observed=status.get("observedGeneration", 0) >= live["metadata"]["generation"],
        is_ordered=live["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady",
        pods=pods,
        records=records,
    )


def _pods(inputs: Inputs, group: Group, live: Manifest) -> Iterator[WorkerPod]:
    # A controller that is stuck replaces no pod: the pods are evicted.
    is_replaced = is_replaced_by_controller(group) and not is_stuck(group, inputs.observed)
    revision = (live.get("status") or {}).get("updateRevision") if is_replaced else None
    for pod in inputs.observed.pods_of(group):
        ordinal = ordinal_of(pod, group.unique_name)
        if ordinal is not None:
            yield WorkerPod(
                ordinal - first_ordinal(live),
                pod["metadata"]["name"],
                pod["metadata"]["uid"],
                is_ready((pod.get("status") or {}).get("conditions") or ()),
                revision is not None and (pod["metadata"].get("labels") or {}).get(REVISION_LABEL) != revision,
                is_terminating(pod),
                _is_running(pod),
                is_broken(pod, limits(inputs.cluster).pod_ready, inputs.now),
            )


def _is_running(pod: Manifest) -> bool:
    status = pod.get("status") or {}
    containers = status.get("containerStatuses") or ()
    return is_ready(status.get("conditions") or ()) or any(
        "running" in (container.get("state") or {}) for container in containers
    )


def _with_workers(worker_group: WorkerGroup, group: Group, inputs: Inputs, druid: DruidState) -> WorkerGroup:
    answer = druid.answer(questions.WORKERS)
    if isinstance(answer, Unavailable):
        return replace(worker_group, unreachable=answer.message.rstrip("."), is_refused=answer.cause in LASTING)
    workers = {
        pod["metadata"]["name"]: as_worker(worker, druid, is_read=reads_streams(worker, record, inputs.now))
        for pod, record in _pods_with_records(inputs, group, worker_group)
        if (worker := _worker_of(pod, group, druid)) is not None
    }
    return replace(worker_group, pods=tuple(replace(pod, worker=workers.get(pod.name)) for pod in worker_group.pods))


def _worker_of(pod: Manifest, group: Group, druid: DruidState) -> questions.Worker | None:
    answer = druid.answer(questions.WORKERS)
    return worker_of(pod, group.port, () if isinstance(answer, Unavailable) else answer)


def _pods_with_records(
    inputs: Inputs, group: Group, worker_group: WorkerGroup
) -> Iterator[tuple[Manifest, Record | None]]:
    records = {record.pod: record for record in worker_group.records}
    yield from ((pod, records.get(pod["metadata"]["name"])) for pod in inputs.observed.pods_of(group))


def _restarts(inputs: Inputs, group: Group, live: Manifest, manifest: Manifest) -> bool:
    """True if pods will restart; the API server normalizes a template."""
    if not _may_restart(live, manifest):
        return False
    after = inputs.reads.dry_run(_update(group, live, manifest)).after if requests_drain(group) else None
    return after is None or bool(after["spec"]["template"] != live["spec"]["template"])


def _releases(group: Group, live: Manifest, pods: Iterable[WorkerPod]) -> bool:
    """True if the spec does not keep a pod of an old revision any more that the update strategy keeps so far."""
    kept = range(group.partition, pods_below_partition(live))
    return any(pod.is_outdated and pod.index in kept for pod in pods)


def _may_restart(live: Manifest, manifest: Manifest) -> bool:
    return bool(compare(live, manifest).predicted["spec"]["template"] != live["spec"]["template"])


def _update(group: Group, live: Manifest, manifest: Manifest) -> Step:
    comparison = compare(live, manifest)
    return Apply(
        manifest=manifest,
        group=group.key,
        live=live,
        after=comparison.predicted,
        managed_fields=comparison.managed_fields,
    )


def is_broken(pod: Manifest, limit: float, now: datetime) -> bool:
    """True if Kubernetes reports why the pod cannot run, or it has not been ready for longer than the limit."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if is_ready(conditions):
        return False
    changed = next(
        (condition.get("lastTransitionTime") for condition in conditions if condition["type"] == "Ready"), None
    )
    since = changed or pod["metadata"].get("creationTimestamp")
    is_late = bool(since) and seconds_since(str(since), now) >= limit
    return is_late or is_failing(pod) or is_unschedulable(pod)
