# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module compaction does: automatic compaction of one datasource, or of many that are read together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._converge import converge_one_of_many
from ansible_collections.druidops.druid.plugins.module_utils._ensure.report import Report
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput, DruidError
from ansible_collections.druidops.druid.plugins.module_utils._resources.audit import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import Compaction, all_compaction
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import stated_compaction


def ensure_compaction(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module. One that fails does not stop the others; Incomplete is raised then."""
    author = audit(params["author"], params["comment"])
    many = params["datasources"]
    configs = None if many is None else all_compaction(client)
    report = Report("compaction", "compaction of", "config")
    seen: set[str] = set()
    for index, item in enumerate([params] if many is None else many):
        try:
            datasource, desired = _wanted(item, params["state"])
            _refuse_twice(datasource, seen)
            _ensure_one(client, datasource, desired, configs, author, report, check_mode)
        except DruidError as error:
            report.problems.append(str(error) if many is None else f"datasources[{index}]: {error}")
    return report.result()


def _ensure_one(
    client: DruidClient,
    datasource: str,
    desired: Mapping[str, Any] | None,
    configs: Mapping[str, Any] | None,
    author: Audit,
    report: Report,
    check_mode: bool,
) -> None:
    compaction, change = converge_one_of_many(
        lambda together: Compaction(client, datasource, desired, together, author), configs, check_mode=check_mode
    )
    report.add(datasource, change, compaction.warnings)


def _wanted(item: Mapping[str, Any], state: str) -> tuple[str, dict[str, Any] | None]:
    """Return the datasource, and what is wanted of it, None if it shall not be compacted."""
    stated = stated_compaction(item.get("datasource"), item.get("config") or {})
    return stated["dataSource"], stated if (item.get("state") or state) == "present" else None


def _refuse_twice(datasource: str, seen: set[str]) -> None:
    if datasource in seen:
        raise BadInput("datasource", datasource, "another one before is about this datasource; state it once")
    seen.add(datasource)
