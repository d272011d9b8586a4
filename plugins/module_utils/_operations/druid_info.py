# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module druid_info: what a Druid consists of, and whether it is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, condition, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure

_COORDINATOR, _OVERLORD = ("druid", "coordinator", "v1"), ("druid", "indexer", "v1")
_SIMPLE = {"simple": True}


def druid_info(client: DruidClient, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Druid consists of. With ``wait``, PartialFailure if it does not meet the condition in time."""
    is_met = condition(params["wait_for"]) if params["wait"] and params["wait_for"] else _is_ready
    with client.probing() as probe:
        if not params["wait"]:
            return _info(client, probe, params["services"])
        try:
            info: dict[str, Any] = wait_until(
                lambda: _info_or_problem(probe, params["services"]),
                is_met,
                timeout=params["wait_timeout"],
                waiting_for=f"Druid to meet {params['wait_for']}" if params["wait_for"] else "Druid to be ready",
            )
        except WaitTimeout as timeout:
            raise PartialFailure(" ".join([str(timeout), *timeout.last["problems"]]), timeout.last) from None
    return info


def _is_ready(info: Mapping[str, Any]) -> bool:
    return not info["problems"]


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

    def part(read: Callable[[DruidClient], Any]) -> Any:
        try:
            return read(probe)
        except (ServerError, Unreachable) as error:
            problems.append(str(error))
            return None

    # first, since a server that is not Druid may respond to /status
    leaders = {
        "coordinator": part(lambda druid: _leader(druid, _COORDINATOR)),
        "overlord": part(lambda druid: _leader(druid, _OVERLORD)),
    }
    status = client.get("/status")
    info = {
        "version": status["version"],
        "extensions": sorted({each["artifact"] for each in status.get("modules") or [] if each.get("artifact")}),
        "leaders": leaders,
        "servers": part(_servers),
        "load_status": part(lambda druid: druid.get(path(*_COORDINATOR, "loadstatus"), params=_SIMPLE)),
        "workers": part(_workers),
    }
    found = dict.fromkeys([*problems, *_problems(info, services)])
    return {"changed": False, "ready": not found, "problems": [*found], **info, "slots": _slots(info["workers"])}


def _leader(client: DruidClient, service: tuple[str, ...]) -> str | None:
    try:
        return str(client.get(path(*service, "leader")))
    except NotFound:
        return None


def _servers(client: DruidClient) -> list[dict[str, Any]]:
    """Return the servers that Druid has discovered, with the capacity of those that load segments."""
    loading = {each["host"]: each for each in client.get(path(*_COORDINATOR, "servers"), params=_SIMPLE)}
    found = [
        (kind, _address(node)) for kind, nodes in client.get(path(*_COORDINATOR, "cluster")).items() for node in nodes
    ]
    return [
        {
            "server": server,
            "type": kind,
            **{
                name: loading.get(server, {}).get(field)
                for name, field in (("tier", "tier"), ("size", "currSize"), ("max_size", "maxSize"))
            },
        }
        for kind, server in sorted(found)
    ]


def _address(node: Mapping[str, Any]) -> str:
    ports = (node.get("plaintextPort"), node.get("tlsPort"))
    return f"{node['host']}:{next((port for port in ports if port and port > 0), '')}"


def _workers(client: DruidClient) -> list[dict[str, Any]]:
    return [_worker(each) for each in client.get(path(*_OVERLORD, "workers"))]


def _worker(found: Mapping[str, Any]) -> dict[str, Any]:
    worker, used = found["worker"], found.get("currCapacityUsed") or 0
    # the Overlord assigns no tasks to a worker with an empty version
    is_enabled, capacity = bool(worker.get("version")), worker.get("capacity") or 0
    return {
        "server": worker["host"],
        "category": worker.get("category"),
        "enabled": is_enabled,
        "capacity": capacity,
        "used": used,
        "free": max(0, capacity - used) if is_enabled else 0,
    }


def _slots(workers: list[dict[str, Any]] | None) -> dict[str, int] | None:
    if workers is None:
        return None
    return {name: sum(each[name] for each in workers) for name in ("capacity", "used", "free")}


def _problems(info: Mapping[str, Any], services: list[str]) -> Iterator[str]:
    for service, leader in info["leaders"].items():
        if leader is None:
            yield f"There is no leader of the {service.capitalize()}s."
    if info["servers"] is not None:
        types = {each["type"] for each in info["servers"]}
        yield from (f"There is no server of type {service}." for service in services if service not in types)
    for datasource, missing in sorted((info["load_status"] or {}).items()):
        if missing:
            yield f"{missing} segments of datasource {datasource!r} are not loaded."
