# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What decisions about an ingestion can read, in Kubernetes and in Druid, which is connected when it is first asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import OWN_IDS, datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import failure
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names as cluster_names
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.calls import fetch_change
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
    Normalized,
    without_normalization,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import (
    Deletion,
    Found,
    Task,
    Unreached,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    IN_RECORD,
    LastApplied,
    former_datasource,
    of_status,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import (
    confirmed,
    desired_supervisor,
    is_specified_by_another,
    noted_record,
    only_named,
    recorded,
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
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, TooDeep
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


def observe(reads: Reads, ingestion: Ingestion, secrets: tuple[SecretKey, ...]) -> Observed:
    """Read the objects in Kubernetes; `secrets` are those with permission."""
    cluster = reads.get(cluster_names.KIND, ingestion.cluster) if ingestion.cluster else None
    config_map = reads.get("ConfigMap", record_name(ingestion.name))
    return Observed(
        config_map=config_map,
        record=record_check.believed(config_map, ingestion),
        cluster=cluster,
        services=_services(reads, cluster["metadata"]["name"]) if cluster else (),
        secrets={key: reads.get("Secret", key.name, key.namespace) for key in secrets},
        siblings=tuple(map(Ingestion.from_resource, _siblings(reads, ingestion))),
    )


def _services(reads: Reads, cluster: str) -> tuple[Manifest, ...]:
    """Return the Services with the label of the cluster; none if the name is too long for a label."""
    if len(cluster) > cluster_names.MAX_LABEL_CHARACTERS:
        return ()
    return reads.list_objects("Service", f"{cluster_names.CLUSTER_LABEL}={cluster}")


def _siblings(reads: Reads, ingestion: Ingestion) -> list[Manifest]:
    """Return the other resources of the namespace; none without the CRD."""
    listed: Iterable[Manifest]
    try:
        listed = reads.list_objects(KIND)
    except TooDeep:
        listed = _one_by_one(reads)
    except ApiError as error:
        if ingestion.uid is None and error.is_missing_kind:
            return []
        raise
    return [each for each in listed if each["metadata"]["name"] != ingestion.name]


def _one_by_one(reads: Reads) -> list[Manifest]:
    """Return the readable resources: an unreadable one must not block all others of its namespace.

    It specifies no supervisor, like any invalid one; its own reconcile reports the problem.
    """
    found: list[Manifest | None] = []
    for name in reads.names(KIND):
        with suppress(TooDeep):
            found.append(reads.get(KIND, name))
    return [each for each in found if each is not None]


def fetch_state(client: DruidClient, ingestion: Ingestion, record: LastApplied, known: Normalized) -> DruidState:
    """Read the supervisor or the task. `known` are digests of what Druid normalized."""
    if ingestion.is_supervisor:
        return _fetch_supervisor(client, ingestion, record, known)
    return _fetch_task(client, ingestion, record)


def fetch_datasource(
    client: DruidClient,
    ingestion: Ingestion,
    record: LastApplied,
    known: Normalized,
    siblings: tuple[Ingestion, ...],
) -> tuple[DruidChange, ...]:
    """Read the specified compaction and retention rules, and those to remove: the previously specified ones.

    Those that another resource specifies are not removed, nor are those of a former datasource, whose data stays.
    """
    return tuple(
        _fetch(client, kind, datasource, f"{kind} of {datasource}", desired, known)
        for kind, datasource, desired in (
            *_compaction(ingestion, record, siblings),
            *_rules(ingestion, record, siblings),
        )
    )


def has_own_ids(client: DruidClient, ingestion: Ingestion, siblings: Iterable[Ingestion] = ()) -> bool:
    """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
    matters = specifies_id(ingestion) or specify_ids(siblings)
    return matters and client.supports(*OWN_IDS)


def _fetch(client: DruidClient, kind: str, name: str, what: str, desired: Any, known: Normalized) -> DruidChange:
    return fetch_change(
        client, kind, name, what, desired, lambda change: without_normalization(change, known, IN_RECORD)
    )


def _fetch_supervisor(
    client: DruidClient, ingestion: Ingestion, record: LastApplied, known: Normalized
) -> SupervisorState:
    """Read the supervisor and its status."""
    desired = desired_supervisor(ingestion, record, has_own_ids=has_own_ids(client, ingestion))
    change = _fetch(client, SUPERVISOR, desired.id, f"{SUPERVISOR} {desired.id}", desired, known)
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


class IngestionReads(Reads):
    """`observed` is what was read in Kubernetes, and `client` is connected to Druid, once that was asked.

    DruidError if Druid does not respond, or if the spec is invalid.
    """

    def __init__(self, api: KubernetesApi, ingestion: Ingestion, options: Options, connections: ExitStack) -> None:
        super().__init__(api, ingestion.namespace)
        self.observed = Observed()
        self.client: DruidClient | None = None
        self._ingestion = ingestion
        self._options = options
        self._connections = connections

    def druid(self) -> DruidClient:
        """Return the client. ConnectionUnavailable names what is missing."""
        if self.client is None:
            details = druid_connection(self._api, self._ingestion, self.observed, self._options)
            connection = connect(details, self._options.timeouts, self._options.meter)
            self.client = self._connections.enter_context(connection)
        return self.client

    def state(self, ingestion: Ingestion, record: LastApplied, known: Normalized) -> DruidState:
        """Return the supervisor or the task. `known` are digests of what Druid normalized."""
        about = ingestion, record, known
        return self.ask("state", about, lambda: fetch_state(self.druid(), *about))

    def datasource(
        self, ingestion: Ingestion, record: LastApplied, known: Normalized, siblings: tuple[Ingestion, ...]
    ) -> tuple[DruidChange, ...]:
        """Return the specified compaction and retention rules, and those to remove."""
        about = ingestion, record, known, siblings
        return self.ask("datasource", about, lambda: fetch_datasource(self.druid(), *about))

    def has_task(self, task: str) -> bool:
        """Return whether Druid knows a task."""
        return self.ask("task", task, lambda: status_of(self.druid(), task) is not None)

    def has_supervisor(self, supervisor: str) -> bool:
        """Return whether Druid has a supervisor."""
        return self.ask("supervisor", supervisor, lambda: bool(supervisor_status.status_of(self.druid(), supervisor)))

    def has_own_ids(self, ingestion: Ingestion, siblings: Sequence[Ingestion]) -> bool:
        """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
        about = ingestion, siblings
        return self.ask("ids", about, lambda: has_own_ids(self.druid(), *about))


class DeletionReads(IngestionReads):
    """The reads of one deletion."""

    def __init__(self, api: KubernetesApi, deletion: Deletion, options: Options, connections: ExitStack) -> None:
        super().__init__(api, deletion.ingestion, options, connections)
        self._deletion = deletion
        self._found: Found | None = None
        self._is_reported = False

    def found(self) -> Found:
        """Return the record; of a resource that has none, that of its status, or of its annotation."""
        if self._found is None:
            deletion, ingestion = self._deletion, self._deletion.ingestion
            self.observed = observe(self, ingestion, secrets_of(ingestion) if deletion.refusal is None else ())
            record, unconfirmed = recorded(self.observed.record, ingestion)
            self._is_reported = deletion.has_resource and self.observed.record is None
            if self._is_reported and record.is_empty:
                record, _also = confirmed(of_status(ingestion), ingestion)
                last = noted_record(ingestion)
                # the annotation is written before a submission, the status after it
                record = last if last.id and last.revision >= record.revision else record
            warnings = (*unconfirmed, *record_check.warnings(self.observed.config_map, ingestion))
            self._found = Found(record, self.observed.siblings, warnings)
        return self._found

    def task(self, found: Found) -> Task | Unreached:
        try:
            return self._task(found.record)
        except DruidError as error:
            self.client = None
            finding = request.error_finding(error)
            return Unreached(finding, _is_lasting(finding, self.observed))

    def _task(self, record: LastApplied) -> Task:
        """Return the state of the task. One that only the status names must be of this resource."""
        client, task = self.druid(), record.task
        status = (status_of(client, task.id) if task else None) or {}
        if task is None or status.get("statusCode") != batch.RUNNING:
            return Task()
        ingestion = self._deletion.ingestion
        if self._is_reported and not record_check.is_of_resource(ingestion, task.id, status, record.revision):
            return Task(warnings=(only_named(f"task {task.id}"),))
        return Task(is_running=True)

    def parent(self) -> str:
        cluster = self.observed.cluster
        if cluster is not None and is_terminating(cluster):
            return "cluster"
        return "namespace" if self.is_namespace_terminating() else ""


def _is_lasting(problem: Finding, found: Observed) -> bool:
    """True when the address or Secret of Druid is deleted; a wrong one may be fixed, so it is retried."""
    if problem.reason == reasons.SECRET_NOT_FOUND:
        return None in found.secrets.values()
    return problem.reason == reasons.CLUSTER_NOT_FOUND
