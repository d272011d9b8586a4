# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out a plan step by step: a failed step stops the ones after it. Then read back what Druid normalized."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.orphaned_tasks import (
    shut_down_orphaned_tasks,
    status_payload,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import (
    reset_before_resuming,
    terminate,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start import wait_until_started
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import shut_down, submit
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, NotConnected
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.normalization import Normalized, with_normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.objects import write_change
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.abandoned import is_unanswered, with_abandoned
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import DruidState, SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    IN_RECORD,
    LastApplied,
    read_normalized,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.noted import (
    Note,
    digest_of,
    note_of,
    text_of,
    version_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import (
    fetch_datasource,
    fetch_state,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import recorded
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.finalizer import finalizer_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer


def act(api: KubernetesApi, client: DruidClient | None, planned: Reconciled) -> Reconciled:
    """Carry out the steps in order; return the reconcile with the completed ones, and a finding about a failed one.

    `client` can be None if no step is a change in Druid.
    """
    done = replace(planned, plan=replace(planned.plan, steps=()))
    for step in planned.plan.steps:
        try:
            done = _carry_out(api, client, done, step)
        except KubernetesError as error:
            return _failed(done, step, Finding(reasons.APPLY_FAILED, str(error)))
        except NotConnected as error:
            # transient: it ends when the stream is available again
            return _failed(done, step, Finding(reasons.SUPERVISOR_UNHEALTHY, str(error)))
        except DruidError as error:
            failed = _failed(done, step, error_findings.error_finding(error))
            return replace(failed, is_unanswered=is_unanswered(error))
    return done


def _failed(done: Reconciled, step: Step, finding: Finding) -> Reconciled:
    return replace(done, plan=replace(done.plan, findings=(*done.plan.findings, finding)), failed_step=step)


def _carry_out(api: KubernetesApi, client: DruidClient | None, done: Reconciled, step: Step) -> Reconciled:
    """Return the reconcile with the step, its warnings, and the resource after it."""
    effect = _Effect()
    if type(step) in _IN_KUBERNETES:
        done = _IN_KUBERNETES[type(step)](api, done, step)
    elif client is not None:
        effect = _IN_DRUID[type(step)](client, step)
    steps, warnings = (*done.plan.steps, step, *effect.steps), (*done.plan.warnings, *effect.warnings)
    plan = replace(done.plan, steps=steps, warnings=warnings)
    return replace(done, plan=plan, unknown_fields=(*done.unknown_fields, *effect.unknown))


@dataclass(frozen=True)
class _Effect:
    """Warnings of a step in Druid, further steps that it has required, and warnings about fields that Druid drops."""

    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    unknown: tuple[str, ...] = ()


def _write(client: DruidClient, step: DruidChange) -> _Effect:
    written = write_change(client, step)
    return _Effect(written.warnings, unknown=written.unknown)


def _reset(client: DruidClient, step: Reset) -> _Effect:
    reset_before_resuming(client, step.id)
    return _Effect()


def _submit(client: DruidClient, step: Submit) -> _Effect:
    submit(client, step.job, step.attempt)
    return _Effect()


def _terminate(client: DruidClient, step: Terminate) -> _Effect:
    """Terminate or shut down; a missing supervisor or task is not an error."""
    if step.kind == "supervisor":
        return _terminate_supervisor(client, step.id)
    with suppress(NotFound):
        shut_down(client, step.id)
    return _Effect()


def _terminate_supervisor(client: DruidClient, supervisor: str) -> _Effect:
    """Terminate it, and shut down the tasks that this would orphan. NotConnected while it is being stopped."""
    wait_until_started(client, supervisor)
    payload = status_payload(client, supervisor)
    if (payload or {}).get("detailedState") == "STOPPING":
        # another request would only wait for the one that stops it
        raise NotConnected(f"Supervisor {supervisor!r} is being stopped. This is checked again.")
    terminate(client, supervisor)
    orphaned, warnings = shut_down_orphaned_tasks(client, supervisor, payload)
    return _Effect(warnings, tuple(Terminate("task", each) for each in orphaned))


def _save_last_applied(api: KubernetesApi, done: Reconciled, step: SaveLastApplied) -> Reconciled:
    ingestion = done.ingestion
    if step.record is not None:
        config_map = to_config_map(step.record, ingestion, step.normalized)
        noted = replace(done, resource=_with_note(api, done, step.record, config_map))
        return replace(noted, written=api.apply(config_map))
    found = api.get("ConfigMap", ingestion.namespace, names.record_name(ingestion.name))
    if found is not None:
        api.delete("ConfigMap", ingestion.namespace, found["metadata"]["name"], found["metadata"]["uid"])
    return done


def _with_note(api: KubernetesApi, done: Reconciled, record: LastApplied, config_map: Manifest) -> Manifest:
    """Return the resource with a note of the record that is written next (``noted``).

    Unlike the status it is written before Druid has the ids, and whichever generation the resource has since.
    """
    metadata = done.resource["metadata"]
    if "uid" not in metadata:
        return done.resource
    before = note_of(metadata)
    # after a loss, the annotation keeps a version that no ConfigMap has any more
    replaces = version_of(done.written or done.observed.record) or before.replaces
    note = Note(_ids_to_note(done, record, before.ids), digest_of(config_map), replaces, record.revision)
    operations = _annotation_patch(metadata, text_of(note, metadata["uid"]))
    written = api.json_patch(names.KIND, metadata["namespace"], metadata["name"], operations)
    return {**done.resource, "metadata": {**metadata, "annotations": written["metadata"]["annotations"]}}


def _ids_to_note(done: Reconciled, record: LastApplied, noted: frozenset[str]) -> frozenset[str]:
    """Return the ids of the record, and the noted ones of supervisors that were not terminated, whatever records them.

    Of a batch, whose attempts would add up, only those of the present record are kept; of another Druid, none.
    """
    ids = frozenset((*record.supervisors, *record.tasks))
    last = recorded(done.observed.record, done.ingestion).record
    if last.druid and record.druid != last.druid:
        return ids
    if record.task is not None or last.task is not None:
        return ids | (noted if ids <= noted else noted & {*last.supervisors, *last.tasks})
    return ids | (noted - {step.id for step in done.plan.steps if isinstance(step, Terminate)})


def _annotation_patch(metadata: Mapping[str, Any], value: str) -> list[dict[str, Any]]:
    """Return the JSON patch, which requires that no other run has written the annotation since.

    One that creates the annotations requires that there are none since.
    """
    annotations, path = metadata.get("annotations") or {}, "/metadata/annotations"
    key = f"{path}/{names.NOTE_ANNOTATION.replace('/', '~1')}"
    last = annotations.get(names.NOTE_ANNOTATION)
    unchanged = "uid" if annotations else "resourceVersion"
    return [
        {"op": "test", "path": f"/metadata/{unchanged}", "value": metadata.get(unchanged)},
        *([{"op": "test", "path": key, "value": last}] if last is not None else []),
        *([] if annotations else [{"op": "add", "path": path, "value": {}}]),
        {"op": "add", "path": key, "value": value},
    ]


def _set_finalizer(api: KubernetesApi, done: Reconciled, step: Finalizer) -> Reconciled:
    """Set or remove the finalizer of the resource; without it, the resource may be deleted already."""
    metadata = done.resource["metadata"]
    operations = finalizer_patch(done.resource, names.FINALIZER, is_desired=step.is_set)
    try:
        return replace(done, resource=api.json_patch(names.KIND, metadata["namespace"], metadata["name"], operations))
    except ApiError as error:
        if error.is_missing_object and not step.is_set:
            return done
        raise


# How each kind of step is carried out. A step in Druid returns its effect, a step in Kubernetes the reconcile after it.
_IN_DRUID: Mapping[type[Step], Callable[[DruidClient, Any], _Effect]] = {
    DruidChange: _write,
    Reset: _reset,
    Submit: _submit,
    Terminate: _terminate,
}
_IN_KUBERNETES: Mapping[type[Step], Callable[[KubernetesApi, Reconciled, Any], Reconciled]] = {
    SaveLastApplied: _save_last_applied,
    Finalizer: _set_finalizer,
}


def read_back(api: KubernetesApi, client: DruidClient, done: Reconciled, record: LastApplied) -> Reconciled:
    """Return the reconcile with Druid's current state; `record` is the last applied record before it."""
    record = next((saved for saved in reversed(done.plan.saved) if saved is not None), record)
    applied = tuple(step for step in done.plan.steps if isinstance(step, DruidChange))
    try:
        druid_state = fetch_state(client, done.ingestion, record, {})
        current = _current(client, done, record, druid_state) if applied else ()
    except DruidError:
        # the next reconcile detects it, and applies the spec once more
        return done
    done = replace(done, druid_state=druid_state)
    found = with_normalized({}, applied, current, IN_RECORD)
    if not found:
        return done
    known = read_normalized(done.observed.record, done.ingestion)
    return _save(api, done, record, with_normalized(known, applied, current, IN_RECORD))


def _current(
    client: DruidClient, done: Reconciled, record: LastApplied, druid_state: DruidState
) -> tuple[DruidChange, ...]:
    supervisor = (druid_state.change,) if isinstance(druid_state, SupervisorState) else ()
    return (*supervisor, *fetch_datasource(client, done.ingestion, record, {}, done.observed.siblings))


def record_abandoned(api: KubernetesApi, done: Reconciled, record: LastApplied, now: datetime) -> Reconciled:
    """Record the request of the failed step, so that it is not repeated while Druid executes it."""
    record = next((saved for saved in reversed(done.plan.saved) if saved is not None), record)
    if done.failed_step is None:
        return done
    recorded = with_abandoned(record, done.failed_step, now)
    return _save(api, done, recorded, read_normalized(done.observed.record, done.ingestion))


def _save(api: KubernetesApi, done: Reconciled, record: LastApplied, normalized: Normalized) -> Reconciled:
    saving = (SaveLastApplied(record, normalized=normalized),)
    saved = act(api, None, replace(done, plan=replace(done.plan, steps=saving)))
    return replace(saved, plan=replace(saved.plan, steps=(*done.plan.steps, *saved.plan.steps)))
