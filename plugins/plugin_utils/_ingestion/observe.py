# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what an ingestion depends on: first from Kubernetes, which has the connection, then from Druid.

Only reads are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources import supervisor_status
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import OWN_IDS, datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import failure
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names as cluster_names
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
    Normalized,
    without_normalization,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.writes import fetch_change
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, record_check, supervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource_owner import (
    is_specified_by_another,
    older_owners,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    IN_RECORD,
    LastApplied,
    former_datasource,
    read_normalized,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconciled import (
    DruidState,
    Inputs,
    Observed,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import (
    may_be_interrupted,
    recovered,
    without_interrupted,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import KIND, Ingestion, record_name
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import older_owner, specify_ids
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, TooDeep
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


def observe(api: KubernetesApi, ingestion: Ingestion, secrets: tuple[SecretKey, ...]) -> Observed:
    """Read the objects in Kubernetes; `secrets` are those with permission."""
    namespace = ingestion.namespace
    cluster = api.get(cluster_names.KIND, namespace, ingestion.cluster) if ingestion.cluster else None
    config_map = api.get("ConfigMap", namespace, record_name(ingestion.name))
    return Observed(
        config_map=config_map,
        record=record_check.believed(config_map, ingestion),
        cluster=cluster,
        services=tuple(_services(api, namespace, cluster["metadata"]["name"])) if cluster else (),
        secrets={key: api.get("Secret", key.namespace, key.name) for key in secrets},
        siblings=tuple(map(Ingestion.from_resource, _siblings(api, ingestion))),
    )


def _services(api: KubernetesApi, namespace: str, cluster: str) -> list[Manifest]:
    """Return the Services with the label of the cluster; none if the name is too long for a label."""
    if len(cluster) > cluster_names.MAX_LABEL_CHARACTERS:
        return []
    return api.list_objects("Service", namespace, f"{cluster_names.CLUSTER_LABEL}={cluster}")


def _siblings(api: KubernetesApi, ingestion: Ingestion) -> list[Manifest]:
    """Return the other resources of the namespace; none without the CRD."""
    try:
        listed = api.list_objects(KIND, ingestion.namespace)
    except TooDeep:
        listed = _one_by_one(api, ingestion.namespace)
    except ApiError as error:
        if ingestion.uid is None and error.is_missing_kind:
            return []
        raise
    return [each for each in listed if each["metadata"]["name"] != ingestion.name]


def _one_by_one(api: KubernetesApi, namespace: str) -> list[Manifest]:
    """Return the readable resources: an unreadable one must not block all others of its namespace.

    It specifies no supervisor, like any invalid one; its own reconcile reports the problem.
    """
    found: list[Manifest | None] = []
    for name in api.list_names(KIND, namespace):
        with suppress(TooDeep):
            found.append(api.get(KIND, namespace, name))
    return [each for each in found if each is not None]


def observe_druid(client: DruidClient, specified: Ingestion, found: Observed) -> Inputs:
    """Return the inputs of the decision. DruidError if Druid does not respond, or if the spec is invalid.

    Their ingestion is without the configuration of the datasource that an older one owns.
    """
    owners = older_owners(specified, found.siblings)
    ingestion = without_fields(specified, owners) if owners else specified
    recorded, unconfirmed = supervisor.recorded(found.record, ingestion)
    known = read_normalized(found.record, ingestion)
    record = recovered(recorded, ingestion)
    if may_be_interrupted(ingestion, record) and record.task is not None:
        is_in_druid = status_of(client, record.task.id) is not None
        record = without_interrupted(ingestion, record, is_in_druid=is_in_druid)
    druid_state = fetch_state(client, ingestion, record, known)
    is_recorded = found.record is not None and record == recorded and record_check.is_written(found.record, ingestion)
    inputs = Inputs(
        ingestion,
        record,
        druid_state,
        is_recorded=is_recorded,
        has_config_map=found.config_map is not None,
        siblings=found.siblings,
        config_owners=owners,
        unconfirmed=(*unconfirmed, *record_check.warnings(found.config_map, ingestion)),
    )
    if isinstance(druid_state, TaskState) and druid_state.attempt.action == "unrecorded":
        return inputs
    owner = _older_owner(client, inputs)
    if owner is not None:
        return replace(inputs, older_owner=owner)
    left = (
        each
        for each in supervisor.unrecorded(ingestion, record, found.siblings)
        if supervisor_status.status_of(client, each)
    )
    inputs = replace(inputs, left=tuple(left))
    return replace(inputs, datasource=fetch_datasource(client, ingestion, record, known, found.siblings))


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


def _older_owner(client: DruidClient, inputs: Inputs) -> str | None:
    if not isinstance(inputs.druid_state, SupervisorState):
        return None
    has_own_ids = _has_own_ids(client, inputs.ingestion, inputs.siblings)
    return older_owner(inputs.ingestion, inputs.siblings, inputs.druid_state.id, has_own_ids=has_own_ids)


def _has_own_ids(client: DruidClient, ingestion: Ingestion, siblings: Iterable[Ingestion] = ()) -> bool:
    """Return whether Druid supports ids of supervisors; requested only if a spec has one."""
    matters = supervisor.specifies_id(ingestion) or specify_ids(siblings)
    return matters and client.supports(*OWN_IDS)


def _fetch(client: DruidClient, kind: str, name: str, what: str, desired: Any, known: Normalized) -> DruidChange:
    return fetch_change(
        client, kind, name, what, desired, lambda change: without_normalization(change, known, IN_RECORD)
    )


def _fetch_supervisor(
    client: DruidClient, ingestion: Ingestion, record: LastApplied, known: Normalized
) -> SupervisorState:
    """Read the supervisor and its status."""
    desired = supervisor.desired_supervisor(ingestion, record, has_own_ids=_has_own_ids(client, ingestion))
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
        desired = supervisor.with_removed_fields(last, specified) if now == before else specified
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
