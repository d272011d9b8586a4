# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ask Druid how the supervisor or the task is. Only GETs are sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import status_of as how_it_is
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import OWN_IDS
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_report import failure
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, supervision
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import Attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.made import Made, spared
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Converge
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.seen import Seen, SeenBatch, SeenSupervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.siblings import state_an_id
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest


def has_own_ids(client: DruidClient, ingestion: Ingestion, siblings: Iterable[Manifest] = ()) -> bool:
    """Return whether supervisors have ids of their own; asked only where the answer matters to one of them."""
    matters = supervision.asks_for_an_id(ingestion) or state_an_id(siblings)
    return matters and client.supports(*OWN_IDS)


def see(client: DruidClient, ingestion: Ingestion, record: Record, made: Made) -> Seen:
    """Ask Druid. DruidError when it does not answer, or when the specification cannot be one."""
    if ingestion.is_supervisor:
        return see_supervisor(client, ingestion, record, made)
    return see_batch(client, ingestion, record)


def see_supervisor(client: DruidClient, ingestion: Ingestion, record: Record, made: Made) -> SeenSupervisor:
    """Read the supervisor, and how it is."""
    wanted = supervision.wanted(ingestion, record, has_own_ids=has_own_ids(client, ingestion))
    resource = Supervisor(client, wanted)
    step = Converge(f"supervisor {wanted.id}", resource, converge(resource, check_mode=True))
    change = spared(step, made).change
    payload = how_it_is(client, wanted.id).get("payload") if change.before is not None else None
    return SeenSupervisor(wanted, resource, change, payload or {}, tuple(resource.warnings))


def see_batch(client: DruidClient, ingestion: Ingestion, record: Record) -> SeenBatch:
    """Read the status of the attempt that is on."""
    job = batch.job(ingestion)
    known = batch.current(ingestion, record)
    if known is not None and known.status == batch.SUCCESS:
        return SeenBatch(job, Attempt(known, "none"))
    status = status_of(client, known.id if known else job.task_id(1))
    attempt = batch.attempt(ingestion, job, known, status)
    if attempt.action == "taken":
        return SeenBatch(job, attempt)
    seen = SeenBatch(job, attempt, status)
    why = failure(status, report_of(client, seen.id)) if status and seen.has_failed else ""
    return replace(seen, failure=why)
