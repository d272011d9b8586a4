# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gate of a rollout on Druid itself: the next group restarts when Druid has recovered from the previous one.

Pods are available before Druid is: segments have yet to be loaded, a leader to be elected, supervisors to start. So the
next group waits until Druid is no worse than at the start of the rollout, which the status of the resource records.
It does not wait indefinitely, nor for a Druid that could not be asked at the start either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._resources.health import Health, State
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_LEADER,
    INVALID,
    NO_ROUTER,
    NOT_CONNECTABLE,
    NOT_READY,
    OVERLORD_LEADER,
    SEGMENTS,
    SUPERVISORS,
    UNAUTHORIZED,
    UNREACHABLE,
    UNSUPPORTED,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.router import ROUTER
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready, seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank, pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# In the status of the rollout: its group is not being restarted, but others wait for its pods.
ONLY_BLOCKS = "onlyBlocks"
# In the status of the rollout: the numbers at its start.
DRUID_BEFORE = "druidBefore"
UNAVAILABLE, MISSING, NOT_RUNNING = "unavailableSegments", "missingReplicas", "supervisorsNotRunning"
# In the order of Health.
_NUMBERS = (UNAVAILABLE, MISSING, NOT_RUNNING)
FIELD = "druidHealthDeadlineSeconds"
DEADLINE_SECONDS = 600
# The groups without which Druid cannot answer a question; of each set one is enough.
_ANSWERED_BY: Mapping[Question[Any], tuple[frozenset[str], ...]] = {
    COORDINATOR_LEADER: (frozenset({"coordinator"}),),
    OVERLORD_LEADER: (frozenset({"overlord", "middleManager", "indexer"}),),
    SUPERVISORS: (frozenset({"overlord", "middleManager", "indexer"}),),
    # The last one, since a Broker of a large cluster may take too long for it.
    SEGMENTS: (frozenset({"broker"}), frozenset({"historical"})),
}
# What is recorded if a question was answered.
_RECORDED: Mapping[Question[Any], str] = {SUPERVISORS: NOT_RUNNING, SEGMENTS: UNAVAILABLE}
_SILENT = (UNREACHABLE, NOT_READY)
_T = TypeVar("_T")


@dataclass(frozen=True)
class DruidGate:
    """What the next group waits for in Druid (empty: it may restart), warnings, and what the status has to record."""

    not_recovered: str = ""
    warnings: tuple[str, ...] = ()
    before: Mapping[str, int] | None = None


OPEN = DruidGate()


def druid_gate(inputs: Inputs, groups: Collection[str], *, is_last: bool = False) -> DruidGate:
    """Return whether these groups, which are next, wait for Druid, which is asked only then.

    `is_last`: no other group follows. If none has been restarted before either, there is nothing to wait for.
    """
    limit, asked = deadline_seconds(inputs.cluster), _questions(inputs.cluster)
    previous = _previous(inputs)
    is_paused = pause_finding(inputs.cluster.annotations, inputs.cluster.spec) is not None
    # The group that was restarted last may need a fix for Druid to recover.
    is_repaired = previous.get("group") in groups and not previous.get(ONLY_BLOCKS)
    is_free = is_repaired or (is_last and not previous)
    if is_paused or is_free or not (limit and asked):
        return OPEN
    druid = inputs.ask(*asked)
    before = previous.get(DRUID_BEFORE)
    warnings = tuple(dict.fromkeys(_unknown(druid, asked, inputs.cluster)))
    if not previous:
        recorded = _before(inputs, druid, asked)
        return DruidGate(warnings=(*warnings, *_not_recorded(druid, asked, recorded)), before=recorded)
    warnings = (*warnings, *_not_recorded(druid, asked, before))
    not_recovered = "; ".join(dict.fromkeys(_not_recovered(inputs, druid, asked, before)))
    if not_recovered and not _is_over(inputs, limit):
        return DruidGate(not_recovered, warnings)
    return DruidGate(warnings=(*warnings, *([_timed_out(not_recovered, limit)] if not_recovered else ())))


def _previous(inputs: Inputs) -> Mapping[str, Any]:
    """Return the rollout in the status, unless none of its groups has been restarted yet."""
    rollout: Mapping[str, Any] = (inputs.resource.get("status") or {}).get("rollout") or {}
    return {} if rollout.get(ONLY_BLOCKS) and DRUID_BEFORE not in rollout else rollout


def waiting_for_druid(not_recovered: str) -> tuple[Finding, ...]:
    """Return the finding for a group that waits for Druid. It is not a problem."""
    message = f"The next group restarts when Druid has recovered: {not_recovered}."
    return (Finding(reasons.WAITING_FOR_DRUID, message, is_problem=False, rank=Rank.WAITING),) if not_recovered else ()


def deadline_seconds(cluster: Cluster) -> int:
    """Return how long a group waits for Druid when all pods are available; 0 if it does not."""
    specified = cluster.get(FIELD)
    return DEADLINE_SECONDS if specified is None else int(specified)


def _questions(cluster: Cluster) -> tuple[Question[Any], ...]:
    types = {group.node_type for group in cluster.groups if not group.stopped}
    if ROUTER not in types and not cluster.endpoint.get("url"):
        return ()
    return tuple(question for question, needed in _ANSWERED_BY.items() if all(types & group for group in needed))


def _not_recovered(
    inputs: Inputs, druid: DruidState, asked: tuple[Question[Any], ...], before: Mapping[str, int] | None
) -> Iterator[str]:
    """Yield what is worse than before; an answer that was never available is not waited for."""
    yield from _unanswered(druid, asked, before)
    if _known(druid, COORDINATOR_LEADER, asked) is False:
        yield "there is no leader of the Coordinators"
    if _known(druid, OVERLORD_LEADER, asked) is False:
        yield "there is no leader of the Overlords"
    known = Health(*((before or {}).get(name) for name in _NUMBERS))
    yield from map(join_limited, _state(inputs, druid, asked).worse_than(known))


def _unanswered(druid: DruidState, asked: tuple[Question[Any], ...], before: Mapping[str, int] | None) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for question in asked:
        answer = druid.answer(question)
        if isinstance(answer, Unavailable) and _blocks(question, answer, before):
            names.setdefault(answer.message.rstrip("."), []).append(question.name)
    for message, unknown in names.items():
        yield f"Druid does not answer about {', '.join(unknown)} ({message})"


def _blocks(question: Question[Any], answer: Unavailable, before: Mapping[str, int] | None) -> bool:
    """True if Druid may answer later: it did at the start of the rollout, or was not asked then.

    What it answered then and refuses now may be the fault of the change, unless the API itself is missing.
    """
    if before is None:
        return answer.cause in _SILENT
    if question in _RECORDED:
        return _RECORDED[question] in before and answer.cause not in (NO_ROUTER, UNSUPPORTED)
    return bool(before) and answer.cause in (*_SILENT, NOT_CONNECTABLE)


def _known(druid: DruidState, question: Question[_T], asked: tuple[Question[Any], ...]) -> _T | None:
    if question not in asked:
        return None
    answer = druid.answer(question)
    return None if isinstance(answer, Unavailable) else answer


def _before(inputs: Inputs, druid: DruidState, asked: tuple[Question[Any], ...]) -> Mapping[str, int] | None:
    """Return what the status records at the start of a rollout: nothing of a silent Druid; None if it is not asked."""
    answers = [druid.answer(question) for question in asked]
    causes = {each.cause for each in answers if isinstance(each, Unavailable)}
    is_unavailable = all(isinstance(each, Unavailable) for each in answers)
    return None if is_unavailable and causes.isdisjoint(_SILENT) else _numbers(inputs, druid, asked)


def _numbers(inputs: Inputs, druid: DruidState, asked: tuple[Question[Any], ...]) -> Mapping[str, int]:
    """Return the numbers that a rollout must not leave higher, as far as they are known."""
    found = zip(_NUMBERS, _state(inputs, druid, asked).health, strict=True)
    return {name: number for name, number in found if number is not None}


def _state(inputs: Inputs, druid: DruidState, asked: tuple[Question[Any], ...]) -> State:
    segments, supervisors = _known(druid, SEGMENTS, asked), _known(druid, SUPERVISORS, asked)
    return State(segments, supervisors, _historicals(inputs))


def _historicals(inputs: Inputs) -> int:
    """Return how many Historicals there are or will be."""
    groups = (group for group in inputs.cluster.groups if group.node_type == "historical")
    return sum(max(group.replicas, inputs.observed.replicas(group) or 0) for group in groups)


def _unknown(druid: DruidState, asked: tuple[Question[Any], ...], cluster: Cluster) -> Iterator[str]:
    """Yield a warning for answers that a change of the resource or of Druid would make available."""
    specifies = bool(cluster.auth or cluster.endpoint)
    for question in asked:
        answer = druid.answer(question)
        if isinstance(answer, Unavailable) and _is_to_be_fixed(answer, specifies):
            yield f"the rollout does not wait for Druid where it cannot be asked: {answer.message}"


def _is_to_be_fixed(answer: Unavailable, specifies: bool) -> bool:
    is_always = answer.cause in (UNAUTHORIZED, INVALID)
    return is_always or (specifies and answer.cause == NOT_CONNECTABLE)


def _not_recorded(
    druid: DruidState, asked: tuple[Question[Any], ...], before: Mapping[str, int] | None
) -> Iterator[str]:
    """Yield a warning for an answer that is missing now, as at the start of the rollout, while Druid gives others."""
    for question, number in _RECORDED.items():
        if not before or question not in asked or number in before:
            continue
        answer = druid.answer(question)
        if isinstance(answer, Unavailable) and answer.cause in _SILENT:
            yield f"the rollout does not wait for {question.name}: {answer.message}"


def _is_over(inputs: Inputs, limit: int) -> bool:
    """True if all pods of the group that was restarted last have been ready for longer than the limit.

    Those of other groups do not count: an autoscaler can add one at any time.
    """
    restarted = ((inputs.resource.get("status") or {}).get("rollout") or {}).get("group")
    groups = [group for group in inputs.cluster.groups if group.key == restarted] or inputs.cluster.groups
    pods = (pod for group in groups for pod in inputs.observed.pods_of(group))
    conditions = ((pod.get("status") or {}).get("conditions") or () for pod in pods)
    ready = (each for condition in conditions if is_ready(condition) for each in condition if each["type"] == "Ready")
    since = max((str(each["lastTransitionTime"]) for each in ready if each.get("lastTransitionTime")), default=None)
    return since is None or seconds_since(since, inputs.now) >= limit


def _timed_out(not_recovered: str, limit: int) -> str:
    return f"Druid has not recovered within {limit} s ({FIELD}), and the rollout goes on: {not_recovered}"
