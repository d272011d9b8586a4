# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dry runs: the API server itself returns the object that a step would write, or rejects it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import rejection
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.quota_errors import leaves_room
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.write import (
    at_latest_version,
    explain,
    send,
    with_precondition,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

# A name for dry runs; with it a StatefulSet's pods still have room for their ordinals.
_PROBE = "dry-run"
_LONGEST_STEM = 44
_VOLUME_MOUNT = re.compile(r"\.volumeMounts\[\d+\]\.name$")
# kube-apiserver, for the data of a ConfigMap.
_IMMUTABLE = "field is immutable when `immutable` is set"
# Not a verdict on the object: the server is busy or broken, or the object was modified concurrently.
_NO_VERDICT = frozenset({401, 404, 408, 429})


def dry_run(api: KubernetesApi, steps: Iterable[Step], deletes: bool = True) -> dict[ObjectKey, Verdict]:
    """Return the verdict on each step; only one for all of them if the namespace is missing.

    `deletes`: the deletions, also those of recreations, are validated too.
    """
    verdicts = {}
    for step in steps:
        try:
            if deletes and step.operation in ("delete", "recreate"):
                _dry_run_deletion(api, step)
            if step.operation == "delete":
                verdicts[step.key] = Verdict(step)
            else:
                verdicts[step.key] = Verdict(*at_latest_version(api, step, lambda latest: _dry_run(api, latest)))
        except ApiError as error:
            if error.is_missing_namespace:
                return {step.key: Verdict(step, rejection=_finding(replace(step, group=None), error))}
            verdicts[step.key] = Verdict(step, rejection=_finding(step, error))
    return verdicts


def dry_run_patches(api: KubernetesApi, steps: Iterable[Step]) -> tuple[dict[ObjectKey, Finding], frozenset[ObjectKey]]:
    """Return the rejections of the JSON patches of steps, and the objects that their patches would not change."""
    rejected, ignored = {}, set()
    for step in steps:
        (kind, name), namespace = step.key, step.manifest["metadata"]["namespace"]
        try:
            after = api.json_patch(kind, namespace, name, step.patch or [], dry_run=True)
        except ApiError as error:
            rejected[step.key] = _finding(step, error)
        else:
            if step.live is not None and not _has_effect(step, step.live, after):
                ignored.add(step.key)
    return rejected, frozenset(ignored)


def _has_effect(step: Step, live: Manifest, after: Manifest) -> bool:
    """True if a field that the patch sets or removes has another value than before: a webhook may change others."""
    paths = (each["path"] for each in step.patch or () if each["op"] != "test" and each.get("value") != {})
    return any(_value_at(live, path) != _value_at(after, path) for path in paths)


def _value_at(document: Manifest, pointer: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901) into mappings, None if there is none."""
    value: Any = document
    for part in pointer.split("/")[1:]:
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
    return value


def _dry_run_deletion(api: KubernetesApi, step: Step) -> None:
    """Validate the deletion of the live object, as it will be requested."""
    live = step.live or step.manifest
    (kind, name), metadata = step.key, live["metadata"]
    propagation = "Orphan" if step.operation == "recreate" and kind in WORKLOADS else "Background"
    if not is_terminating(live):
        api.delete(kind, metadata["namespace"], name, metadata["uid"], propagation, dry_run=True)


def _dry_run_recreation(api: KubernetesApi, step: Step) -> Manifest:
    """Validate the object under its own name, and get the result under an unused name.

    Its own name exists until the old object is deleted; the server checks that last, after the validation.
    """
    manifest = with_precondition(step)
    name = manifest["metadata"]["name"]
    elsewhere = {**manifest["metadata"], "name": f"{name[:_LONGEST_STEM]}-{_PROBE}"}
    try:
        _dry_run_creation(api, step)
        after = send(api, step, {**manifest, "metadata": elsewhere}, dry_run=True)
    except ApiError as error:
        if not leaves_room(error, step.key.kind):
            raise
        return merge(step.live or {}, step.initial or step.manifest)
    return {**after, "metadata": {**after["metadata"], "name": name}}


def _dry_run_creation(api: KubernetesApi, step: Step) -> None:
    try:
        api.create(step.initial or step.manifest, dry_run=True)
    except ApiError as error:
        if error.status != CONFLICT:
            raise


def _dry_run(api: KubernetesApi, step: Step) -> Manifest:
    if step.operation == "recreate":
        return _dry_run_recreation(api, step)
    if step.managed_fields is None or step.after is None:
        return send(api, step, with_precondition(step), dry_run=True)
    # An apply would be evaluated with the current field ownership: so validate the result itself.
    return api.replace(step.after, dry_run=True)


def _finding(step: Step, error: ApiError) -> Finding:
    no_verdict = error.status >= 500 or error.status in _NO_VERDICT or error.is_conflict
    reason = reasons.APPLY_FAILED if no_verdict else reasons.REJECTED_BY_API_SERVER
    message = explain(step, error)
    sentences = (message if message.endswith(".") else f"{message}.", *_remedies(step, error))
    return rejection(step, reason, " ".join(sentences))


def _remedies(step: Step, error: ApiError) -> Iterator[str]:
    """Yield remedies where the server names a field by its path in the pod, or none that helps."""
    if any(_IMMUTABLE in text for _path, text in error.causes):
        where = f"{step.key.kind.lower()} {step.key.name} --namespace {step.manifest['metadata']['namespace']}"
        yield f"Its field immutable is true: delete it (kubectl delete {where}), so that it is created again."
    if any(_VOLUME_MOUNT.search(path) and text.startswith("Not found") for path, text in error.causes):
        yield "Add a volume of that name to the volumes of spec or of the group, or remove the volume mount."
