# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drains of a reconcile: what they change in the desired objects, their requests to Druid, and what they report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.decision import drain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.groups import (
    is_under_way,
    worker_groups,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import (
    text_of,
    to_annotation,
    with_text,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.settings import limits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import (
    BLOCKED,
    DRAINING,
    WAITING_FOR_POD,
    Drain,
    Request,
    WorkerGroup,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import Post
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_OVERLORD = "/druid/indexer/v1"
_REASONS = {
    "disable": reasons.WORKER_DISABLED,
    "enable": reasons.WORKER_ENABLED,
    "handoff": reasons.TASK_GROUPS_HANDED_OFF,
}
# Only a request that enables a worker may precede the record.
_RECORDED_FIRST = (reasons.WORKER_DISABLED, reasons.TASK_GROUPS_HANDED_OFF)


class GroupDrain(NamedTuple):
    """The drain of a group: what it is based on, and what follows."""

    group: Group
    found: WorkerGroup
    drain: Drain


def drains(inputs: Inputs) -> tuple[GroupDrain, ...]:
    """Return the drain of each group of workers."""
    allowed = limits(inputs.cluster)
    return tuple(GroupDrain(group, found, drain(found, allowed, inputs.now)) for group, found in worker_groups(inputs))


def with_drains(desired: Desired, found: Sequence[GroupDrain]) -> Desired:
    """Return the desired objects, in which the StatefulSets of drained groups keep the pods that are not drained."""
    if not found:
        return desired
    by_group = {each.group.key: each for each in found}
    groups = {
        key: tuple(_drained(each, by_group.get(key)) for each in manifests) for key, manifests in desired.groups.items()
    }
    verbatim = {key: _drained(manifest, by_group.get(key)) for key, manifest in desired.verbatim.items()}
    return replace(desired, groups=groups, verbatim=verbatim)


def _drained(manifest: Manifest, found: GroupDrain | None) -> Manifest:
    if found is None or manifest["kind"] != "StatefulSet":
        return manifest
    spec = dict(manifest["spec"])
    if found.drain.partition != found.found.requested:
        spec["updateStrategy"] = _update_strategy(spec.get("updateStrategy") or {}, found.drain.partition)
    if "replicas" in spec:
        spec["replicas"] = found.drain.replicas
    return _recorded({**manifest, "spec": spec}, found)


def _update_strategy(specified: Mapping[str, Any], partition: int) -> dict[str, Any]:
    rolling = {**(specified.get("rollingUpdate") or {}), "partition": partition}
    return {**specified, "type": "RollingUpdate", "rollingUpdate": rolling}


def _recorded(manifest: Manifest, found: GroupDrain) -> Manifest:
    """Return the StatefulSet with the record; an empty one shows that the partition is that of the drain."""
    if not found.drain.records and found.drain.partition == found.found.requested:
        return manifest
    return with_text(manifest, to_annotation(found.drain.records))


def with_kept_pods(steps: Iterable[Apply], found: Sequence[GroupDrain]) -> Iterator[Apply]:
    """Yield the steps; those of drained StatefulSets with the number of pods that the spec keeps."""
    requested = {each.found.name: each.found.requested for each in found}
    for step in steps:
        is_drained = step.key.kind == "StatefulSet" and step.key.name in requested
        yield replace(step, kept_pods=requested[step.key.name]) if is_drained else step


def drain_requests(found: Iterable[GroupDrain]) -> Iterator[Post]:
    """Yield the requests to Druid. They follow the write of the StatefulSet, which has the record of them."""
    for each in found:
        for request in each.drain.requests:
            yield _step(each.group, request)


def without_unrecorded(steps: Sequence[Step], later: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps without the requests of a group whose record is not written now, since its workload waits.

    A worker is enabled nevertheless: it is in the record already, and other groups may take long.
    """
    written = {step.key: _text(step) for step in steps}
    waiting = {step.group for step in later if _is_unrecorded(step, written)}
    return tuple(step for step in steps if not (step.reason in _RECORDED_FIRST and step.group in waiting))


def _text(step: Step) -> str | None:
    return text_of(step.manifest or step.live)


def _is_unrecorded(step: Step, written: Mapping[ObjectKey, str | None]) -> bool:
    is_missing = step.key not in written or written[step.key] != _text(step)
    return step.key.kind == "StatefulSet" and is_missing


def _step(group: Group, request: Request) -> Post:
    # The title is sent in a header.
    title = request.title.encode("ascii", "backslashreplace").decode()
    target = quote(request.target, safe=":")
    is_enabled = request.verb == "enable"
    step = partial(Post, group=group.key, action=title, reason=_REASONS[request.verb])
    if request.verb == "handoff":
        body = {"taskGroupIds": [*request.task_groups]}
        path, what = f"{_OVERLORD}/supervisor/{target}/taskGroups/handoff", ObjectKey("supervisor", request.target)
        return step(what=what, path=path, body=body, states=({}, body))
    path, what = f"{_OVERLORD}/worker/{target}/{request.verb}", ObjectKey("worker", request.target)
    return step(what=what, path=path, states=({"enabled": not is_enabled}, {"enabled": is_enabled}))


def drain_findings(found: Iterable[GroupDrain]) -> Iterator[Finding]:
    """Yield what the drains wait for, and why one cannot go on. These findings block nothing."""
    for each in found:
        if each.drain.problem:
            message = f"Group {each.group.key} is not drained any further: {each.drain.problem}"
            yield Finding(reasons.DRAIN_BLOCKED, message, each.group.key)
        elif each.drain.awaited:
            message = f"Draining group {each.group.key}: {join_limited(each.drain.awaited, '; ')}."
            yield Finding(reasons.DRAINING, message, each.group.key, is_problem=False)


def drain_timeouts(found: Iterable[GroupDrain]) -> Iterator[str]:
    """Yield a warning for each limit that was exceeded."""
    yield from (text for each in found for text in each.drain.warnings)


def drain_refusals(found: Iterable[GroupDrain]) -> Iterator[str]:
    """Yield a warning for each group that cannot be drained as specified, since Druid does not permit or support it."""
    for group, workers, _drain in found:
        if workers.is_refused and is_under_way(workers):
            effect = "each of its pods goes only after the drainTimeout, and ends the tasks that run then"
            effect = effect if workers.is_drained else "those that were disabled stay so"
            yield f"Druid cannot be asked for the workers of group {group.key}, so {effect}: {workers.unreachable}"
        refused = (pod.worker.refusal.rstrip(".") for pod in workers.pods if pod.worker and pod.worker.refusal)
        for text in dict.fromkeys(refused):
            yield f"task groups that the workers of group {group.key} read are not handed off: {text}"


def drain_document(found: Iterable[GroupDrain]) -> dict[str, Any]:
    """Return the progress of the first drain as the Go operator reports it; empty if there is none."""
    for each in found:
        record = next(iter(sorted(each.drain.records, key=lambda record: not record.released)), None)
        if record is not None:
            phase = DRAINING if not record.released else BLOCKED if each.drain.problem else WAITING_FOR_POD
            return {
                "statefulSet": each.found.name,
                "phase": phase,
                "podName": record.pod,
                "podOrdinal": int(record.pod.rpartition("-")[2]),
                **({"oldPodUID": record.uid} if record.released else {}),
                "lastTransitionTime": record.released or record.since,
                "message": each.drain.problem or f"{join_limited(each.drain.awaited, '; ') or 'nothing is awaited'}.",
            }
    return {}
