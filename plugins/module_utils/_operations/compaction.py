# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules compaction and compaction_info: automatic compaction of one or many datasources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge_one_of_many
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.compaction import (
    OVERLORDS,
    Compaction,
    all_compaction,
    is_by_overlord,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.compaction import (
    canonical_compaction,
    specified_compaction,
)


def ensure_compaction(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    author = audit(params["author"], params["comment"])
    configs = None if params["compactions"] is None else all_compaction(client)
    report = ModuleResult("compactions", "compaction of", "config", items_of(params, "compactions"), id="datasource")
    for item in report.items:
        with report.part_of(item):
            datasource, desired = _desired(item)
            report.identify(item, datasource)
            compaction, change = converge_one_of_many(
                partial(_compaction, client, datasource, desired, author),
                configs,
                check_mode=check_mode,
                is_strict=item.is_strict,
            )
            report.record(item, change, compaction.warnings)
    return report.result()


def _compaction(
    client: DruidClient, datasource: str, desired: Mapping[str, Any] | None, author: Audit, preloaded: Any
) -> Compaction:
    return Compaction(client, datasource, desired, preloaded, author)


def _desired(item: Item) -> tuple[str, dict[str, Any] | None]:
    """Return the datasource and its specified configuration, None if it should not be compacted."""
    config = document_of(item.options, "config") or {}
    datasource = specified_compaction(item.options.get("datasource"), config)["dataSource"]
    return datasource, config if item.is_present else None


_COORDINATORS = path("druid", "coordinator", "v1", "compaction", "status")


def compaction_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the compaction of the selected datasources, sorted by name, with secrets masked."""
    configs = all_compaction(client)
    statuses = _statuses(client) if params["status"] else {}
    return [
        {
            "datasource": name,
            "config": masked(canonical_compaction(configs[name])),
            **({"status": statuses.get(name)} if params["status"] else {}),
        }
        for name in sorted(configs)
        if params["datasource"] in (None, name)
    ]


def _statuses(client: DruidClient) -> dict[str, Any]:
    list_path = path(*OVERLORDS, "status", "datasources") if is_by_overlord(client) else _COORDINATORS
    return {each["dataSource"]: each for each in (client.get(list_path) or {}).get("latestStatus") or []}
