# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The automatic compaction of a datasource: its canonical form, as Druid returns it, and its desired state. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import drop_null_fields, merge
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    unknown_fields,
    without_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

# in the table of kinds
_KIND = "compaction"
# of fields that are null
_DEFAULTS = {name: field.default for name, field in class_of(_KIND, {}).fields.items() if field.has_default}


def canonical_compaction(config: Any) -> Any:
    """Return the configuration, as specified by a user or returned by GET, in the form of the latter."""
    return canonical(_KIND, config)


def specified_compaction(datasource: str | None, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specified configuration in canonical form, with its datasource. InvalidInput if that is ambiguous."""
    named = config.get("dataSource")
    if datasource is not None and named not in (None, datasource):
        raise InvalidInput("datasource", datasource, f"the config has dataSource {named!r}; set only one of them")
    if not isinstance(datasource or named, str):
        raise InvalidInput("datasource", datasource or named or NOT_SET, "set the datasource to compact")
    filled = {name: value for name, value in _DEFAULTS.items() if name in config and config[name] is None}
    return {**canonical_compaction(config), **filled, "dataSource": datasource or named}


def merged_compaction(before: Mapping[str, Any] | None, desired: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the desired configuration, None if it should not exist."""
    if desired is None:
        return None
    if before is None:
        return {name: value for name, value in desired.items() if value is not None}
    known = without_fields(desired, unknown_compaction(before, desired))
    return dict(drop_null_fields(before, known, merge(before, known, _KIND)))


def unknown_compaction(before: Any, desired: Any) -> Iterator[Path]:
    """Yield the paths in ``desired`` that this version of Druid does not know, as far as ``before`` shows."""
    return unknown_fields(before, desired, _KIND)
