# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan as text: one diff per object, one line per step, the effects, and the restarts with their causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import changed_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import configuration_hash_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    template_names,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import NO_SECRETS, Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import DESTRUCTIVE, PENDING
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def lines(plan: Plan) -> list[str]:
    """Return the plan as lines: each step, the restarts in order, the effects, the problems."""
    now = (line for step in plan.steps for line in step.lines)
    steps = [*now, *(f"later: {line}" for step in plan.later for line in step.lines)]
    findings = [f"blocked: {finding.message}" for finding in plan.findings if finding.is_problem]
    return [*steps, *_consequences(plan), *_pending(plan), *_awaited(plan), *findings]


def _pending(plan: Plan) -> list[str]:
    """Return what a pause defers, and what would follow from it."""
    held = [line for step in plan.pending for line in step.lines]
    return [f"{PENDING}{line}" for line in (*held, *restart_lines(plan.pending), *effect_lines(plan.pending))]


def _consequences(plan: Plan) -> list[str]:
    warnings = [f"warning: {text}" for text in plan.rollout_warnings]
    steps = (*plan.steps, *plan.later)
    return [*restart_lines(steps), *effect_lines(steps), *warnings]


def _awaited(plan: Plan) -> list[str]:
    return [f"waits for Druid: {plan.waits.not_recovered}"] if plan.waits.not_recovered else []


def effect_lines(steps: Iterable[Step]) -> list[str]:
    """Return a line for each effect of the steps."""
    effects = (effect for step in steps for effect in step.effects)
    return [f"{effect.text}{DESTRUCTIVE if effect.is_destructive else ''}" for effect in effects]


def restart_lines(steps: Iterable[Step]) -> list[str]:
    """Return a numbered line per workload whose pods will be replaced, in the order of the restarts.

    While a task waits, the restart of one workload has several steps: one per pod that was drained or evicted.

    Then a line per workload whose pods are replaced only when they are deleted (OnDelete).
    """
    written = list(steps)
    by_themselves: dict[ObjectKey, list[Step]] = {}
    for step in written:
        if step.restart.pods:
            by_themselves.setdefault(_workload(step), []).append(step)
    by_hand = [
        step for step in written if step.restart.is_requested and waits_for_deletion(step.after) and _replicas(step)
    ]
    causes = restart_causes(written)
    return [
        *(
            f"restart {number}: {_restart(parts[0], _restarted(parts))}{_because(causes.get(parts[0].key))}"
            for number, parts in enumerate(by_themselves.values(), 1)
        ),
        *(f"no restart until the pods are deleted (OnDelete): {_restart(step, _replicas(step))}" for step in by_hand),
    ]


def _restart(step: Step, pods: int) -> str:
    return f"group {step.group} ({_workload(step)}), {pods} pod{'' if pods == 1 else 's'}"


def _restarted(steps: Iterable[Step]) -> int:
    """Return the number of pods of one workload: of an eviction, the step has the number of all that are left."""
    parts = list(steps)
    left = max((step.restart.pods for step in parts if step.restart.eviction), default=0)
    return max(left, sum(step.restart.pods for step in parts if not step.restart.eviction))


def _workload(step: Step) -> ObjectKey:
    return step.restart.eviction.workload if step.restart.eviction else step.key


def _because(causes: Sequence[str] | None) -> str:
    return f": {join_limited(causes)}" if causes else ""


def _replicas(step: Step) -> int:
    return int(min((live or {})["spec"].get("replicas", 1) for live in (step.live, step.after)))


def diff(plan: Plan, masking: Masking = NO_SECRETS) -> list[dict[str, Any]]:
    """Return the diff for Ansible's callbacks: per object, then restarts and effects."""
    consequences = [*_consequences(plan), *_awaited(plan)]
    prepared = [{"prepared": "\n".join(consequences) + "\n"}] if consequences else []
    now = (difference.shown(masking) for step in (*plan.steps, *plan.pending) for difference in step.differences)
    later = (
        replace(difference, is_later=True).shown(masking) for step in plan.later for difference in step.differences
    )
    return [*now, *later, *prepared]


_HASH = f"[{names.CONFIGURATION_HASH_VARIABLE}].value"
_TEMPLATE = "spec.template."
_STRATEGY = "spec.updateStrategy."
# The first Service of the group.
_SUBDOMAIN = "spec.serviceName"


def restart_causes(steps: Iterable[Step]) -> Mapping[ObjectKey, tuple[str, ...]]:
    """Return the causes for each workload whose pods restart."""
    written = tuple(steps)
    evicted = {step.key: (eviction.cause,) for step in written if (eviction := step.restart.eviction) is not None}
    return evicted | {step.key: tuple(_causes(step, written)) for step in written if _replaces(step)}


def causes_by_group(steps: Iterable[Step]) -> Mapping[str, str]:
    """Return why the pods of each group restart, in one line."""
    written = tuple(steps)
    causes = restart_causes(written)
    return {step.group or "": join_limited(causes.get(step.key, ())) for step in written if step.restart.pods}


def _replaces(step: Step) -> bool:
    return step.restart.is_requested or step.restart.former is not None


def _causes(step: Step, written: Sequence[Step]) -> Iterator[str]:
    live, after = step.live or step.restart.former or {}, step.after or step.manifest
    yield from _changed_files(step, [configuration_hash_of(each) or "" for each in (live, after)], written)
    for feature in FEATURES:
        yield from feature.restart_causes(live, after)
    for path, change in changed_fields(_without_records(live), _without_records(after)):
        is_cause = path == _SUBDOMAIN or (path.startswith(_TEMPLATE) and not path.endswith(_HASH))
        if is_cause or (step.restart.released and path.startswith(_STRATEGY)):
            yield f"{_short(path, step.key.name)}: {change}"
    before = template_names(live)
    added = [name for name in template_names(after) if name not in before]
    if added:
        yield f"volumeClaimTemplates: {', '.join(added)}"


def _without_records(workload: Manifest) -> Manifest:
    for feature in FEATURES:
        workload = feature.without_records(workload)
    return workload


def _short(path: str, main_container: str) -> str:
    """Return a path in the pod template; in the main container, the field alone."""
    if path == _SUBDOMAIN:
        return "subdomain"
    return path.removeprefix("spec.").removeprefix("template.").removeprefix(f"spec.containers[{main_container}].")


def _changed_files(step: Step, hashes: Sequence[str], written: Sequence[Step]) -> Iterator[str]:
    """Yield the changed files of the ConfigMaps whose part of the hash differs.

    A ConfigMap that has already been written is named without its files.
    """
    unique_name = step.key.name
    labels = step.manifest["metadata"].get("labels") or {}
    config_maps = (
        names.common_config_map_name(labels.get(names.CLUSTER_LABEL, "")),
        names.node_config_map_name(unique_name),
    )
    for name, old, new in zip(config_maps, *(text.split("-", 1) for text in hashes), strict=False):
        if old != new:
            files = next((_files(each) for each in written if each.key == ("ConfigMap", name)), ())
            listed = ", ".join(files)
            yield f"ConfigMap {name}{f' ({listed})' if files else ''}"


def _files(step: Step) -> tuple[str, ...]:
    before, after = ((live or {}).get("data") or {} for live in (step.live, step.after or step.manifest))
    return tuple(name for name in sorted({**before, **after}) if before.get(name) != after.get(name))
