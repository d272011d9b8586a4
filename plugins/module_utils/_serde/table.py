# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table: every kind of object that Druid returns in another form than it is sent, by name. Pure.

Its rows are those of Druid 33, and the tests hold each of them against a running Druid.
"""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.druidops.druid.plugins.module_utils._serde import (
    aggregators,
    data_schema,
    dynamic_configs,
    filters,
    granularity,
    input_formats,
    supervisors,
    tuning,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import DruidClass, Json, Kind

KINDS: Mapping[str, Kind] = {
    **supervisors.KINDS,
    **data_schema.KINDS,
    **input_formats.KINDS,
    **aggregators.KINDS,
    **filters.KINDS,
    **granularity.KINDS,
    **tuning.KINDS,
    **dynamic_configs.KINDS,
}
_PLAIN = Kind({})


def kind_of(name: str) -> Kind:
    """Return a kind, one without any rule if it is not in the table."""
    return KINDS.get(name, _PLAIN)


def class_of(kind: str, value: Json) -> DruidClass:
    """Return the class of an object in canonical form."""
    return kind_of(kind).class_of(value)
