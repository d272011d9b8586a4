# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which datasource and which supervisor a specification is about. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import stream_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.paths import Path, value_at

# of tasks without a data schema (compact, kill ...), of ingestion, of autocompact
AT_TOP: Path = ("dataSource",)
IN_DATA_SCHEMA: Path = ("spec", "dataSchema", "dataSource")
IN_SPEC: Path = ("spec", "dataSource")


def datasource_of(spec: Mapping[str, Any]) -> str | None:
    """Return the datasource of a supervisor or a task, None if it names none."""
    places = (AT_TOP, IN_DATA_SCHEMA, IN_SPEC)
    return next((found for place in places if isinstance(found := value_at(spec, place), str) and found), None)


# From here on a stream supervisor may have an id that is not the name of its datasource.
OWN_IDS = (34,)


def supervisor_id(spec: Mapping[str, Any], specified: str | None, *, has_own_ids: bool) -> str:
    """
    Return the id that Druid will give to the supervisor of ``spec``, in canonical form.

    ``specified``: the module's option. InvalidInput if Druid would not use the id that is stated, or would make one up.
    """
    requested = _single_id(spec.get("id"), specified)
    kind = spec.get("type")
    if stream_of(spec) is not None:
        source = _required(spec, IN_DATA_SCHEMA)
        return (
            requested or source
            if has_own_ids
            else _require_id(source, requested, "before Druid 34 it is that of the datasource")
        )
    if kind == "autocompact":
        source = _required(spec, IN_SPEC)
        return _require_id(f"autocompact__{source}", requested, "a supervisor of type autocompact has no id of its own")
    if kind is None:
        raise InvalidInput("spec.type", None, "say which type of supervisor it is, such as kafka")
    if requested is None:
        raise InvalidInput(
            "id", None, f"a supervisor of type {kind} needs one: Druid would make a new one in every run"
        )
    return requested


def with_id(spec: Mapping[str, Any], supervisor: str, *, has_own_ids: bool) -> dict[str, Any]:
    """Return the specification with its id where Druid takes one."""
    without_id = {name: value for name, value in spec.items() if name != "id"}
    accepts_id = spec.get("type") != "autocompact" and (has_own_ids or stream_of(spec) is None)
    return {**without_id, "id": supervisor} if accepts_id else without_id


def _single_id(in_spec: Any, specified: str | None) -> str | None:
    if in_spec is not None and specified is not None and in_spec != specified:
        raise InvalidInput("id", specified, f"the spec names another supervisor, {in_spec!r}; state one of them")
    return specified if in_spec is None else str(in_spec)


def _required(spec: Mapping[str, Any], path: Path) -> str:
    value = value_at(spec, path)
    if not isinstance(value, str) or not value:
        raise InvalidInput(".".join(path), value, "name the datasource")
    return value


def _require_id(supervisor: str, requested: str | None, why: str) -> str:
    if requested not in (None, supervisor):
        raise InvalidInput("id", requested, f"{why}; leave it out, or state {supervisor!r}")
    return supervisor
