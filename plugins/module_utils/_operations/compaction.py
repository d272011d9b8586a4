# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules compaction and compaction_info: automatic compaction of one or many datasources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import (
    ModuleResult,
    converge_one_of_many,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import (
    BY_OVERLORD,
    OVERLORDS,
    Compaction,
    all_compaction,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import specified_compaction
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput


def ensure_compaction(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    author = audit(params["author"], params["comment"])
    many = params["datasources"]
    configs = None if many is None else all_compaction(client)
    report = ModuleResult("compaction", "compaction of", "config")
    seen: set[str] = set()
    for index, item in enumerate([params] if many is None else many):
        try:
            datasource, desired = _desired(item, params["state"])
            _reject_duplicate(datasource, seen)
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
    report: ModuleResult,
    check_mode: bool,
) -> None:
    compaction, change = converge_one_of_many(
        lambda preloaded: Compaction(client, datasource, desired, preloaded, author), configs, check_mode=check_mode
    )
    report.add(datasource, change, compaction.warnings)


def _desired(item: Mapping[str, Any], state: str) -> tuple[str, dict[str, Any] | None]:
    """Return the datasource and its desired configuration, None if it should not be compacted."""
    specified = specified_compaction(item.get("datasource"), item.get("config") or {})
    return specified["dataSource"], specified if (item.get("state") or state) == "present" else None


def _reject_duplicate(datasource: str, seen: set[str]) -> None:
    if datasource in seen:
        raise InvalidInput("datasource", datasource, "duplicate datasource; list each datasource once")
    seen.add(datasource)


_COORDINATORS = path("druid", "coordinator", "v1", "compaction", "status")


def compaction_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the compaction of the selected datasources, sorted by name, with secrets masked."""
    configs = all_compaction(client)
    statuses = _statuses(client) if params["status"] else {}
    return [
        {"id": name, "config": masked(configs[name]), **({"status": statuses.get(name)} if params["status"] else {})}
        for name in sorted(configs)
        if params["datasource"] in (None, name)
    ]


def _statuses(client: DruidClient) -> dict[str, Any]:
    list_path = path(*OVERLORDS, "status", "datasources") if client.supports(*BY_OVERLORD) else _COORDINATORS
    return {each["dataSource"]: each for each in (client.get(list_path) or {}).get("latestStatus") or []}
