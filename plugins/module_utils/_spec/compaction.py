# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The automatic compaction of a datasource: its canonical form, as Druid returns it, and its desired state. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import Marker, without_marker, without_removed
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import merge
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

# in the table of kinds
_KIND = "compaction"
# whose changes compact nothing again, through Druid 33
CONTEXT: Path = ("taskContext",)


def canonical_compaction(config: Any) -> Any:
    """Return the configuration, as specified by a user or returned by GET, in the form of the latter."""
    return without_marker(canonical(_KIND, config), CONTEXT)


def specified_compaction(datasource: str | None, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specified configuration in canonical form, with its datasource. InvalidInput if that is ambiguous."""
    named = config.get("dataSource")
    if datasource is not None and named not in (None, datasource):
        raise InvalidInput("datasource", datasource, f"the config has dataSource {named!r}; set only one of them")
    if not isinstance(datasource or named, str):
        raise InvalidInput("datasource", datasource or named or NOT_SET, "set the datasource to compact")
    return {**canonical_compaction(config), "dataSource": datasource or named}


def merged_compaction(
    before: Mapping[str, Any] | None, desired: Mapping[str, Any] | None, marker: Marker | None = None
) -> dict[str, Any] | None:
    """Return the desired configuration, None if it should not exist; ``marker``: that of our last write."""
    if desired is None:
        return None
    if before is None:
        return dict(desired)
    return dict(merge(without_removed(before, desired, marker, _KIND), desired, _KIND))
