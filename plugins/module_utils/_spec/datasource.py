# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a specification names its datasource: a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.paths import Path, value_at

# of tasks without a data schema (compact, kill ...), of ingestion, of autocompact
AT_TOP: Path = ("dataSource",)
IN_DATA_SCHEMA: Path = ("spec", "dataSchema", "dataSource")
IN_SPEC: Path = ("spec", "dataSource")


def datasource_of(spec: Mapping[str, Any]) -> str | None:
    """Return the datasource of a supervisor or a task, None if it names none."""
    places = (AT_TOP, IN_DATA_SCHEMA, IN_SPEC)
    return next((found for place in places if isinstance(found := value_at(spec, place), str) and found), None)
