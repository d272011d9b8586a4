# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module worker: MiddleManagers and Indexers that are enabled, or disabled until they are idle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_leaving import wait_for_leaving
from ansible_collections.druidops.druid.plugins.module_utils._resources.worker import (
    DISABLED,
    WorkerState,
    worker_named,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput


def ensure_worker(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    report = ModuleResult("workers", "worker", "status", items_of(params, "workers"), id="server")
    disabled: list[tuple[Item, WorkerState]] = []
    for item in report.items:
        with report.part_of(item):
            worker = _ensure_one(client, item, report, check_mode)
            if item.options["state"] == DISABLED and params["wait"] and not check_mode:
                disabled.append((item, worker))
    if disabled:
        wait_for_leaving(disabled, report, params["wait_timeout"])
        for item, worker in disabled:
            item.result["tasks"] = [*worker.tasks]
            if not worker.tasks and "task_groups" in item.result["status"]:
                item.result["status"]["task_groups"] = {}
    return report.result()


def _ensure_one(client: DruidClient, item: Item, report: ModuleResult, check_mode: bool) -> WorkerState:
    state = item.options.get("state")
    if state is None:
        raise InvalidInput("state", NOT_SET, "set enabled or disabled")
    name = worker_named(client, item.options.get("server")).name
    report.identify(item, name)
    worker = WorkerState(client, name, state, requests_handoff=item.options["hand_off"])
    change = converge(worker, check_mode=check_mode)
    item.result["tasks"] = [*worker.tasks]
    report.record(item, change, worker.warnings)
    return worker
