# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common ConfigMap is written before the groups restart: a pod that starts before its turn reads it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import configuration_hash_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Effect, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

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
    found = [
        str(pod["metadata"]["name"])
        for group in cluster.groups
        if group.key in groups
        for pod in observed.pods_of(group)
        if changed and started_at(pod, group.unique_name) > changed
    ]
    if found:
        verb = "has" if len(found) == 1 else "have"
        yield (
            f"{join_limited(sorted(found))} {verb} started before the restart of the group, since {key} was changed at "
            f"{changed}, and {verb} read it already"
        )


def _key(cluster: Cluster) -> ObjectKey:
    return ObjectKey("ConfigMap", names.common_config_map_name(cluster.name))


def _groups(waiting: Collection[Step]) -> list[str]:
    """Return the groups whose pods have the hash of an earlier common ConfigMap."""
    found = (step.group for step in waiting if step.restart.pods and not step.restart.eviction and _reads_another(step))
    return [*dict.fromkeys(key for key in found if key is not None)]


def _reads_another(step: Step) -> bool:
    if step.live is None or step.after is None:
        return False
    before, after = ((configuration_hash_of(each) or "").partition("-")[0] for each in (step.live, step.after))
    return before != after


def changed_at(live: Manifest) -> str:
    """Return when the data of a ConfigMap or Secret were last written; empty if that is not known."""
    fields = live["metadata"].get("managedFields") or ()
    found = (str(each.get("time") or "") for each in fields if not _DATA.isdisjoint(each.get("fieldsV1") or {}))
    return max(found, default="")


def started_at(pod: Manifest, container: str) -> str:
    """Return when the container was started the last time; empty if it is not running."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    running = (((each.get("state") or {}).get("running") or {}) for each in statuses if each["name"] == container)
    return next((str(each.get("startedAt") or "") for each in running), "")
