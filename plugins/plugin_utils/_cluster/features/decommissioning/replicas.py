# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Segments that Druid cannot move, because every Historical that stays in the tier has them already. Pure.

That is only possible with more replicas in a load rule than Historicals stay. A Historical that has no other segments
is empty for the purpose of leaving.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HistoricalServer,
    TooFewServers,
    is_replicated,
    too_few_servers_in,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    LOAD_STATUS,
    RULES,
    VISIBLE,
    DruidState,
    Question,
    Replicated,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    LeavingPod,
    Situation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def replica_questions(situation: Situation, answers: DruidState) -> tuple[Question[Any], ...]:
    """Return what has to be asked about the replicas of segments: first the load rules."""
    if not any(_tiers(situation)):
        return ()
    if RULES not in answers.answers:
        return (RULES,)
    asked = tuple(question for tier in too_few_servers(situation, answers) for question in tier.questions)
    return (VISIBLE, *asked) if asked else ()


def too_few_servers(situation: Situation, answers: DruidState) -> Iterator[TooFewServers]:
    """Yield the tiers in which Druid may not be able to move each segment."""
    rules: Any = answers.answers.get(RULES)
    if rules is None or isinstance(rules, Unavailable):
        return
    for tier in _tiers(situation):
        found = too_few_servers_in(tier, rules, situation.remaining_in(tier), _loaded(situation, tier))
        if found is not None:
            yield found


def _tiers(situation: Situation) -> list[str]:
    """Return the tiers of the pods that are to stop, and have segments."""
    return sorted({each.tier for each in _loaded(situation)})


def _loaded(situation: Situation, tier: str | None = None) -> Iterator[HistoricalServer]:
    for group in situation.groups:
        for pod in group.pods:
            if pod.server is not None and pod.server.used and tier in (pod.server.tier, None):
                yield pod.server


def with_replicas(situation: Situation, answers: DruidState) -> Situation:
    """Return the situation, in which a Historical has nothing to move if each that stays has all of its segments."""
    replicated = {name for tier in too_few_servers(situation, answers) for name in _replicated(tier, answers)}
    groups = tuple(
        replace(group, pods=tuple(_with_server(pod, replicated) for pod in group.pods)) for group in situation.groups
    )
    return replace(situation, groups=groups) if replicated else situation


def _replicated(tier: TooFewServers, answers: DruidState) -> Iterator[str]:
    for server in tier.leaving:
        if is_replicated(server, answers.answers.get(tier.question(server))):
            yield server.name


def _with_server(pod: LeavingPod, replicated: Iterable[str]) -> LeavingPod:
    if pod.server is None or pod.server.name not in replicated:
        return pod
    return replace(pod, server=replace(pod.server, is_replicated=True))


def unknown_replicas(situation: Situation, answers: DruidState, brokers: Iterable[Group]) -> Iterator[str]:
    """Yield why pods may not become empty, for each tier whose segments Druid does not report."""
    for tier in too_few_servers(situation, answers):
        replies = [(server, answers.answers.get(tier.question(server))) for server in tier.leaving]
        missing = next((reply.message for _server, reply in replies if isinstance(reply, Unavailable)), None)
        if missing is None and any(
            isinstance(reply, Replicated) and reply.known < server.used for server, reply in replies
        ):
            missing = next(_hidden(tier, answers, brokers), None)
        if missing is None:
            continue
        number = "a replica on each Historical" if tier.rule.replicas is None else f"{tier.rule.replicas} replicas"
        verb = "stays" if len(tier.staying) == 1 else "stay"
        yield (
            f"The load rules of {tier.rule.datasource} require {number} in tier {tier.tier}, in which "
            f"{', '.join(tier.staying)} {verb}. Druid cannot move a segment that all of these have, and does not "
            f"report which they have: {missing} Or specify fewer replicas in the load rules, or more pods of the group."
        )


def _hidden(tier: TooFewServers, answers: DruidState, brokers: Iterable[Group]) -> Iterator[str]:
    """Yield what keeps a Broker from reporting segments, as far as the resource or Druid shows it."""
    for group in brokers:
        specified = group.properties
        for name, is_excluding in _WATCHED.items():
            listed = _json_list(specified.get(name))
            if listed is not None and (tier.tier in listed) == is_excluding:
                change = "remove it" if is_excluding else "add it"
                yield f"{name} of group {group.key} keeps its Brokers from knowing tier {tier.tier}: {change}."
    every, visible = answers.answers.get(LOAD_STATUS), answers.answers.get(VISIBLE)
    if isinstance(every, Mapping) and isinstance(visible, frozenset) and (hidden := sorted({*every} - visible)):
        yield (
            f"the user of spec.auth may not read datasource {join_limited(hidden)}, or no Broker watches it: grant the "
            "permission READ on each DATASOURCE."
        )


# The settings of a Broker that limit the tiers that it knows, and whether they list those that it ignores.
_WATCHED = {"druid.broker.segment.watchedTiers": False, "druid.broker.segment.ignoredTiers": True}


def _json_list(text: str | None) -> list[Any] | None:
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, list) else None
