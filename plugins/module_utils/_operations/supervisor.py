# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules supervisor and supervisor_info: one supervisor, or many that are read together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge_one_of_many
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.partitions import check_partitions
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import (
    SUPERVISORS,
    Supervisor,
    all_specs,
    reset,
    reset_offsets,
    supervisor_path,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_start import SupervisorStarts
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    status_of,
    status_or_error,
    summary,
    truncate_errors,
    wait_expression,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, condition
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden, masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import (
    OWN_IDS,
    datasource_of,
    supervisor_id,
    with_id,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    DesiredSupervisor,
    canonical,
    stream_of,
    supervisor_warnings,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput


def ensure_supervisor(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    if params["wait"]:
        # before anything is sent
        condition(params["wait_for"] or "id")
    specs = None if params["supervisors"] is None else all_specs(client)
    # the waits for the starts of many supervisors overlap
    starts = None if specs is None else SupervisorStarts(client)
    report = ModuleResult("supervisors", "supervisor", "spec", items_of(params, "supervisors"))
    waits: list[tuple[Item, Any, Wait]] = []
    for item in report.items:
        with report.part_of(item):
            spec = _ensure_one(client, item, (specs, starts), report, check_mode)
            if params["wait"] and not check_mode and spec is not None:
                waits.append((item, spec, _wait_for(client, item.result["id"], spec, params["wait_for"])))
    wait_for_all([wait for _item, _spec, wait in waits], params["wait_timeout"])
    for item, spec, wait in waits:
        with report.part_of(item):
            item.result["status"] = _status(wait, spec)
    return report.result()


def _ensure_one(
    client: DruidClient,
    item: Item,
    of_all: tuple[Mapping[str, Any] | None, SupervisorStarts | None],
    report: ModuleResult,
    check_mode: bool,
) -> Any:
    """Converge a supervisor and reset its offsets. Return its spec, None if it does not exist."""
    offsets = _offsets(item)
    target = _target(client, item)
    report.identify(item, target.id)
    unchecked = check_partitions(client, target.id, offsets) if offsets else ""
    (specs, starts), keeps = of_all, item.options.get("orphaned_tasks") == "keep"
    supervisor, change = converge_one_of_many(
        lambda preloaded: Supervisor(client, target, preloaded, starts, keeps_orphaned_tasks=keeps),
        specs,
        check_mode=check_mode,
        is_strict=item.is_strict,
    )
    report.record(item, change, [*supervisor.warnings, *([unchecked] if unchecked else [])])
    if change.before is not None and change.now is None:
        shut_down = supervisor.predict_orphaned_tasks(change.before) if check_mode else supervisor.orphaned_tasks
        item.result["orphaned_tasks"] = list(shut_down)
    if item.options.get("reset") or offsets:
        if not check_mode:
            _reset(client, target.id, change.now, offsets)
        item.result["changed"] = item.result["reset"] = True
    return change.now


def _offsets(item: Item) -> dict[str, Any] | None:
    """Return the offsets to set. InvalidInput for resets that are not possible."""
    offsets: dict[str, Any] | None = document_of(item.options, "reset_offsets")
    if offsets == {}:
        raise InvalidInput("reset_offsets", {}, "set the offsets by partition, or use reset for all partitions")
    if not item.is_present and (item.options.get("reset") or offsets):
        raise InvalidInput(
            "reset", True, "offsets cannot be reset with state: absent; reset them first, then remove the supervisor"
        )
    return offsets


def _reset(client: DruidClient, supervisor: str, spec: Any, offsets: Mapping[str, Any] | None) -> None:
    if offsets is None:
        reset(client, supervisor)
    else:
        reset_offsets(client, supervisor, spec, offsets)


def _wait_for(client: DruidClient, supervisor: str, spec: Any, wait_for: str | None) -> Wait:
    expression = wait_for or wait_expression(spec)
    return Wait(
        lambda: status_or_error(client, supervisor),
        condition(expression),
        f"supervisor {supervisor!r} to meet {expression}",
    )


def _status(wait: Wait, spec: Any) -> dict[str, Any]:
    try:
        return dict(hidden(wait.outcome(), spec))
    except WaitTimeout as timeout:
        last = hidden(summary(timeout.last), spec)
        raise DruidError(f"{timeout} Last status: {last}.") from None


def _target(client: DruidClient, item: Item) -> DesiredSupervisor:
    specified, identifier = document_of(item.options, "spec"), item.options.get("id")
    if specified is None:
        if not identifier:
            raise InvalidInput("id", NOT_SET, "set id or spec")
        return DesiredSupervisor(identifier, None, item.options.get("suspended"), item.is_present)
    spec = canonical(specified)
    # the version is requested only where it matters
    requested = spec.get("id") or identifier
    has_own_ids = (
        stream_of(spec) is not None and requested not in (None, datasource_of(spec)) and client.supports(*OWN_IDS)
    )
    supervisor = supervisor_id(spec, identifier, has_own_ids=has_own_ids)
    return DesiredSupervisor(
        supervisor,
        with_id(spec, supervisor, has_own_ids=has_own_ids),
        _suspension(spec, item.options.get("suspended")),
        item.is_present,
        supervisor_warnings(specified),
        specified,
    )


def _suspension(spec: Mapping[str, Any], specified: bool | None) -> bool | None:
    in_spec = spec.get("suspended")
    if specified is not None and in_spec is not None and specified != in_spec:
        raise InvalidInput(
            "suspended", specified, f"the spec has suspended: {str(in_spec).lower()}; set only one of them"
        )
    return specified


def supervisor_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected supervisors, sorted by id, with secrets masked."""
    found = client.get(SUPERVISORS, params={"full": "true"})
    entries = [(_entry(each), each["spec"]) for each in sorted(found, key=lambda each: str(each["id"]))]
    return [_with_more(client, each, spec, params) for each, spec in entries if _is_selected(each, params)]


def _entry(supervisor: Mapping[str, Any]) -> dict[str, Any]:
    spec = canonical(supervisor["spec"])
    return {
        "id": supervisor["id"],
        "type": spec.get("type"),
        "datasource": datasource_of(spec),
        # the field suspended of the list itself is always false
        "suspended": bool(spec.get("suspended")),
        "state": supervisor.get("state"),
        "detailed_state": supervisor.get("detailedState"),
        "healthy": supervisor.get("healthy"),
        "spec": masked(spec),
    }


def _is_selected(supervisor: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    states = (supervisor["state"], supervisor["detailed_state"])
    return (
        params["id"] in (None, supervisor["id"])
        and params["datasource"] in (None, supervisor["datasource"])
        and (params["state"] is None or params["state"] in states)
    )


def _with_more(
    client: DruidClient, supervisor: dict[str, Any], spec: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    identifier = supervisor["id"]
    if params["status"]:
        payload = status_of(client, identifier).get("payload") or {}
        supervisor["lag"] = payload.get("aggregateLag")
        supervisor["status"] = truncate_errors(hidden(payload, spec))
    if params["history"]:
        versions = client.get(supervisor_path(identifier, "history"))
        newest = versions[: params["history"]]
        supervisor["history"] = masked([{**each, "spec": canonical(each.get("spec") or {})} for each in newest])
    return supervisor
