# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The judge of a step is the API server itself: a dry run says what would be there, or why it is refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import quota_sum
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import (
    drop_blocked,
    unchanged_message,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.quota import leaves_room
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare, same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    INITIAL_MANAGER,
    VERBATIM_MANAGER,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import FIELD_MANAGER, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

# How often an object may change its status while it is judged.
_ATTEMPTS = 4
# The version of no object at all: an apply that states it makes an object, and is refused where there is one.
_MUST_NOT_EXIST = "1"
# A name for dry runs; with it a StatefulSet's pods still have room for their ordinals.
_PROBE = "dry-run"
_LONGEST_STEM = 44
_VOLUME_MOUNT = re.compile(r"\.volumeMounts\[\d+\]\.name$")
# The server has not judged: it is busy or broken, or somebody else was faster.
_NO_VERDICT = frozenset({401, 404, 408, 429})


def dry_run(api: KubernetesApi, steps: Iterable[Step]) -> tuple[tuple[Step, ...], tuple[Finding, ...]]:
    """Return the steps that would write something, each with its result, and a finding for each that is refused.

    Without the namespace all would be refused for one reason, which is found once.
    """
    confirmed, findings = [], []
    for candidate in steps:
        try:
            step, after = _dry_run_latest(api, candidate)
        except ApiError as error:
            if error.is_missing_namespace:
                return (), (_finding(replace(candidate, group=None), error),)
            findings.append(_finding(candidate, error))
            continue
        if step.operation != "update" or step.managed_fields is not None or _differs(step, after):
            confirmed.append(replace(step, after=after))
    return tuple(confirmed), (*findings, *_without_room(api, drop_blocked(confirmed, findings)))


def _without_room(api: KubernetesApi, steps: Collection[Step]) -> tuple[Finding, ...]:
    """Return a finding for each group whose objects fit into the quotas one by one, but not together."""
    if not quota_sum.have_sums(steps):
        return ()
    namespace = next(iter(steps)).manifest["metadata"]["namespace"]
    try:
        return quota_sum.beyond(steps, api.list_objects("ResourceQuota", namespace))
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        api.warnings.append(f"Whether quotas have room for a group as a whole cannot be foretold: {error}")
        return ()


def _dry_run_latest(api: KubernetesApi, step: Step) -> tuple[Step, Manifest]:
    """Return the step, brought to the version that is there now, and its result."""
    for _attempt in range(_ATTEMPTS):
        try:
            return step, _dry_run(api, step)
        except ApiError as error:
            later = _for_later_version(api, step) if error.status == CONFLICT else None
            if later is None:
                raise
            step = later
    return step, _dry_run(api, step)


def _for_later_version(api: KubernetesApi, step: Step) -> Step | None:
    """Return the step for the version that is there now, if controllers alone have written it: they always do."""
    live = api.get(step.key.kind, step.live["metadata"]["namespace"], step.key.name) if step.live is not None else None
    if live is None or step.live is None or not same_object(step.live, live):
        return None
    comparison = compare(live, step.manifest)
    return replace(step, live=live, after=comparison.predicted, managed_fields=comparison.managed_fields)


def _differs(step: Step, after: Manifest) -> bool:
    return step.live is None or not same_object(step.live, after)


def _dry_run_recreation(api: KubernetesApi, step: Step) -> Manifest:
    """Let the object be judged under its own name, and see under one that is free what would be there.

    Its own name is taken until the old one is gone; the server finds that out last, after all that it has to object.
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
    # An apply would be judged with the ownership of today: let the result itself be judged.
    return api.replace(step.after, dry_run=True)


def send(api: KubernetesApi, step: Step, manifest: Manifest, dry_run: bool = False) -> Manifest:
    """Return the object after the manifest has been sent in the way that the step needs."""
    if step.has_duplicate_keys:
        return api.create(manifest, dry_run, VERBATIM_MANAGER)
    return api.apply(manifest, dry_run, FIELD_MANAGER if step.initial is None else INITIAL_MANAGER)


def with_precondition(step: Step) -> Manifest:
    """Return the manifest bound to the very object that the step was decided on, or to there being none."""
    if step.initial is not None and step.has_duplicate_keys:
        return step.initial
    if step.live is None or step.operation == "recreate":
        return _with_metadata(step.initial or step.manifest, resourceVersion=_MUST_NOT_EXIST)
    return _with_metadata(step.manifest, uid=step.live["metadata"]["uid"])


def _with_metadata(manifest: Manifest, **more: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **more}}


def explain(step: Step, error: ApiError) -> str:
    """Say why nothing was written, and so when somebody else was faster."""
    if not error.is_conflict:
        return str(error)
    return (
        f"{step.key} was changed by somebody else meanwhile, so nothing was written to it. Run again. ({error.message})"
    )


def _finding(step: Step, error: ApiError) -> Finding:
    no_verdict = error.status >= 500 or error.status in _NO_VERDICT or error.is_conflict
    reason = reasons.APPLY_FAILED if no_verdict else reasons.REJECTED_BY_API_SERVER
    message = explain(step, error)
    sentences = (message if message.endswith(".") else f"{message}.", *_remedies(error), unchanged_message(step.group))
    return Finding(reason, " ".join(sentences), step.group)


def _remedies(error: ApiError) -> Iterator[str]:
    """Yield what to do about a field that the server names as it is in a pod, not as it is in the resource."""
    if any(_VOLUME_MOUNT.search(path) and words.startswith("Not found") for path, words in error.causes):
        yield "Add a volume of that name to the volumes of spec or of the group, or remove the volume mount."
