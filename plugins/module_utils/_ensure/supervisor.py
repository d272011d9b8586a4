# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module supervisor does: one supervisor, or many that are read together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._converge import converge_one_of_many
from ansible_collections.druidops.druid.plugins.module_utils._ensure.report import Report
from ansible_collections.druidops.druid.plugins.module_utils._errors import BadInput, DruidError
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import Supervisor, all_specs
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_offsets import reset, reset_offsets
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    awaited,
    status_or_error,
    summary,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.stream import stream_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_change import Wanted
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor_id import (
    OWN_IDS,
    supervisor_id,
    with_id,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.text import mapping_of
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import hidden
from ansible_collections.druidops.druid.plugins.module_utils._wait import TimedOut, condition, wait_until


def ensure(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module. One that fails does not stop the others; Incomplete is raised then."""
    _check(params)
    many = params["supervisors"] is not None
    specs = all_specs(client) if many else None
    report = Report("supervisors", "supervisor", "spec")
    seen: set[str] = set()
    for index, item in enumerate(params["supervisors"] if many else [params]):
        try:
            wanted = _wanted(client, item, params["state"])
            _refuse_twice(wanted, seen)
            _ensure_one(client, wanted, specs, params, report, check_mode)
        except DruidError as error:
            report.problems.append(f"supervisors[{index}]: {error}" if many else str(error))
    return report.result()


def _check(params: Mapping[str, Any]) -> None:
    """Refuse, before anything is sent, what could only be refused after something was done."""
    if params["wait"]:
        condition(params["wait_for"] or "id")
    if params["reset_offsets"] == {}:
        raise BadInput("reset_offsets", {}, "name partitions and their offsets, or use reset for all of them")
    if params["state"] == "absent" and (params["reset"] or params["reset_offsets"]):
        raise BadInput("reset", True, "offsets are reset of a supervisor that is there: reset it, and remove it later")


def _ensure_one(
    client: DruidClient,
    wanted: Wanted,
    specs: Mapping[str, Any] | None,
    params: Mapping[str, Any],
    report: Report,
    check_mode: bool,
) -> None:
    supervisor, change = converge_one_of_many(
        lambda together: Supervisor(client, wanted, together), specs, check_mode=check_mode
    )
    entry = report.add(wanted.id, change, supervisor.warnings)
    if params["reset"] or params["reset_offsets"]:
        if not check_mode:
            _reset(client, wanted.id, change.after, params["reset_offsets"])
        entry["changed"] = entry["reset"] = True
    if params["wait"] and not check_mode and change.after is not None:
        entry["status"] = _waited(client, wanted.id, change.after, params)


def _reset(client: DruidClient, supervisor: str, spec: Any, offsets: Mapping[str, Any] | None) -> None:
    if offsets is None:
        reset(client, supervisor)
    else:
        reset_offsets(client, supervisor, spec, offsets)


def _waited(client: DruidClient, supervisor: str, spec: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    expression = params["wait_for"] or awaited(spec)
    try:
        status = wait_until(
            lambda: status_or_error(client, supervisor),
            condition(expression),
            timeout=params["wait_timeout"],
            awaited=f"{expression} of supervisor {supervisor!r}",
        )
    except TimedOut as timeout:
        last = hidden(summary(timeout.last), spec)
        raise DruidError(f"{timeout} At last {last}.") from None
    return dict(hidden(status, spec))


def _wanted(client: DruidClient, item: Mapping[str, Any], state: str) -> Wanted:
    is_present = (item.get("state") or state) == "present"
    spec = None if item.get("spec") is None else canonical(mapping_of(item["spec"], "spec"))
    if spec is None:
        if not item.get("id"):
            raise BadInput("id", None, "name the supervisor by its id, or state its spec")
        return Wanted(item["id"], None, item.get("suspended"), is_present)
    # one request for the version, and only where the answer matters
    has_own_ids = (
        stream_of(spec) is not None and (spec.get("id") or item.get("id")) is not None and client.supports(*OWN_IDS)
    )
    supervisor = supervisor_id(spec, item.get("id"), has_own_ids=has_own_ids)
    return Wanted(supervisor, with_id(spec, supervisor, has_own_ids=has_own_ids), _suspension(spec, item), is_present)


def _suspension(spec: Mapping[str, Any], item: Mapping[str, Any]) -> bool | None:
    stated, in_spec = item.get("suspended"), spec.get("suspended")
    if stated is not None and in_spec is not None and stated != in_spec:
        raise BadInput("suspended", stated, f"the spec says suspended: {str(in_spec).lower()}; state one of them")
    return stated


def _refuse_twice(wanted: Wanted, seen: set[str]) -> None:
    if wanted.id in seen:
        raise BadInput("id", wanted.id, "another one before has this id; one supervisor has one spec")
    seen.add(wanted.id)
