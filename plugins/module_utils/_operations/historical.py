# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module historical: Historicals that are decommissioned until they are empty, or active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_leaving import wait_for_leaving
from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import AUTHOR
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.historical import (
    ACTIVE,
    REDUNDANT,
    HistoricalState,
    historical_named,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput


def ensure_historical(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    audit(params["author"], params["comment"])
    report = ModuleResult("historicals", "Historical", "status", items_of(params, "historicals"), id="server")
    leaving: list[tuple[Item, HistoricalState]] = []
    for item in report.items:
        with report.part_of(item):
            historical = _ensure_one(client, item, params, report, check_mode)
            state, waits = item.options["state"], params["wait"] and not check_mode
            if state == REDUNDANT and not waits:
                _require_redundancy(item, historical)
            elif state != ACTIVE and waits:
                leaving.append((item, historical))
    if leaving:
        wait_for_leaving(leaving, report, params["wait_timeout"])
        for item, historical in leaving:
            item.result["size"] = historical.left
    return report.result()


def _require_redundancy(item: Item, historical: HistoricalState) -> None:
    if awaited := historical.awaited():
        name = item.result["server"]
        raise DruidError(f"Historical {name} cannot be stopped without an effect: {awaited}. {historical.remedy}")


def _ensure_one(
    client: DruidClient, item: Item, params: Mapping[str, Any], report: ModuleResult, check_mode: bool
) -> HistoricalState:
    state = item.options.get("state")
    if state is None:
        raise InvalidInput("state", NOT_SET, "set redundant, decommissioned or active")
    name = historical_named(client, item.options.get("server"), state)
    report.identify(item, name)
    comment = params["comment"] or f"{name} {state}".encode("ascii", "backslashreplace").decode()
    historical = HistoricalState(client, name, state, params["author"] or AUTHOR, comment)
    change = converge(historical, check_mode=check_mode)
    server, by = historical.server, historical.added_by
    item.result.update(
        tier=server.tier if server else None,
        size=historical.left,
        decommissioned_by=by._asdict() if by else None,
    )
    report.record(item, change, historical.warnings)
    return historical
