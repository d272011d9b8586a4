# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods restart: the changed files of their ConfigMaps, and the changed fields of their template.

Druid reads its configuration only when it starts, so each changed file restarts the pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import changed_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import configuration_hash_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import template_names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_HASH = f"[{names.CONFIGURATION_HASH_VARIABLE}].value"
_TEMPLATE = "spec.template."
_STRATEGY = "spec.updateStrategy."
# The first Service of the group.
_SUBDOMAIN = "spec.serviceName"


def restart_causes(steps: Iterable[Step]) -> Mapping[ObjectKey, tuple[str, ...]]:
    """Return the causes for each workload whose pods restart."""
    written = tuple(steps)
    evicted = {step.key: (found.cause,) for step in written if (found := step.restart.eviction) is not None}
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
