# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The datasource and the supervisor id of a specification. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.known_types import (
    reject_task_type,
    reject_unknown_supervisor,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import stream_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, value_at

# in tasks without a data schema (compact, kill ...), in ingestion specs, in autocompact
AT_TOP: Path = ("dataSource",)
IN_DATA_SCHEMA: Path = ("spec", "dataSchema", "dataSource")
IN_SPEC: Path = ("spec", "dataSource")


def datasource_of(spec: Mapping[str, Any]) -> str | None:
    """Return the datasource of a supervisor or a task, None if it has none."""
    paths = (AT_TOP, IN_DATA_SCHEMA, IN_SPEC)
    return next((found for path in paths if isinstance(found := value_at(spec, path), str) and found), None)


# Since this release the id of a stream supervisor may differ from the name of its datasource.
OWN_IDS = (34,)


def supervisor_id(spec: Mapping[str, Any], specified: str | None, *, has_own_ids: bool) -> str:
    """
    Return the id that Druid will use for the supervisor of ``spec``, which is in canonical form.

    ``specified``: the module's option. InvalidInput if Druid would ignore the specified id, or would generate one.
    """
    kind = _type_of(spec)
    requested = _single_id(spec.get("id"), specified)
    if stream_of(spec) is not None:
        source = _required(spec, IN_DATA_SCHEMA)
        return (
            requested or source
            if has_own_ids
            else _require_id(source, requested, "before Druid 34 the id is the name of the datasource")
        )
    if kind == "autocompact":
        source = _required(spec, IN_SPEC)
        return _require_id(f"autocompact__{source}", requested, "type autocompact does not allow a custom id")
    if requested is None:
        reject_unknown_supervisor(kind)
        why = f"a supervisor of type {kind} requires an id: Druid would generate a new one in every run"
        raise InvalidInput("id", NOT_SET, why)
    return requested


def _type_of(spec: Mapping[str, Any]) -> str:
    kind = spec.get("type")
    if not isinstance(kind, str) or not kind:
        remedy = "set the type of the supervisor, such as kafka"
        raise InvalidInput("spec.type", NOT_SET if kind is None else kind, remedy)
    reject_task_type(kind)
    return kind


def with_id(spec: Mapping[str, Any], supervisor: str, *, has_own_ids: bool) -> dict[str, Any]:
    """Return the specification with its id if Druid accepts one."""
    without_id = {name: value for name, value in spec.items() if name != "id"}
    accepts_id = spec.get("type") != "autocompact" and (has_own_ids or stream_of(spec) is None)
    return {**without_id, "id": supervisor} if accepts_id else without_id


def _single_id(in_spec: Any, specified: str | None) -> str | None:
    if in_spec is not None and specified is not None and in_spec != specified:
        raise InvalidInput("id", specified, f"the spec has id {in_spec!r}; set only one of them")
    return specified if in_spec is None else str(in_spec)


def _required(spec: Mapping[str, Any], path: Path) -> str:
    value = value_at(spec, path)
    if not isinstance(value, str) or not value:
        raise InvalidInput(".".join(path), NOT_SET if value is None else value, "set the datasource")
    return value


def _require_id(supervisor: str, requested: str | None, why: str) -> str:
    if requested not in (None, supervisor):
        raise InvalidInput("id", requested, f"{why}; omit it, or use {supervisor!r}")
    return supervisor
