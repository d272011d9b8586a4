# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the state of the supervisor or the task from Druid. Only GETs are sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import OWN_IDS
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_report import failure
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, supervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import (
    DruidState,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.normalization import Normalized, skip_normalized
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor_owner import specify_ids
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def has_own_ids(client: DruidClient, ingestion: Ingestion, siblings: Iterable[Manifest] = ()) -> bool:
    """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
    matters = supervisor.specifies_id(ingestion) or specify_ids(siblings)
    return matters and client.supports(*OWN_IDS)


def fetch_state(client: DruidClient, ingestion: Ingestion, record: LastApplied, normalized: Normalized) -> DruidState:
    """Read Druid's state. DruidError if it does not respond, or if the spec is invalid."""
    if ingestion.is_supervisor:
        return fetch_supervisor(client, ingestion, record, normalized)
    return fetch_task(client, ingestion, record)


def fetch_supervisor(
    client: DruidClient, ingestion: Ingestion, record: LastApplied, normalized: Normalized
) -> SupervisorState:
    """Read the supervisor and its status."""
    desired = supervisor.desired_supervisor(ingestion, record, has_own_ids=has_own_ids(client, ingestion))
    resource = Supervisor(client, desired)
    step = Converge(f"supervisor {desired.id}", resource, converge(resource, check_mode=True))
    change = skip_normalized(step, normalized).change
    payload = supervisor_status.status_of(client, desired.id).get("payload") if change.before is not None else None
    return SupervisorState(desired, resource, change, payload or {}, tuple(resource.warnings))


def fetch_task(client: DruidClient, ingestion: Ingestion, record: LastApplied) -> TaskState:
    """Read the status of the current attempt."""
    job = batch.job(ingestion)
    known = batch.current(ingestion, record)
    if known is not None and known.status == batch.SUCCESS:
        return TaskState(job, Attempt(known, "none"))
    status = status_of(client, known.id if known else job.task_id(1))
    attempt = batch.attempt(ingestion, job, known, status)
    if attempt.action == "taken":
        return TaskState(job, attempt)
    state = TaskState(job, attempt, status)
    why = failure(status, report_of(client, state.id)) if status and state.has_failed else ""
    return replace(state, failure=why)
