# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The owners of a datasource's compaction and of its retention rules, if several ingestions specify them. Pure.

Each of the two belongs to the oldest resource that specifies it for the datasource. The others leave it alone: they
neither write nor remove it. When the owner is deleted or does not specify it any more, it stays until the next owner
writes its own.

A compaction supervisor is the compaction of its datasource, wherever Druid runs compaction in supervisors. It always
owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    former_datasource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    AUTOCOMPACT,
    Ingestion,
    canonical_url,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding


def of_same_druid(ingestion: Ingestion, siblings: Iterable[Ingestion]) -> list[Ingestion]:
    """Return the other resources for the same Druid that are not terminating."""
    own = _target(ingestion)
    return [each for each in siblings if not each.is_terminating and _target(each) == own]


def age(ingestion: Ingestion) -> tuple[str, str]:
    """Return the sort key that has the oldest resource first: it owns what several specify."""
    # an ingestion without a resource has no age: it counts as the youngest
    return ingestion.created or "9999", ingestion.uid or ""


def _target(ingestion: Ingestion) -> tuple[str | None, Any]:
    """Return the specified Druid; an invalid value is a target of its own."""
    endpoint = ingestion.spec.get("endpoint")
    return ingestion.cluster, canonical_url(endpoint.get("url") if isinstance(endpoint, Mapping) else endpoint)


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
