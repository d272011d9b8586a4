# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The owners of a supervisor, and of a datasource's compaction and rules, if several ingestions specify them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._serde.supervisors import with_parts_inside
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of, supervisor_id, with_id
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    stream_of,
    supervisor_warnings,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import age, of_same_druid
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    SubmittedTask,
    former_datasource,
    is_elsewhere,
    of_status,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import is_attempt, note
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    AUTOCOMPACT,
    SUPERVISORS,
    Ingestion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

Field = Literal["compaction", "rules"]
FIELDS: tuple[Field, ...] = ("compaction", "rules")
_NAMES: Mapping[Field, str] = {"compaction": "compaction", "rules": "retention rules"}
_MODULES: Mapping[Field, str] = {"compaction": "compaction", "rules": "retention_rules"}


def older_owners(ingestion: Ingestion, siblings: Iterable[Ingestion]) -> dict[Field, str]:
    """Return, for each field that the resource specifies but does not own, the name of the resource that owns it."""
    datasource = _datasource(ingestion)
    specified = (field for field in FIELDS if _value(ingestion, field) is not None)
    found = {field: _owner(ingestion, siblings, field, datasource) for field in specified}
    return {
        field: owner.name
        for field, owner in found.items()
        if owner is not None and _rank(owner, field) < _rank(ingestion, field)
    }


def is_specified_by_another(ingestion: Ingestion, siblings: Iterable[Ingestion], field: Field, datasource: str) -> bool:
    """True when another resource, older or younger, specifies the field for a datasource: it must not be removed."""
    return _owner(ingestion, siblings, field, datasource) is not None


def without_fields(ingestion: Ingestion, fields: Iterable[Field]) -> Ingestion:
    """Return the ingestion as if it did not specify these fields."""
    section = {name: value for name, value in ingestion.spec["ingestion"].items() if name not in {*fields}}
    return replace(ingestion, spec={**ingestion.spec, "ingestion": section})


def findings(ingestion: Ingestion, owners: Mapping[Field, str]) -> Iterator[Finding]:
    """Yield a problem for each field that another resource owns."""
    for field, owner in owners.items():
        yield Finding(
            reasons.DUPLICATE_DATASOURCE_CONFIG,
            f"DruidIngestion {owner}, which is older or a compaction supervisor, also specifies the {_NAMES[field]} of "
            f"datasource {_datasource(ingestion)}, and owns them: those of this resource are not applied. Remove them "
            "from one of the two.",
        )


def kept_configuration(ingestion: Ingestion, record: LastApplied, siblings: Iterable[Ingestion]) -> Iterator[str]:
    """Yield a warning if the datasource is not the applied one, whose configuration stays with its data."""
    now, before = _datasource(ingestion), former_datasource(record)
    if before is None or before == now:
        return
    applied = (field for field in FIELDS if record.specified.get(field) is not None)
    kept = [field for field in applied if not is_specified_by_another(ingestion, siblings, field, before)]
    if kept:
        names, modules = (" and ".join(each[field] for field in kept) for each in (_NAMES, _MODULES))
        yield (
            f"This resource now ingests into {'another target' if now is None else f'datasource {now}'}. Datasource "
            f"{before} keeps its data and its {names}, which are not managed any more. To remove them, use the module "
            f"{modules} with datasource: {before} and state: absent."
        )


def _owner(
    ingestion: Ingestion, siblings: Iterable[Ingestion], field: Field, datasource: str | None
) -> Ingestion | None:
    """Return the owner among the other resources."""
    others = (
        each
        for each in of_same_druid(ingestion, siblings)
        if _value(each, field) is not None or _is_owner_by_type(each, field)
    )
    of_datasource = (each for each in others if datasource and _datasource(each) == datasource)
    return min(of_datasource, key=lambda each: _rank(each, field), default=None)


def _rank(ingestion: Ingestion, field: Field) -> tuple[bool, tuple[str, str]]:
    return not _is_owner_by_type(ingestion, field), age(ingestion)


def _is_owner_by_type(ingestion: Ingestion, field: Field) -> bool:
    return field == "compaction" and ingestion.type == AUTOCOMPACT


def _value(ingestion: Ingestion, field: Field) -> object:
    return ingestion.compaction if field == "compaction" else ingestion.rules


def _datasource(ingestion: Ingestion) -> str | None:
    try:
        return datasource_of(ingestion.document)
    except ValueError:
        # an invalid specification applies nothing
        return None


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
    specified = _typed(ingestion)
    return DesiredSupervisor(
        supervisor, desired, suspended, warnings=supervisor_warnings(specified), document=specified
    )


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

    Each id is a request, and an author may have written any number: the first ones are enough.
    """
    noted = note(ingestion).ids
    if not (noted and ingestion.is_supervisor) or ingestion.retains or is_elsewhere(record, ingestion):
        return []
    known = {*record.supervisors, *record.tasks, _supervisor(ingestion, has_own_ids=True)}
    return sorted(noted - known - described_supervisors(ingestion, siblings))[:_MOST_UNRECORDED]


def specify_ids(siblings: Iterable[Ingestion]) -> bool:
    """True when one of them sets the id of its supervisor, which only some versions of Druid support."""
    return any(map(_specifies_id, siblings))


class Confirmed(NamedTuple):
    """A record of which everything may be terminated, and a warning for each supervisor that it does not have."""

    record: LastApplied
    warnings: tuple[str, ...] = ()


def recorded(config_map: Manifest | None, ingestion: Ingestion) -> Confirmed:
    """Return the record of a ConfigMap that is believed; if there was none so far, the Go operator's in the status."""
    if config_map is not None:
        return Confirmed(read_last_applied(config_map, ingestion))
    is_lost = bool(note(ingestion).replaces)
    record, unconfirmed = confirmed(LastApplied() if is_lost else read_last_applied(None, ingestion), ingestion)
    also = confirmed(of_status(ingestion), ingestion).warnings if ingestion.is_supervisor else ()
    return Confirmed(record, tuple(dict.fromkeys((*unconfirmed, *also))))


def confirmed(record: LastApplied, ingestion: Ingestion) -> Confirmed:
    """Return a record from the status, which others can write: it is believed if the resource specifies what it names.

    Druid is asked about a task.
    """
    specified = _supervisor(ingestion, has_own_ids=True)
    others = tuple(each for each in record.supervisors if each != specified)
    if not others:
        return Confirmed(record)
    return Confirmed(LastApplied(), tuple(only_named(f"supervisor {each}") for each in others))


def noted_record(ingestion: Ingestion) -> LastApplied:
    """Return a record with what the resource has submitted, in case its record and its status are lost.

    A supervisor only if the resource still specifies it; Druid is asked about a task.
    """
    ids = note(ingestion).ids
    if ingestion.is_supervisor:
        specified = _supervisor(ingestion, has_own_ids=True)
        return LastApplied({}, specified) if specified in ids and specified is not None else LastApplied()
    revision = note(ingestion).revision
    # the latest attempt of the present spec, otherwise any
    tasks = sorted(ids, key=lambda each: (is_attempt(ingestion, each, revision), len(each), each))
    task = tasks[-1] if tasks else ""
    return LastApplied({}, task, SubmittedTask(task, phase="submitted"), revision=revision) if task else LastApplied()


def only_named(what: str) -> str:
    """Return the warning about a supervisor or task that is kept."""
    return f"Only the status names {what}, which the resource does not specify: it is not terminated."


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
