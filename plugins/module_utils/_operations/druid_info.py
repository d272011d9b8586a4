# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module druid_info: what a Druid consists of, and whether it is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.services import (
    COORDINATOR,
    OVERLORD,
    leader,
    load_status,
    servers,
    workers,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, condition, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, PartialFailure


def druid_info(client: DruidClient, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Druid consists of. With ``wait``, PartialFailure if it does not meet the condition in time."""
    expression, services = params["wait_for"], params["services"]
    if expression and not params["wait"]:
        raise InvalidInput("wait_for", expression, "it has no effect without wait: true")
    is_met = condition(expression) if expression else _is_ready
    with client.probing() as probe:
        if not params["wait"]:
            return _info(client, probe, services)
        try:
            info: dict[str, Any] = wait_until(
                lambda: _info_or_problem(probe, services),
                lambda status: _meets(is_met, status),
                timeout=params["wait_timeout"],
                waiting_for=f"Druid to meet {expression}" if expression else "Druid to be ready",
            )
        except WaitTimeout as timeout:
            raise PartialFailure(" ".join([str(timeout), *timeout.last["problems"]]), timeout.last) from None
    return info


def _is_ready(info: Mapping[str, Any]) -> bool:
    return not info["problems"]


def _meets(is_met: Callable[[Any], bool], info: Mapping[str, Any]) -> bool:
    """Return whether a condition is met. It cannot be evaluated while a part of Druid does not respond."""
    try:
        return is_met(info)
    except InvalidInput:
        if _is_ready(info):
            raise
        return False


def _info_or_problem(probe: DruidClient, services: list[str]) -> dict[str, Any]:
    """Return what Druid consists of, or only the problem while it is starting."""
    try:
        return _info(probe, probe, services)
    except ServerError as error:
        problem = str(error)
    except Unreachable as error:
        if not (error.is_transient or error.is_timeout):
            raise
        problem = str(error)
    return {"changed": False, "ready": False, "problems": [problem]}


def _info(client: DruidClient, probe: DruidClient, services: list[str]) -> dict[str, Any]:
    """Return what Druid consists of. A part that cannot be read because a service does not run is null, and a problem.

    ``client``: for the one that any server responds to. ``probe``: for the others, so that no retries add up.
    """
    problems: list[str] = []

    def part(read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return read(probe, *arguments)
        except (ServerError, Unreachable) as error:
            problems.append(str(error))
            return None

    # first, since a server that is not Druid may respond to /status
    leaders = {"coordinator": part(leader, COORDINATOR), "overlord": part(leader, OVERLORD)}
    status = client.get("/status")
    info = {
        "version": status["version"],
        "extensions": sorted({each["artifact"] for each in status.get("modules") or [] if each.get("artifact")}),
        "leaders": leaders,
        "servers": part(servers),
        "load_status": part(load_status),
        "workers": part(workers),
    }
    found = dict.fromkeys([*problems, *_problems(info, services)])
    return {"changed": False, "ready": not found, "problems": [*found], **info, "slots": _slots(info["workers"])}


def _slots(workers: list[dict[str, Any]] | None) -> dict[str, int] | None:
    if workers is None:
        return None
    return {name: sum(each[name] for each in workers) for name in ("capacity", "used", "free")}


def _problems(info: Mapping[str, Any], services: list[str]) -> Iterator[str]:
    for service, address in info["leaders"].items():
        if address is None:
            yield f"There is no leader of the {service.capitalize()}s."
    if info["servers"] is not None:
        types = {each["type"] for each in info["servers"]}
        yield from (f"There is no server of type {service}." for service in services if service not in types)
    load_status = info["load_status"] or {}
    if None in load_status.values():
        yield "It is not known yet which segments are loaded: the Coordinator has just become the leader."
    for datasource, missing in sorted(load_status.items()):
        if missing:
            yield f"{missing} segments of datasource {datasource!r} are not loaded."
