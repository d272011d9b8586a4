# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What decisions about an ingestion can read, in Kubernetes and in Druid, which is connected when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of, unknown_fields
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import OWN_IDS, datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job, failure
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import fetch_change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.reads import (
    DruidReads,
    reading_druid,
    surroundings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    former_datasource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    desired_supervisor,
    is_specified_by_another,
    specifies_id,
    specify_ids,
    with_removed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import KIND, Ingestion, record_name
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    Observed,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Druid
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


def observe(reads: Reads, ingestion: Ingestion, secrets: tuple[SecretKey, ...]) -> Observed:
    """Read the objects in Kubernetes; `secrets` are those with permission."""
    config_map = reads.get("ConfigMap", record_name(ingestion.name))
    around = surroundings(reads, KIND, ingestion, secrets)
    return Observed(config_map=config_map, record=record_check.believed(config_map, ingestion), **around)


def fetch_state(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> DruidState:
    """Read the supervisor or the task."""
    if ingestion.is_supervisor:
        return _fetch_supervisor(client, ingestion, record)
    return _fetch_task(client, ingestion, record)


def fetch_datasource(
    client: DruidClient,
    ingestion: Ingestion,
    record: LastApplied,
    siblings: tuple[Ingestion, ...],
) -> tuple[DruidChange, ...]:
    """Read the specified compaction and retention rules, and those to remove: the previously specified ones.

    Those that another resource specifies are not removed, nor are those of a former datasource, whose data stays.
    """
    return tuple(
        fetch_change(client, kind, datasource, f"{kind} of {datasource}", desired)
        for kind, datasource, desired in (
            *_compaction(ingestion, record, siblings),
            *_rules(ingestion, record, siblings),
        )
    )


def has_own_ids(client: DruidClient, ingestion: Ingestion, siblings: Iterable[Ingestion] = ()) -> bool:
    """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
    matters = specifies_id(ingestion) or specify_ids(siblings)
    return matters and client.supports(*OWN_IDS)


def _fetch_supervisor(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> SupervisorState:
    """Read the supervisor and its status."""
    desired = desired_supervisor(ingestion, record, has_own_ids=has_own_ids(client, ingestion))
    change = fetch_change(client, SUPERVISOR, desired.id, f"{SUPERVISOR} {desired.id}", desired)
    payload = supervisor_status.status_of(client, desired.id).get("payload") if change.before is not None else None
    return SupervisorState(change, payload or {})


def _fetch_task(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> TaskState:
    """Read the status of the current attempt."""
    job = batch.job(ingestion, batch.revision(ingestion, record))
    known = batch.current(ingestion, record)
    if known is not None and (known.phase == "unrecorded" or known.status == batch.SUCCESS):
        return TaskState(job, batch.attempt(ingestion, job, known, None))
    status = status_of(client, known.id if known else job.task_id(1))
    attempt = batch.attempt(ingestion, job, known, status)
    if attempt.action == "taken":
        return TaskState(job, attempt)
    state = TaskState(job, attempt, status)
    why = failure(status, report_of(client, state.id)) if status and state.has_failed else ""
    return replace(state, failure=why)


# (kind, datasource, desired)
_DatasourceConfig = tuple[str, str, Mapping[str, Any] | list[Any] | None]


def _compaction(
    ingestion: Ingestion, record: LastApplied, siblings: tuple[Ingestion, ...]
) -> Iterator[_DatasourceConfig]:
    now, before = datasource_of(ingestion.document), former_datasource(record)
    specified, last = ingestion.compaction, record.specified.get("compaction")
    if not now:
        return
    if specified is not None:
        desired = with_removed_fields(last, specified) if now == before else specified
        yield COMPACTION, now, {**desired, "dataSource": now}
    elif last is not None and now == before and not is_specified_by_another(ingestion, siblings, "compaction", now):
        yield COMPACTION, now, None


def _rules(ingestion: Ingestion, record: LastApplied, siblings: tuple[Ingestion, ...]) -> Iterator[_DatasourceConfig]:
    now, before = datasource_of(ingestion.document), former_datasource(record)
    if not now:
        return
    if ingestion.rules:
        yield RETENTION_RULES, now, ingestion.rules
    elif (
        record.specified.get("rules")
        and now == before
        and not is_specified_by_another(ingestion, siblings, "rules", now)
    ):
        # without its own rules, the default rules apply
        yield RETENTION_RULES, now, []


class IngestionReads(DruidReads):
    """The reads of one reconcile of an ingestion. DruidError if Druid does not respond, or if the spec is invalid."""

    def __init__(
        self,
        api: KubernetesApi,
        namespace: str,
        surround: Callable[[Reads], Observed],
        druid: Callable[[], DruidClient],
    ) -> None:
        super().__init__(api, namespace, surround, druid)
        self.observed = Observed()

    def state(self, ingestion: Ingestion, record: LastApplied) -> DruidState:
        """Return the supervisor or the task."""
        about = ingestion, record
        return self.in_druid("state", about, lambda client: fetch_state(client, *about))

    def datasource(
        self, ingestion: Ingestion, record: LastApplied, siblings: tuple[Ingestion, ...]
    ) -> tuple[DruidChange, ...]:
        """Return the specified compaction and retention rules, and those to remove."""
        about = ingestion, record, siblings
        return self.in_druid("datasource", about, lambda client: fetch_datasource(client, *about))

    def task_status(self, task: str) -> Mapping[str, Any] | None:
        """Return Druid's status of a task, None if it does not know it."""
        return self.in_druid("task", task, lambda client: status_of(client, task))

    def unknown_fields(self, job: Job, attempt: int) -> str:
        """Return the message about fields of a submitted attempt that Druid does not know; empty if there are none."""
        about = job, attempt
        return self.in_druid("unknown fields", about, lambda client: unknown_fields(client, *about))

    def has_supervisor(self, supervisor: str) -> bool:
        """Return whether Druid has a supervisor."""
        return self.in_druid(
            "supervisor", supervisor, lambda client: bool(supervisor_status.status_of(client, supervisor))
        )

    def has_own_ids(self, ingestion: Ingestion, siblings: Sequence[Ingestion]) -> bool:
        """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
        about = ingestion, siblings
        return self.in_druid("ids", about, lambda client: has_own_ids(client, *about))


def reading(
    api: KubernetesApi, ingestion: Ingestion, secrets: tuple[SecretKey, ...], options: Options
) -> AbstractContextManager[tuple[IngestionReads, Druid]]:
    """Return the reader of a reconcile, and the client for its writes."""

    def create(druid: Callable[[], DruidClient]) -> IngestionReads:
        return IngestionReads(api, ingestion.namespace, lambda reads: observe(reads, ingestion, secrets), druid)

    return reading_druid(create, ingestion, options)
