# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of an ingestion: each is data, and carries itself out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, NotConnected
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import note_patch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, to_config_map
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import recorded
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    Note,
    digest_of,
    note_of,
    text_of,
    version_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import KIND, record_name
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import IngestionResult
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan as kernel
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

if TYPE_CHECKING:
    # Steps are part of decisions, which are pure: only their execution loads what sends requests.
    from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi

_CHANGE_REASONS: Mapping[str, str] = {
    SUPERVISOR: reasons.SUPERVISOR_UPDATED,
    COMPACTION: reasons.DATASOURCE_CONFIG_UPDATED,
    RETENTION_RULES: reasons.DATASOURCE_CONFIG_UPDATED,
}


class Step(kernel.Step):
    """A step of an ingestion."""

    # The change of an object in Druid that it writes.
    change: DruidChange | None = None

    @property
    def saved(self) -> tuple[LastApplied | None, ...]:
        """The record that it saves, if it saves one. None: it removes the record."""
        return ()

    @property
    def creates(self) -> bool:
        """Whether it creates something in Druid."""
        return False


class Finalizer(kernel.Finalizer, Step):
    """Set or remove the finalizer of an ingestion."""


def act(context: kernel.Context, planned: IngestionResult) -> IngestionResult:
    """Carry out the steps in order; return the reconcile with the completed ones, and a finding about a failed one."""
    results = kernel.execute(planned.plan.steps, replace(context, state=planned))
    failed = next((each.step for each in results if each.error and each.was_tried), planned.failed_step)
    return replace(planned.after(results), failed_step=failed)


class Request(request.Request, Step):
    """A request to Druid."""

    def failed(self, error: DruidError, context: Any) -> kernel.StepResult[Step]:
        if isinstance(error, NotConnected):
            # transient: it ends when the stream is available again
            return kernel.StepResult(self, error=str(error), reason=reasons.SUPERVISOR_UNHEALTHY)
        state = replace(context.state, is_unanswered=is_unanswered(error))
        return replace(super().failed(error, context), state=state)


def is_unanswered(error: DruidError) -> bool:
    """True if the request was sent, and its response was not awaited any longer."""
    cause = error.__cause__ if isinstance(error.__cause__, Unreachable) else error
    return isinstance(cause, Unreachable) and cause.sent and cause.is_timeout and cause.method != "GET"


@dataclass(frozen=True)
class Write(request.Write, Request):
    """Create, update or remove an object in Druid."""

    @property
    def operation(self) -> kernel.Operation:
        return kernel.Operation(reason=_CHANGE_REASONS[self.change.kind], counted="applied")

    @property
    def creates(self) -> bool:
        return self.change.before is None

    def send(self, client: DruidClient, context: Any) -> kernel.StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import write_change

        written, before = write_change(client, self.change), context.state
        state = replace(before, unknown_fields=(*before.unknown_fields, *written.unknown))
        return kernel.StepResult(self, state=state, warnings=written.warnings)


@dataclass(frozen=True)
class Reset(Request):
    """Reset the offsets of a supervisor."""

    id: str

    operation = kernel.Operation(reason=reasons.OFFSETS_RESET)
    # Records are skipped, or read again.
    is_destructive = True

    @property
    def title(self) -> str:
        return f"reset the offsets of supervisor {self.id}"

    def send(self, client: DruidClient, _context: Any) -> kernel.StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import reset_before_resuming

        reset_before_resuming(client, self.id)
        return kernel.StepResult(self)


@dataclass(frozen=True)
class Submit(Request):
    """Submit an attempt of a batch."""

    job: Job
    attempt: int

    operation = kernel.Operation(reason=reasons.TASK_SUBMITTED, counted="applied")
    creates = True

    @property
    def title(self) -> str:
        return f"submit task {self.job.task_id(self.attempt)}"

    @property
    def differences(self) -> tuple[kernel.Difference, ...]:
        return (kernel.Difference(self.title, None, spec_masking.marked(self.job.submission(self.attempt))),)

    def send(self, client: DruidClient, _context: Any) -> kernel.StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.module_utils._resources.task import submit

        submit(client, self.job, self.attempt)
        return kernel.StepResult(self)


@dataclass(frozen=True)
class Terminate(Request):
    """Terminate a supervisor, or shut down a task; a missing one is not an error."""

    kind: str
    id: str

    @property
    def title(self) -> str:
        return f"{'terminate' if self.kind == SUPERVISOR else 'shut down'} {self.kind} {self.id}"

    @property
    def operation(self) -> kernel.Operation:
        reason = reasons.SUPERVISOR_TERMINATED if self.kind == SUPERVISOR else reasons.TASK_SHUT_DOWN
        return kernel.Operation(reason=reason, counted="removed")

    def send(self, client: DruidClient, context: Any) -> kernel.StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.module_utils._resources.task import shut_down

        orphaned: tuple[str, ...] = ()
        warnings: tuple[str, ...] = ()
        if self.kind == SUPERVISOR:
            orphaned, warnings = _terminate_supervisor(client, self.id)
        else:
            with suppress(NotFound):
                shut_down(client, self.id)
        state = replace(context.state, terminated=context.state.terminated | {self.id})
        further = tuple(Terminate("task", each) for each in orphaned)
        return kernel.StepResult(self, state=state, warnings=warnings, further=further)


def _terminate_supervisor(client: DruidClient, supervisor: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Terminate it; return the tasks that this would orphan, which were shut down, and warnings.

    NotConnected while it is being stopped.
    """
    from ansible_collections.druidops.druid.plugins.module_utils._resources.orphaned_tasks import (
        shut_down_orphaned_tasks,
        status_payload,
    )
    from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import terminate
    from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start import wait_until_started

    wait_until_started(client, supervisor)
    payload = status_payload(client, supervisor)
    if (payload or {}).get("detailedState") == "STOPPING":
        # another request would only wait for the one that stops it
        raise NotConnected(f"Supervisor {supervisor!r} is being stopped. This is checked again.")
    terminate(client, supervisor)
    return shut_down_orphaned_tasks(client, supervisor, payload)


@dataclass(frozen=True)
class SaveLastApplied(Step):
    """Save the applied spec, or the one about to be applied, in the ConfigMap; None: delete the ConfigMap."""

    record: LastApplied | None
    is_new: bool = False

    @property
    def title(self) -> str:
        verb = "remove" if self.record is None else "create" if self.is_new else "update"
        return f"{verb} ConfigMap with the applied spec"

    @property
    def operation(self) -> kernel.Operation:
        return kernel.Operation(counted="removed" if self.record is None else "applied")

    @property
    def saved(self) -> tuple[LastApplied | None, ...]:
        return (self.record,)

    def carry_out(self, context: Any) -> kernel.StepResult[Step]:
        """Return the reconcile with the resource, which notes the record, and the ConfigMap; KubernetesError."""
        api, result = context.api, context.state
        ingestion = result.ingestion
        if self.record is not None:
            config_map = to_config_map(self.record, ingestion)
            noted = replace(result, resource=_with_note(api, result, self.record, config_map))
            return kernel.StepResult(self, state=replace(noted, written=api.apply(config_map)))
        found = api.get("ConfigMap", ingestion.namespace, record_name(ingestion.name))
        if found is not None:
            api.delete("ConfigMap", ingestion.namespace, found["metadata"]["name"], found["metadata"]["uid"])
        # without a resource, there is nothing else to delete
        return kernel.StepResult(self, state=replace(result, is_deleted=True))


def _with_note(api: KubernetesApi, result: IngestionResult, record: LastApplied, config_map: Manifest) -> Manifest:
    """Return the resource with a note of the record that is written next (``record_check``).

    Unlike the status it is written before Druid has the ids, and whichever generation the resource has since.
    """
    metadata = result.resource["metadata"]
    if "uid" not in metadata:
        return result.resource
    before = note_of(metadata)
    # after a loss, the annotation keeps a version that no ConfigMap has any more
    replaces = version_of(result.written or result.observed.record) or before.replaces
    note = Note(_ids_to_note(result, record, before.ids), digest_of(config_map), replaces, record.revision)
    operations = note_patch(metadata, text_of(note, metadata["uid"]))
    written = api.json_patch(KIND, metadata["namespace"], metadata["name"], operations)
    return {**result.resource, "metadata": {**metadata, "annotations": written["metadata"]["annotations"]}}


def _ids_to_note(result: IngestionResult, record: LastApplied, noted: frozenset[str]) -> frozenset[str]:
    """Return the ids of the record, and the noted ones of supervisors that were not terminated, whatever records them.

    Of a batch, whose attempts would add up, only those of the present record are kept; of another Druid, none.
    """
    ids = frozenset((*record.supervisors, *record.tasks))
    last = recorded(result.observed.record, result.ingestion).record
    if last.druid and record.druid != last.druid:
        return ids
    if record.task is not None or last.task is not None:
        return ids | (noted if ids <= noted else noted & {*last.supervisors, *last.tasks})
    return ids | (noted - result.terminated)
