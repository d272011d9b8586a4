# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups restart when a Secret or ConfigMap changes that their pods refer to, by env, by envFrom or in a volume.

What the pods have read is in two annotations of the same name. That of the workload has a digest of each object since
it was first seen: its write restarts nothing. When an object has another digest, the annotation of the pod template
gets that one, which restarts the pods in the turn of their group, and is what they have read from then on. So a change
that is taken back before restarts nothing, and an object that does not exist, or may not be read, is as it was.

Users who can read pods could guess a password of which they know a digest. So that of a Secret is keyed by its uid,
which only those can read who can read the Secret. The uid of the Druid is in each of its objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.pod_references import ABSENT, UNKNOWN, Use, uses
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.restart_order import (
    changed_at,
    started_at,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# On a Druid, "true" or "false"; with the prefix and the key of a group, or on a Secret or ConfigMap, "false".
SETTING = "druid.apache.org/restart-on-change"
GROUP_PREFIX = "restart-on-change.druid.apache.org/"
# On a workload and on its pod template.
RECORD = "druid.apache.org/referenced-data"

# The API server adds a volume with it to each pod.
_ROOT_CA = "kube-root-ca.crt"
_BOOLEANS = ("true", "false")

Digests = Mapping[ObjectKey, str]


def to_text(digests: Digests) -> str:
    """Return digests as an annotation, without characters that could make it look like an assignment to a secret."""
    return ",".join(sorted(f"{key.kind}/{key.name}/{text}" for key, text in digests.items()))


def from_text(text: str) -> dict[ObjectKey, str]:
    """Return the digests in an annotation, without what is none."""
    entries = (each.split("/") for each in text.split(","))
    return {ObjectKey(entry[0], entry[1]): entry[2] for entry in entries if len(entry) == 3}


class Record(NamedTuple):
    """The annotations of a workload and of its pod template; empty for none."""

    recorded: str = ""
    restarted: str = ""

    @classmethod
    def of(cls, workload: Manifest) -> Record:
        """Return the record of a workload."""
        return cls(_annotation(workload), _annotation((workload.get("spec") or {}).get("template") or {}))

    def with_current(self, current: Digests) -> Record:
        """Return the record of a group whose pods use these objects. What is not known now stays as it was."""
        recorded, restarted = (_comparable(from_text(text), current) for text in (self.recorded, self.restarted))
        known = {key: text for key, text in {**recorded, **restarted}.items() if text != UNKNOWN}
        changed = {key: text for key, text in current.items() if text not in (ABSENT, UNKNOWN, known.get(key, text))}
        first = {**current, **{key: text for key, text in recorded.items() if key in current and text != UNKNOWN}}
        kept = {key: text for key, text in restarted.items() if key in current}
        return Record(to_text(first), to_text({**kept, **changed}) if changed else self.restarted)

    def of_workload(self, manifest: Manifest) -> Manifest:
        """Return the workload with the record."""
        spec = dict(manifest["spec"])
        if "template" in spec:
            spec["template"] = annotated(spec["template"], {RECORD: self.restarted or None})
        return annotated({**manifest, "spec": spec}, {RECORD: self.recorded or None})


def _comparable(digests: Digests, current: Digests) -> Digests:
    """Return the digests without those of other keys: if pods read other ones now, no data have changed."""
    return {key: text for key, text in digests.items() if _has_same_keys(text, current.get(key, text))}


def _has_same_keys(one: str, other: str) -> bool:
    return not {ABSENT, UNKNOWN}.isdisjoint((one, other)) or one.rpartition(".")[0] == other.rpartition(".")[0]


def _annotation(live: Manifest) -> str:
    return str(((live.get("metadata") or {}).get("annotations") or {}).get(RECORD) or "")


class RestartOnChange(Feature):
    """Restarts the groups whose pods refer to what has changed, or warns that they do not restart."""

    def prepared(self, inputs: Inputs) -> Inputs:
        """Return the inputs with the records in the desired objects. A changed one in a pod template restarts a group.

        This is known before workers are drained, for example.
        """
        rendered = inputs.desired
        if rendered.verbatim:
            # What the API server rejects in a pod template stays until that changes: this is decided again.
            rendered = render(inputs.cluster, inputs.observed.preserved(inputs.cluster))
        is_on = _is_on(inputs)
        records = {group.key: _record(group, rendered, inputs, is_on=is_on) for group in inputs.cluster.groups}
        groups = {
            key: tuple(
                records[key].of_workload(manifest) if manifest["kind"] in WORKLOADS else manifest
                for manifest in manifests
            )
            for key, manifests in rendered.groups.items()
        }
        verbatim = {key: records[key].of_workload(manifest) for key, manifest in rendered.verbatim.items()}
        desired = replace(rendered, groups=groups, verbatim=verbatim)
        return replace(inputs, desired=keep_duplicates(desired, inputs.observed) if rendered.verbatim else desired)

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield warnings about settings without effect, objects that cannot be read, and pods that do not restart."""
        yield from _ignored_settings(inputs.cluster)
        groups = [group for group in inputs.cluster.groups if not _is_excluded(group)]
        used = {group.key: _used(group, inputs.desired) for group in groups}
        if _is_on(inputs):
            objects = {key: _read(key, inputs) for each in used.values() for key in each}
            errors = ((key, live) for key, live in objects.items() if isinstance(live, ApiError))
            yield from (
                f"no pods restart when {key} changes, because it cannot be read: {text}" for key, text in errors
            )
        elif SETTING not in inputs.cluster.annotations and any(used.values()):
            yield _not_restarting(inputs, used)

    def restart_causes(self, before: Manifest, after: Manifest) -> Iterator[str]:
        """Yield which objects have changed according to the pod templates of two versions of a workload."""
        old, new = (from_text(Record.of(each).restarted) for each in (before, after))
        yield from (f"{key} changed" for key in sorted(new) if new[key] != old.get(key))

    def without_records(self, workload: Manifest) -> Manifest:
        """Return the workload without the record in its pod template."""
        spec, template = workload.get("spec") or {}, (workload.get("spec") or {}).get("template") or {}
        metadata = template.get("metadata") or {}
        others = {name: text for name, text in (metadata.get("annotations") or {}).items() if name != RECORD}
        template = {**template, "metadata": {**metadata, "annotations": others or None}}
        return {**workload, "spec": {**spec, "template": template}}


def _is_on(inputs: Inputs) -> bool:
    """True for a cluster with records, and for one that has no pods yet that refer to anything."""
    setting = inputs.cluster.annotations.get(SETTING)
    if setting in _BOOLEANS:
        return setting == "true"
    workloads = [*inputs.observed.of_kind(*WORKLOADS)]
    if any(Record.of(workload).recorded for workload in workloads):
        return True
    orphans = (pod for group in inputs.cluster.groups for pod in inputs.observed.orphans_of(group.unique_name))
    pods = (*(workload["spec"]["template"]["spec"] for workload in workloads), *(pod["spec"] for pod in orphans))
    return not any(uses(pod, {*_our_config_maps(inputs.cluster), _ROOT_CA}) for pod in pods)


def _is_excluded(group: Group) -> bool:
    return group.cluster.annotations.get(f"{GROUP_PREFIX}{group.key}") == "false"


def _record(group: Group, desired: Desired, inputs: Inputs, *, is_on: bool) -> Record:
    """Return the record of a group; that of an excluded one, or of a cluster without records, stays as it is."""
    kinds = dict.fromkeys((group.kind, *WORKLOADS))
    workloads = (inputs.observed.objects.get(ObjectKey(kind, group.unique_name)) for kind in kinds)
    workload = next((live for live in workloads if live is not None), None)
    orphan: Manifest = next(inputs.observed.pods_of(group), {})
    record = Record(restarted=_annotation(orphan)) if workload is None else Record.of(workload)
    if _is_excluded(group) or not is_on:
        return record
    return record.with_current({key: _digest(key, use, inputs) for key, use in _used(group, desired).items()})


def _used(group: Group, desired: Desired) -> dict[ObjectKey, Use]:
    """Return what the desired pods of a group read."""
    manifests = (*desired.groups[group.key], *filter(None, [desired.verbatim.get(group.key)]))
    workload = next(
        manifest for manifest in manifests if manifest["kind"] in WORKLOADS and "template" in manifest["spec"]
    )
    return uses(workload["spec"]["template"]["spec"], _our_config_maps(group.cluster))


def _our_config_maps(cluster: Cluster) -> set[str]:
    """Return the names of the ConfigMaps whose hash is in the pod templates."""
    of_groups = (names.node_config_map_name(group.unique_name) for group in cluster.groups)
    return {names.common_config_map_name(cluster.name), *of_groups}


def _digest(key: ObjectKey, use: Use, inputs: Inputs) -> str:
    live = _read(key, inputs)
    is_excluded = isinstance(live, dict) and (live["metadata"].get("annotations") or {}).get(SETTING) == "false"
    return UNKNOWN if is_excluded or isinstance(live, ApiError) else use.digest_of(key.kind, live)


def _read(key: ObjectKey, inputs: Inputs) -> Manifest | ApiError | None:
    """Return the object, None if it does not exist, or that it may not be read; ApiError if it could not be read."""
    try:
        return inputs.reads.get(*key)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        return error


def _ignored_settings(cluster: Cluster) -> Iterator[str]:
    for name, value in sorted(cluster.annotations.items()):
        if (name == SETTING or name.startswith(GROUP_PREFIX)) and value not in _BOOLEANS:
            yield f'annotation {name} must be "true" or "false", and is ignored'


def _not_restarting(inputs: Inputs, used: Mapping[str, Collection[ObjectKey]]) -> str:
    """Return the warning about a cluster that existed before there were records."""
    cluster, objects = inputs.cluster, sorted({key for each in used.values() for key in each})
    groups = join_limited(key for key, each in used.items() if each)
    text = (
        f"the pods of {groups} refer to {join_limited(map(str, objects))}, and do not restart when their data change. "
        f"To restart them then, one group after the other, {_set(cluster, SETTING, 'true')}; with false, this warning "
        "ends"
    )
    outdated = {key: since for key in objects if (since := _changed_since(key, used, inputs))}
    if not outdated:
        return text
    changed = join_limited(f"{key} ({since})" for key, since in outdated.items())
    return (
        f"{text}. Pods that had started before may still have the earlier data of {changed}. To restart all now, "
        f"{_set(cluster, names.RESTARTED_AT_ANNOTATION, '$(date --utc +%FT%TZ)')}"
    )


def _set(cluster: Cluster, annotation: str, value: str) -> str:
    if cluster.uid is None:
        return f"set the annotation {annotation} of the resource to {value}"
    where = f"druid {cluster.name} --namespace {cluster.namespace}"
    return f'run kubectl annotate --overwrite {where} "{annotation}={value}"'


def _changed_since(key: ObjectKey, used: Mapping[str, Collection[ObjectKey]], inputs: Inputs) -> str:
    """Return when an object was last written, if pods that use it had started before; empty if that is not known."""
    live = _read(key, inputs)
    changed = changed_at(live) if isinstance(live, dict) else ""
    groups = (group for group in inputs.cluster.groups if key in used.get(group.key, ()))
    started = (started_at(pod, group.unique_name) for group in groups for pod in inputs.observed.pods_of(group))
    return changed if any(since and since < changed for since in started) else ""
