# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order in which groups restart, which of them a blocked one defers, and what a pod reads that starts early."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import blocked_groups
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import configuration_hash_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import GroupState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Effect, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import druid_version, main_image
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


class Order(NamedTuple):
    """The keys of the groups in the order of their restarts, and warnings about it."""

    groups: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def rollout_order(cluster: Cluster, restarts: Iterable[Step]) -> Order:
    """Return the order; `restarts` are the steps that restart pods."""
    keys = tuple(group.key for group in cluster.groups)
    changes = [
        pair for pair in map(_images, (step for step in restarts if not step.restart.eviction)) if pair[0] != pair[1]
    ]
    unknown = [new if druid_version(old) else old for old, new in changes if None in _versions(old, new)]
    if unknown:
        return Order(keys, (_warning(unknown),))
    return Order(tuple(reversed(keys)) if any(_is_downgrade(*pair) for pair in changes) else keys)


def _images(step: Step) -> tuple[str, str]:
    return main_image(step.live or step.manifest), main_image(step.after or step.manifest)


def _versions(old: str, new: str) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    return druid_version(old), druid_version(new)


def _is_downgrade(old: str, new: str) -> bool:
    before, after = _versions(old, new)
    return before is not None and after is not None and after < before


def _warning(images: Sequence[str]) -> str:
    return (
        f"the tag of image {join_limited(dict.fromkeys(images))} is not a version, so whether Druid is upgraded or "
        "downgraded is not known: the groups restart in the order of an upgrade. Use tags that begin with the version"
    )


def blocked_restarts(candidates: Iterable[Step], findings: Iterable[Finding], inputs: Inputs) -> tuple[Step, ...]:
    """Return the steps that would restart pods, if a finding did not block everything of their group.

    What seems to be another pod template may be none for the API server, which a dry run shows.
    """
    blocked = blocked_groups(findings)
    steps = (step for step in candidates if step.group is not None and step.group in blocked)
    stored = (_stored(step, inputs) for step in steps if _predicted(step).restart.pods)
    return tuple(step for step in stored if step.restart.pods)


def _predicted(step: Step) -> Step:
    """Return the step with the object afterwards, as the manifest changes the live one."""
    if not step.manifest or step.live is None or step.after is not None:
        return step
    return replace(step, after=compare(step.live, step.manifest).predicted)


def _stored(step: Step, inputs: Inputs) -> Step:
    """Return the step with the object afterwards, from a dry run if that is not rejected."""
    after = inputs.reads.dry_run(step).after if step.manifest else None
    return _predicted(step) if after is None else replace(step, after=after)


def behind_blocked(
    order: Sequence[str],
    blocked: Collection[Step],
    restarts: Mapping[str, Step],
    states: Mapping[str, GroupState],
    annotations: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the groups, in order, whose restart waits until an earlier one is not blocked any more.

    A new pod template of a later group waits, unless Kubernetes reports why a pod of that group cannot run: that is a
    repair. The end of what has begun does not wait: the release of drained workers, and evictions.
    """
    first = min((order.index(step.group or "") for step in blocked), default=len(order))
    if annotations.get(names.RESTART_OUT_OF_ORDER_ANNOTATION) == "true":
        return ()
    later = (key for key in order[first + 1 :] if key in restarts)
    return tuple(key for key in later if restarts[key].restart.outdates and states[key].cause is None)


def order_warnings(waiting: Sequence[str], blocked: Iterable[Step]) -> Iterator[str]:
    """Yield the warning about the groups that wait for a blocked one."""
    if waiting:
        verb, which = ("restarts", "it") if len(waiting) == 1 else ("restart", "them")
        cause = join_limited(dict.fromkeys(step.group or "" for step in blocked))
        yield (
            f"{join_limited(waiting)} {verb} after {cause}, which is blocked: the pods of an earlier group restart "
            f"first. To restart {which} nevertheless, set the annotation {names.RESTART_OUT_OF_ORDER_ANNOTATION} to "
            '"true" on the resource'
        )


_DATA = frozenset({"f:data", "f:binaryData", "f:stringData"})


def with_early_readers(steps: Sequence[Step], waiting: Collection[Step], cluster: Cluster) -> tuple[Step, ...]:
    """Return the steps; the one that changes the common ConfigMap names the groups that restart later."""
    key, groups = _key(cluster), _groups(waiting)
    return tuple(
        _with_effect(step, groups) if step.key == key and groups and _changes(step) else step for step in steps
    )


def _with_effect(step: Step, groups: Collection[str]) -> Step:
    text = f"a pod of {join_limited(groups)} that starts before its group restarts reads the new {step.key}"
    return replace(step, effects=(*step.effects, Effect(text)))


def _changes(step: Step) -> bool:
    before, after = ((each or {}).get("data") for each in (step.live, step.after))
    return step.live is not None and before != after


def early_pods(
    observed: Observed, steps: Collection[Step], waiting: Collection[Step], cluster: Cluster
) -> Iterator[str]:
    """Yield a warning about pods that have started since the ConfigMap changed, but before their group restarts.

    `steps` are those of this reconcile: a ConfigMap that one of them changes was not read by any pod.
    """
    key, groups = _key(cluster), _groups(waiting)
    live = observed.objects.get(key)
    if live is None or any(step.key == key and _changes(step) for step in steps):
        return
    changed = changed_at(live)
    pods = [
        str(pod["metadata"]["name"])
        for group in cluster.groups
        if group.key in groups
        for pod in observed.pods_of(group)
        if changed and started_at(pod, group.unique_name) > changed
    ]
    if pods:
        verb = "has" if len(pods) == 1 else "have"
        yield (
            f"{join_limited(sorted(pods))} {verb} started before the restart of the group, since {key} was changed at "
            f"{changed}, and {verb} read it already"
        )


def _key(cluster: Cluster) -> ObjectKey:
    return ObjectKey("ConfigMap", names.common_config_map_name(cluster.name))


def _groups(waiting: Collection[Step]) -> list[str]:
    """Return the groups whose pods have the hash of an earlier common ConfigMap."""
    groups = (
        step.group for step in waiting if step.restart.pods and not step.restart.eviction and _reads_another(step)
    )
    return [*dict.fromkeys(key for key in groups if key is not None)]


def _reads_another(step: Step) -> bool:
    if step.live is None or step.after is None:
        return False
    before, after = ((configuration_hash_of(each) or "").partition("-")[0] for each in (step.live, step.after))
    return before != after


def changed_at(live: Manifest) -> str:
    """Return when the data of a ConfigMap or Secret were last written; empty if that is not known."""
    fields = live["metadata"].get("managedFields") or ()
    times = (str(field.get("time") or "") for field in fields if not _DATA.isdisjoint(field.get("fieldsV1") or {}))
    return max(times, default="")


def started_at(pod: Manifest, container: str) -> str:
    """Return when the container was started the last time; empty if it is not running."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    running = (((status.get("state") or {}).get("running") or {}) for status in statuses if status["name"] == container)
    return next((str(each.get("startedAt") or "") for each in running), "")
