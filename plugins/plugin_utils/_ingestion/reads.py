# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What decisions about an ingestion can read, in Kubernetes and in Druid, which is connected when it is first asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import status_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange, Normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import (
    Deletion,
    Found,
    Task,
    Unreached,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, of_status
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.observe import (
    fetch_datasource,
    fetch_state,
    has_own_ids,
    observe,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options, druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconciled import DruidState, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import (
    confirmed,
    noted_record,
    only_named,
    recorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads


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
