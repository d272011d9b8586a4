# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module druid_info: what a Druid consists of, and whether it is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.answers import answers
from ansible_collections.druidops.druid.plugins.module_utils._resources.health import Health, State
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    SEGMENTS,
    SUPERVISORS,
    UNREACHABLE,
    UNSUPPORTED,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.services import (
    COORDINATOR,
    OVERLORD,
    leader,
    load_status,
    matching,
    servers,
    workers,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, condition, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, PartialFailure


class _Required(NamedTuple):
    """What a Druid that is ready has: a server of each type, and these servers.

    ``health``: whether to read it. ``baseline``: the health that it must not be worse than, with the number of
    Historicals, None if all segments must be loaded.
    """

    services: list[str]
    servers: list[str]
    health: bool
    baseline: Mapping[str, int | None] | None


def druid_info(client: DruidClient, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Druid consists of. With ``wait``, PartialFailure if it does not meet the condition in time."""
    expression = params["wait_for"]
    if expression and not params["wait"]:
        raise InvalidInput("wait_for", expression, "it has no effect without wait: true")
    required = _required(params)
    is_met = condition(expression) if expression else _is_ready
    with client.probing() as probe:
        if not params["wait"]:
            return _info(client, probe, required)
        try:
            info: dict[str, Any] = wait_until(
                lambda: _info_or_problem(probe, required),
                lambda status: _meets(is_met, status),
                timeout=params["wait_timeout"],
                waiting_for=f"Druid to meet {expression}" if expression else "Druid to be ready",
            )
        except WaitTimeout as timeout:
            raise PartialFailure(" ".join([str(timeout), *timeout.last["problems"]]), timeout.last) from None
    return info


def _required(params: Mapping[str, Any]) -> _Required:
    baseline = params["baseline"]
    for name, value in (baseline or {}).items():
        if name not in _HEALTH or not (value is None or (isinstance(value, int) and not isinstance(value, bool))):
            raise InvalidInput("baseline", baseline, "pass the health that an earlier call with health: true returned")
    return _Required(params["services"], params["servers"] or [], params["health"] or baseline is not None, baseline)


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


def _info_or_problem(probe: DruidClient, required: _Required) -> dict[str, Any]:
    """Return what Druid consists of, or only the problem while it is starting."""
    try:
        return _info(probe, probe, required)
    except ServerError as error:
        problem = str(error)
    except Unreachable as error:
        if not (error.is_transient or error.is_timeout):
            raise
        problem = str(error)
    return {"changed": False, "ready": False, "problems": [problem]}


def _info(client: DruidClient, probe: DruidClient, required: _Required) -> dict[str, Any]:
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
    problems += _problems(info, required)
    # a query of all segments, which a Broker of a large Druid takes long for: the last one
    health = _health(probe, info, required, problems) if required.health else {}
    found = [*dict.fromkeys(problems)]
    return {"changed": False, "ready": not found, "problems": found, **info, "slots": _slots(info["workers"]), **health}


def _slots(workers: list[dict[str, Any]] | None) -> dict[str, int] | None:
    if workers is None:
        return None
    return {name: sum(each[name] for each in workers) for name in ("capacity", "used", "free")}


def _problems(info: Mapping[str, Any], required: _Required) -> Iterator[str]:
    for service, address in info["leaders"].items():
        if address is None:
            yield f"There is no leader of the {service.capitalize()}s."
    if info["servers"] is not None:
        types = {each["type"] for each in info["servers"]}
        yield from (f"There is no server of type {service}." for service in required.services if service not in types)
        yield from _missing(info["servers"], info["workers"], required.servers)
    load_status = info["load_status"] or {}
    if required.baseline and required.baseline.get("unavailable_segments") is not None:
        # a Broker knows it better, and now
        return
    if None in load_status.values():
        yield "It is not known yet which segments are loaded: the Coordinator has just become the leader."
    for datasource, missing in sorted(load_status.items()):
        if missing:
            yield f"{missing} segments of datasource {datasource!r} are not loaded."


def _missing(servers: list[dict[str, Any]], workers: list[dict[str, Any]] | None, names: list[str]) -> Iterator[str]:
    """Yield what is missing of servers that have to be there: a worker also has to be known to the Overlord."""
    types = {each["server"]: each["type"] for each in servers}
    known = {each["server"]: each["enabled"] for each in workers or ()}
    for name in names:
        found = matching(name, types)
        if not found:
            yield f"Server {name} has not announced itself."
        for server in found if workers is not None else ():
            if types[server] in _WORKERS and not known.get(server):
                yield f"Worker {server} is {'disabled' if server in known else 'not known to the Overlord'}."


_WORKERS = ("middleManager", "indexer")
_HISTORICALS = "historicals"
_HEALTH = (*Health._fields, _HISTORICALS)
_RECORDED: Mapping[Question[Any], str] = {SEGMENTS: "unavailable_segments", SUPERVISORS: "supervisors_not_running"}


def _health(
    probe: DruidClient, info: Mapping[str, Any], required: _Required, problems: list[str]
) -> dict[str, dict[str, int | None]]:
    """Return the numbers that a restart must not leave higher. What is worse than the baseline is added to problems."""
    baseline = dict(required.baseline or {})
    historicals = sum(each["type"] == "historical" for each in info["servers"] or ())
    druid = DruidState(answers(probe, _RECORDED))
    problems += _unanswered(druid, baseline)
    segments, supervisors = druid.answer(SEGMENTS), druid.answer(SUPERVISORS)
    state = State(
        None if isinstance(segments, Unavailable) else segments,
        None if isinstance(supervisors, Unavailable) else supervisors,
        # one that is missing now has to come back
        max(historicals, baseline.pop(_HISTORICALS, None) or 0),
    )
    if required.baseline is not None:
        worse = state.worse_than(Health(**baseline))
        problems += [f"{text[0].upper()}{text[1:]}." for texts in worse for text in texts]
    return {"health": {**state.health._asdict(), _HISTORICALS: historicals}}


def _unanswered(druid: DruidState, baseline: Mapping[str, int | None]) -> Iterator[str]:
    """Yield why there is no answer, if Druid may answer later, or has done so before."""
    for question, number in _RECORDED.items():
        answer = druid.answer(question)
        if isinstance(answer, Unavailable):
            has_answered = baseline.get(number) is not None and answer.cause != UNSUPPORTED
            if has_answered or answer.cause == UNREACHABLE:
                yield answer.message
