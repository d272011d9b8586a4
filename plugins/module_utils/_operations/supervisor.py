# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules supervisor and supervisor_info: one supervisor, or many that are read together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import (
    ModuleResult,
    converge_one_of_many,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import (
    SUPERVISORS,
    Supervisor,
    all_specs,
    reset,
    reset_offsets,
    supervisor_path,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    status_of,
    status_or_error,
    summary,
    truncate_errors,
    wait_expression,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, condition, wait_until
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
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_mapping


def ensure_supervisor(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    _check(params)
    many = params["supervisors"] is not None
    specs = all_specs(client) if many else None
    report = ModuleResult("supervisors", "supervisor", "spec")
    seen: set[str] = set()
    for index, item in enumerate(params["supervisors"] if many else [params]):
        try:
            target = _target(client, item, params["state"])
            _reject_duplicate(target, seen)
            _ensure_one(client, target, specs, params, report, check_mode)
        except DruidError as error:
            report.problems.append(f"supervisors[{index}]: {error}" if many else str(error))
    return report.result()


def _check(params: Mapping[str, Any]) -> None:
    """Reject invalid options before anything is sent, so that a failure leaves no partial changes."""
    if params["wait"]:
        condition(params["wait_for"] or "id")
    if params["reset_offsets"] == {}:
        raise InvalidInput("reset_offsets", {}, "set the offsets by partition, or use reset for all partitions")
    if params["state"] == "absent" and (params["reset"] or params["reset_offsets"]):
        raise InvalidInput(
            "reset", True, "offsets cannot be reset with state: absent; reset them first, then remove the supervisor"
        )


def _ensure_one(
    client: DruidClient,
    target: DesiredSupervisor,
    specs: Mapping[str, Any] | None,
    params: Mapping[str, Any],
    report: ModuleResult,
    check_mode: bool,
) -> None:
    supervisor, change = converge_one_of_many(
        lambda preloaded: Supervisor(client, target, preloaded), specs, check_mode=check_mode
    )
    entry = report.add(target.id, change, supervisor.warnings)
    if params["reset"] or params["reset_offsets"]:
        if not check_mode:
            _reset(client, target.id, change.after, params["reset_offsets"])
        entry["changed"] = entry["reset"] = True
    if params["wait"] and not check_mode and change.after is not None:
        entry["status"] = _wait_for_status(client, target.id, change.after, params)


def _reset(client: DruidClient, supervisor: str, spec: Any, offsets: Mapping[str, Any] | None) -> None:
    if offsets is None:
        reset(client, supervisor)
    else:
        reset_offsets(client, supervisor, spec, offsets)


def _wait_for_status(client: DruidClient, supervisor: str, spec: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    expression = params["wait_for"] or wait_expression(spec)
    try:
        status = wait_until(
            lambda: status_or_error(client, supervisor),
            condition(expression),
            timeout=params["wait_timeout"],
            waiting_for=f"supervisor {supervisor!r} to meet {expression}",
        )
    except WaitTimeout as timeout:
        last = hidden(summary(timeout.last), spec)
        raise DruidError(f"{timeout} Last status: {last}.") from None
    return dict(hidden(status, spec))


def _target(client: DruidClient, item: Mapping[str, Any], state: str) -> DesiredSupervisor:
    is_present = (item.get("state") or state) == "present"
    spec = None if item.get("spec") is None else canonical(parse_mapping(item["spec"], "spec"))
    if spec is None:
        if not item.get("id"):
            raise InvalidInput("id", None, "set id or spec")
        return DesiredSupervisor(item["id"], None, item.get("suspended"), is_present)
    # the version is requested only where it matters
    has_own_ids = (
        stream_of(spec) is not None and (spec.get("id") or item.get("id")) is not None and client.supports(*OWN_IDS)
    )
    supervisor = supervisor_id(spec, item.get("id"), has_own_ids=has_own_ids)
    return DesiredSupervisor(
        supervisor, with_id(spec, supervisor, has_own_ids=has_own_ids), _suspension(spec, item), is_present
    )


def _suspension(spec: Mapping[str, Any], item: Mapping[str, Any]) -> bool | None:
    specified, in_spec = item.get("suspended"), spec.get("suspended")
    if specified is not None and in_spec is not None and specified != in_spec:
        raise InvalidInput(
            "suspended", specified, f"the spec has suspended: {str(in_spec).lower()}; set only one of them"
        )
    return specified


def _reject_duplicate(target: DesiredSupervisor, seen: set[str]) -> None:
    if target.id in seen:
        raise InvalidInput("id", target.id, "duplicate id; list each supervisor once")
    seen.add(target.id)


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
        supervisor["status"] = hidden(truncate_errors(payload), spec)
    if params["history"]:
        versions = client.get(supervisor_path(identifier, "history"))
        newest = versions[: params["history"]]
        supervisor["history"] = masked([{**each, "spec": canonical(each.get("spec") or {})} for each in newest])
    return supervisor
