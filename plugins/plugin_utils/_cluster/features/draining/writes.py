# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a drain writes: the partition and the replicas of its StatefulSet, its record, and then requests to Druid. Pure.

The record is an annotation of the StatefulSet. It is written before a worker is disabled, so that none is forgotten:
every worker in it may be disabled, and no other one is so by us. It is there as long as the partition is that of a
drain, even if no worker is in it. A drain that the Go operator has begun is in the status instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import immutable_changes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    BLOCKED,
    DRAINING,
    WAITING_FOR_POD,
    DrainRequest,
    GroupDrain,
    Record,
    is_replaced_by_controller,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.restarts import (
    WITH_STRATEGY,
    PodReplacement,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Restart, Step, annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    NOTHING_DRAINED,
    record_of_drain,
    released_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_after, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult

_OVERLORD = "/druid/indexer/v1"
_REASONS = {
    "disable": reasons.WORKER_DISABLED,
    "enable": reasons.WORKER_ENABLED,
    "handoff": reasons.TASK_GROUPS_HANDED_OFF,
}
# Only a request that enables a worker may precede the record.
_RECORDED_FIRST = (reasons.WORKER_DISABLED, reasons.TASK_GROUPS_HANDED_OFF)
_TIMES = {"since": "since", "released": "released", "handed_off": "handedOff", "idle": "idle", "lost": "lost"}
_NAMES = {"pod": "pod", "uid": "uid", **_TIMES}
_OURS = "disabledByUs"
# What admission makes of the objects that seem to need a recreation.
_Admitted = Mapping[ObjectKey, Manifest]


def with_drains(desired: Desired, group_drains: Sequence[GroupDrain]) -> Desired:
    """Return the desired objects, in which the StatefulSets of drained groups keep the pods that are not drained."""
    if not group_drains:
        return desired
    by_group = {each.group.key: each for each in group_drains}
    groups = {
        key: tuple(_with_drain(manifest, by_group.get(key)) for manifest in manifests)
        for key, manifests in desired.groups.items()
    }
    verbatim = {key: _with_drain(manifest, by_group.get(key)) for key, manifest in desired.verbatim.items()}
    return replace(desired, groups=groups, verbatim=verbatim)


def _with_drain(manifest: Manifest, group_drain: GroupDrain | None) -> Manifest:
    if group_drain is None or manifest["kind"] != "StatefulSet":
        return manifest
    spec = dict(manifest["spec"])
    if group_drain.drain.partition != group_drain.workers.requested:
        spec["updateStrategy"] = _update_strategy(spec.get("updateStrategy") or {}, group_drain.drain.partition)
    if "replicas" in spec:
        spec["replicas"] = group_drain.drain.replicas
    return _recorded({**manifest, "spec": spec}, group_drain)


def _update_strategy(specified: Mapping[str, Any], partition: int) -> dict[str, Any]:
    rolling = {**(specified.get("rollingUpdate") or {}), "partition": partition}
    return {**specified, "type": "RollingUpdate", "rollingUpdate": rolling}


def _recorded(manifest: Manifest, group_drain: GroupDrain) -> Manifest:
    """Return the StatefulSet with the record; an empty one shows that the partition is that of the drain."""
    if not group_drain.drain.records and group_drain.drain.partition == group_drain.workers.requested:
        return manifest
    return annotated(manifest, {names.DRAIN_ANNOTATION: to_annotation(group_drain.drain.records)})


def with_copies(
    desired: Desired, group_drains: Sequence[GroupDrain], live: Observed, admitted: _Admitted | None = None
) -> Desired:
    """Return the desired objects, in which the ConfigMaps have the records of StatefulSets that are recreated.

    Between the deletion and the creation, the operator can be stopped. The ConfigMap is written before, and keeps the
    copy until the StatefulSet with the record exists.
    """
    drained = {each.group.key for each in group_drains}
    groups = {
        key: tuple(_with_copy(manifests, live, admitted or {})) if key in drained else manifests
        for key, manifests in desired.groups.items()
    }
    return replace(desired, groups=groups)


def _with_copy(manifests: Sequence[Manifest], live: Observed, admitted: _Admitted) -> list[Manifest]:
    record = next(
        (record_of_drain(manifest) for manifest in manifests if _is_recreated(manifest, live, admitted)), None
    )
    return [
        annotated(manifest, {names.DRAIN_ANNOTATION: record})
        if manifest["kind"] == "ConfigMap" and record
        else manifest
        for manifest in manifests
    ]


def _is_recreated(manifest: Manifest, live: Observed, admitted: _Admitted) -> bool:
    if manifest["kind"] != "StatefulSet":
        return False
    before = live.objects.get(key_of(manifest))
    if before is None or is_terminating(before):
        return True
    return bool(immutable_changes(before, manifest, admitted.get(key_of(manifest))))


def with_kept_pods(steps: Iterable[Apply], group_drains: Sequence[GroupDrain]) -> Iterator[Apply]:
    """Yield the steps; those of StatefulSets whose rollouts are drained with the pods that the spec keeps."""
    requested = {
        each.workers.name: each.workers.requested for each in group_drains if is_replaced_by_controller(each.group)
    }
    for step in steps:
        is_drained = step.key.kind == "StatefulSet" and step.key.name in requested
        yield replace(step, replacement=DrainedReplacement(requested[step.key.name])) if is_drained else step


def drain_requests(group_drains: Iterable[GroupDrain]) -> Iterator[Post]:
    """Yield the requests to Druid. They follow the write of the StatefulSet, which has the record of them."""
    for each in group_drains:
        for request in each.drain.requests:
            yield _step(each.group, request)


def _step(group: Group, request: DrainRequest) -> Post:
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


def without_unrecorded(steps: Sequence[Step], later: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps without the requests of a group whose record is not written now, since its workload waits.

    A worker is enabled nevertheless: it is in the record already, and other groups may take long.
    """
    written = {step.key: _text(step) for step in steps}
    waiting = {step.group for step in later if _is_unrecorded(step, written)}
    return tuple(step for step in steps if not (step.operation.reason in _RECORDED_FIRST and step.group in waiting))


def _text(step: Step) -> str | None:
    return record_of_drain(step.manifest or step.live)


def _is_unrecorded(step: Step, written: Mapping[ObjectKey, str | None]) -> bool:
    is_missing = step.key not in written or written[step.key] != _text(step)
    return step.key.kind == "StatefulSet" and is_missing


def to_annotation(records: Iterable[Record]) -> str:
    """Return the value of the annotation."""
    return json.dumps([_document(record) for record in records], separators=(",", ":"))


def from_annotation(text: str | None) -> tuple[Record, ...]:
    """Return the records; an entry that a person has broken counts as none."""
    try:
        document = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    entries = (_record(each) for each in (document if isinstance(document, list) else ()))
    by_pod = {entry.pod: entry for entry in entries if entry is not None}
    return tuple(by_pod.values())


def without_future(record: Record, now: datetime) -> Record:
    """Return the record with no time later than now: the clock of another writer must not prolong a limit."""
    future: dict[str, Any] = {name: timestamp(now) for name in _TIMES if is_after(getattr(record, name), now)}
    return replace(record, **future) if future else record


def _document(record: Record) -> dict[str, Any]:
    texts = {name: getattr(record, field) for field, name in _NAMES.items()}
    present = {name: text for name, text in texts.items() if text}
    return {**present, **({_OURS: True} if record.is_ours else {})}


def _record(entry: object) -> Record | None:
    if not isinstance(entry, Mapping):
        return None
    texts = {field: str(entry.get(name) or "") for field, name in _NAMES.items()}
    if not texts["pod"].rpartition("-")[2].isdecimal() or not texts["uid"] or not texts["since"]:
        return None
    return Record(**texts, is_ours=entry.get(_OURS) is True)


def records_of_status(status: Mapping[str, Any], name: str, pods: Iterable[Manifest]) -> tuple[Record, ...]:
    """Return the record of the drain that the status reports about the StatefulSet of this name."""
    drain = status.get("middleManagerDrain")
    if not isinstance(drain, Mapping) or drain.get("statefulSet") != name:
        return ()
    pod, phase, since = (str(drain.get(field) or "") for field in ("podName", "phase", "lastTransitionTime"))
    if not pod.rpartition("-")[2].isdecimal() or not since:
        return ()
    if phase == DRAINING:
        uid = next((live["metadata"]["uid"] for live in pods if live["metadata"]["name"] == pod), None)
        return (Record(pod, uid, since, is_ours=True),) if uid else ()
    if phase in (WAITING_FOR_POD, BLOCKED):
        return (Record(pod, str(drain.get("oldPodUID") or "unknown"), since, released=since, is_ours=True),)
    return ()


@dataclass(frozen=True, kw_only=True)
class Post(DruidRequest):
    """A POST for a group. `is_idempotent`: it has the same effect if it is repeated."""

    path: str
    body: Any = None
    is_idempotent: bool = True

    def send(self, client: Any, _context: Context) -> StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import post

        post(client, self.path, self.body, self.action, idempotent=self.is_idempotent)
        return StepResult(self)


@dataclass(frozen=True)
class DrainedReplacement(PodReplacement):
    """The partition of the StatefulSet is a temporary one: a rollout replaces all pods but the first `kept_pods`."""

    kept_pods: int

    def kept(self, after: Manifest) -> int:
        return self.kept_pods

    def released(self, live: Manifest, after: Manifest) -> int:
        return released_pods(live, after, self.kept_pods if _begins(live) else None)

    def waiting_fields(self, live: Manifest, manifest: Manifest, restart: Restart) -> tuple[str, ...]:
        return WITH_STRATEGY if _begins(live) else super().waiting_fields(live, manifest, restart)

    def annotations_before(self, live: Manifest, manifest: Manifest, restart: Restart) -> Mapping[str, str | None]:
        """Return the record: no pod is released yet, and a partition that is not written is not that of a drain.

        Other versions of the live object can have other pods to release.
        """
        record = record_of_drain(manifest)
        is_only_mark = record == NOTHING_DRAINED if _begins(live) else bool(restart.released)
        return {names.DRAIN_ANNOTATION: record_of_drain(live) if is_only_mark else record}


def _begins(live: Manifest) -> bool:
    """True unless the partition is that of a drain already."""
    return record_of_drain(live) is None
