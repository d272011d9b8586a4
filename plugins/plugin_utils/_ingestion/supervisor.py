# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The supervisor that an ingestion specifies, and which of several ingestions owns it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._serde.supervisors import with_parts_inside
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import supervisor_id, with_id
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    stream_of,
    supervisor_warnings,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.datasource_owner import age, of_same_druid
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    confirmed_ids,
    has_own_record,
    is_elsewhere,
    is_of_earlier_version,
    noted_ids,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.lost_record import is_attempt
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import SUPERVISORS, Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# Of ids that only the annotation names.
_MOST_UNRECORDED = 20


def specifies_id(ingestion: Ingestion) -> bool:
    """True when the spec sets the id of a supervisor, which only some versions of Druid support."""
    return (
        ingestion.is_supervisor
        and ingestion.document.get("id") is not None
        and stream_of(_typed(ingestion)) is not None
    )


def desired_supervisor(ingestion: Ingestion, record: LastApplied, *, has_own_ids: bool) -> DesiredSupervisor:
    """Return the desired supervisor; InvalidInput if the spec is invalid. Fields removed from the spec are null."""
    spec = canonical(_typed(ingestion))
    supervisor = supervisor_id(spec, None, has_own_ids=has_own_ids)
    desired = with_id(with_removed_fields(_last(record, ingestion), spec), supervisor, has_own_ids=has_own_ids)
    suspended = ingestion.suspend if ingestion.suspend is not None else spec.get("suspended")
    return DesiredSupervisor(supervisor, desired, suspended, warnings=supervisor_warnings(_typed(ingestion)))


def identity(ingestion: Ingestion, *, has_own_ids: bool) -> str:
    """Return the id of the supervisor, as ``desired_supervisor`` has it, without the whole specification."""
    return supervisor_id(with_parts_inside(_typed(ingestion)), None, has_own_ids=has_own_ids)


def with_removed_fields(last: Any, now: Any) -> Any:
    """Return ``now`` with null for each field of ``last`` that it does not have."""
    if not (isinstance(last, Mapping) and isinstance(now, Mapping)):
        return now
    dropped = {name: None for name, value in last.items() if name not in now and value is not None}
    return {**dropped, **{name: with_removed_fields(last.get(name), value) for name, value in now.items()}}


def _last(record: LastApplied, ingestion: Ingestion) -> Any:
    """Return the last applied spec, if it has the same type."""
    spec = record.specified.get("spec")
    if record.specified.get("type") != ingestion.type or not isinstance(spec, Mapping):
        return None
    return canonical({**spec, "type": SUPERVISORS[ingestion.type]})


def _typed(ingestion: Ingestion) -> dict[str, Any]:
    return {**ingestion.document, "type": SUPERVISORS[ingestion.type]}


def older_owner(
    ingestion: Ingestion, siblings: Iterable[Ingestion], supervisor: str, *, has_own_ids: bool
) -> str | None:
    """Return the name of an older resource that specifies the supervisor, None if there is none."""
    owners = _owners(ingestion, siblings, supervisor, has_own_ids)
    return next((each.name for each in sorted(owners, key=age) if age(each) < age(ingestion)), None)


def other_owner(ingestion: Ingestion, siblings: Iterable[Ingestion], supervisor: str) -> str | None:
    """Return the name of another resource, not terminating itself, that specifies the supervisor."""
    owners = _owners(ingestion, siblings, supervisor, has_own_ids=True)
    return next((each.name for each in sorted(owners, key=age)), None)


def described_supervisors(ingestion: Ingestion, siblings: Iterable[Ingestion]) -> frozenset[str]:
    """Return the supervisors that other resources specify."""
    found = (_supervisor(each, has_own_ids=True) for each in of_same_druid(ingestion, siblings))
    return frozenset(each for each in found if each is not None)


def unrecorded(ingestion: Ingestion, record: LastApplied, siblings: Iterable[Ingestion]) -> list[str]:
    """Return the ids that only the annotation of the resource names: the record was lost, or changed by others.

    A copy of a resource has its annotation, too. Each id is a request, and others may have written the annotation: the
    first ones are enough.
    """
    noted = noted_ids(ingestion.annotations)
    if not (noted and ingestion.is_supervisor) or ingestion.retains or is_elsewhere(record, ingestion):
        return []
    known = {*record.supervisors, *record.tasks, _supervisor(ingestion, has_own_ids=True)}
    return sorted(noted - known - described_supervisors(ingestion, siblings))[:_MOST_UNRECORDED]


def specify_ids(siblings: Iterable[Ingestion]) -> bool:
    """True when one of them sets the id of its supervisor, which only some versions of Druid support."""
    return any(map(_specifies_id, siblings))


class Confirmed(NamedTuple):
    """A record with the supervisors that may be terminated, and a warning for each of the others."""

    record: LastApplied
    warnings: tuple[str, ...] = ()


def recorded(config_map: Manifest | None, ingestion: Ingestion) -> Confirmed:
    """Return the last applied record: that of the ConfigMap, or else that of the Go operator in the status."""
    return confirmed(read_last_applied(config_map, ingestion), ingestion, has_own_record(config_map, ingestion))


def confirmed(record: LastApplied, ingestion: Ingestion, is_config_map: bool) -> Confirmed:
    """Return a record from the ConfigMap, or from the status, with the ids that something else confirms.

    Others can write either. So an id is believed only if the resource specifies it, or if the annotation or the status
    name what the ConfigMap names. Without a resource, or from an earlier version, which had no annotation, the
    ConfigMap is the only reference, and is believed.
    """
    if is_config_map and (ingestion.uid is None or is_of_earlier_version(ingestion)):
        return Confirmed(record)
    specified = _supervisor(ingestion, has_own_ids=True)
    known = confirmed_ids(ingestion) if is_config_map else frozenset[str]()
    others = tuple(each for each in record.supervisors if each != specified and each not in known)
    tasks = tuple(each for each in record.tasks if is_config_map and not _is_own_task(record, ingestion, each, known))
    if not (others or tasks):
        return Confirmed(record)
    where = f"ConfigMap {names.record_name(ingestion.name)}" if is_config_map else "the status"
    named = (*(f"supervisor {each}" for each in others), *(f"task {each}" for each in tasks))
    warnings = tuple(only_named(where, each) for each in named)
    if tasks or not is_config_map:
        return Confirmed(LastApplied(), warnings)
    current = specified if specified in known else ""
    return Confirmed(
        replace(
            record,
            id=(current or "") if record.id in others else record.id,
            former=tuple(each for each in record.former if each not in others),
        ),
        warnings,
    )


def _is_own_task(record: LastApplied, ingestion: Ingestion, task: str, known: frozenset[str]) -> bool:
    return task in known or is_attempt(ingestion, task, record.revision)


def only_named(where: str, what: str) -> str:
    """Return the warning about a supervisor or task that is kept."""
    return f"Only {where} names {what}, which the resource does not specify: it is not terminated."


def _specifies_id(ingestion: Ingestion) -> bool:
    try:
        return specifies_id(ingestion)
    except (InvalidInput, ValueError):
        return False


def _owners(ingestion: Ingestion, siblings: Iterable[Ingestion], supervisor: str, has_own_ids: bool) -> list[Ingestion]:
    return [each for each in of_same_druid(ingestion, siblings) if _supervisor(each, has_own_ids) == supervisor]


def _supervisor(ingestion: Ingestion, has_own_ids: bool) -> str | None:
    if not ingestion.is_supervisor:
        return None
    try:
        return identity(ingestion, has_own_ids=has_own_ids)
    except (InvalidInput, ValueError):
        return None
