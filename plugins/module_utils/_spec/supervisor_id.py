# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which supervisor a specification is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput
from ansible_collections.druidops.druid.plugins.module_utils._spec.datasource import IN_DATA_SCHEMA, IN_SPEC
from ansible_collections.druidops.druid.plugins.module_utils._spec.paths import Path, value_at
from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import stream_of

# From here on a stream supervisor may have an id that is not the name of its datasource.
OWN_IDS = (34,)


def supervisor_id(spec: Mapping[str, Any], stated: str | None, *, has_own_ids: bool) -> str:
    """
    Return the id that Druid will give to the supervisor of ``spec``, in canonical form.

    ``stated``: the module's option. BadInput if Druid would not use the id that is stated, or would make one up.
    """
    given = _agreed(spec.get("id"), stated)
    kind = spec.get("type")
    if stream_of(spec) is not None:
        source = _required(spec, IN_DATA_SCHEMA)
        return given or source if has_own_ids else _fixed(source, given, "before Druid 34 it is that of the datasource")
    if kind == "autocompact":
        source = _required(spec, IN_SPEC)
        return _fixed(f"autocompact__{source}", given, "a supervisor of type autocompact has no id of its own")
    if kind is None:
        raise BadInput("spec.type", None, "say which type of supervisor it is, such as kafka")
    if given is None:
        raise BadInput("id", None, f"a supervisor of type {kind} needs one: Druid would make a new one in every run")
    return given


def with_id(spec: Mapping[str, Any], supervisor: str, *, has_own_ids: bool) -> dict[str, Any]:
    """Return the specification with its id where Druid takes one."""
    without_id = {name: value for name, value in spec.items() if name != "id"}
    takes_one = spec.get("type") != "autocompact" and (has_own_ids or stream_of(spec) is None)
    return {**without_id, "id": supervisor} if takes_one else without_id


def _agreed(in_spec: Any, stated: str | None) -> str | None:
    if in_spec is not None and stated is not None and in_spec != stated:
        raise BadInput("id", stated, f"the spec names another supervisor, {in_spec!r}; state one of them")
    return stated if in_spec is None else str(in_spec)


def _required(spec: Mapping[str, Any], path: Path) -> str:
    value = value_at(spec, path)
    if not isinstance(value, str) or not value:
        raise BadInput(".".join(path), value, "name the datasource")
    return value


def _fixed(supervisor: str, given: str | None, why: str) -> str:
    if given not in (None, supervisor):
        raise BadInput("id", given, f"{why}; leave it out, or state {supervisor!r}")
    return supervisor
