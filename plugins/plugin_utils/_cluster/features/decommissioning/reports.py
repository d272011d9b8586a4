# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the status and events report about a decommissioning: progress, what is wrong, and a Druid that is silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    TooSmall,
    standstill,
    stops_moves,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import COORDINATOR_CONFIG, Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decommission import (
    Decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    Entry,
    recorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.replicas import (
    unknown_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.shrinking_groups import (
    LIST,
    druid_state,
    situation,
    unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import STRATEGY
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.router import ROUTER
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange


def decommission_findings(decided: Decommission, inputs: Inputs) -> tuple[Finding, ...]:
    """Return what is under way or wrong. It blocks nothing else of the group."""
    if inputs.cluster.stopped:
        return ()
    return (*_unanswered(decided, inputs), *_of_groups(decided, inputs), *_of_names(decided))


def _unanswered(decided: Decommission, inputs: Inputs) -> Iterator[Finding]:
    """Yield a finding for each group with pods that stay, or with names, because Druid does not answer."""
    missing = unavailable(inputs)
    if missing is None:
        return
    silence = silence_of(missing, decided.record, inputs)
    for key in dict.fromkeys(entry.group for entry in decided.record):
        entries = [entry for entry in decided.record if entry.group == key]
        pods = sorted({entry.pod for entry in entries} & decided.staying)
        names = sorted({entry.server for entry in entries if _is_left(entry) and entry.server})
        if pods:
            effect = f"Group {key}: {_listed(pods, 'stays', 'stay')} until Druid answers."
        elif names:
            effect = f"Group {key}: {_listed(names, 'is', 'are')} still in {LIST}, until Druid answers."
        else:
            continue
        message = silence.message_of(effect, bool(pods))
        rank = Rank.NOTE if silence.is_problem else Rank.WAITING
        yield Finding(silence.reason, message, key, silence.is_problem, rank=rank)


def _listed(names: Iterable[str], one: str, several: str) -> str:
    listed = [*names]
    return f"{join_limited(listed)} {one if len(listed) == 1 else several}"


def _of_groups(decided: Decommission, inputs: Inputs) -> Iterator[Finding]:
    for key, number in decided.replicas.items():
        entries = [entry for entry in decided.record if entry.group == key and entry.pod in decided.staying]
        if not entries:
            continue
        if key in decided.too_small:
            yield Finding(reasons.TIER_TOO_SMALL, _too_small(key, decided.too_small[key]), key)
        elif key in decided.late:
            cause = _cause(decided, inputs)
            yield Finding(reasons.DECOMMISSION_TIMED_OUT, _late(key, decided.late[key], entries, cause), key)
        pods = join_limited(_progress(entry) for entry in _by_pod(entries))
        message = f"Group {key} keeps {number} pods until Druid has moved the segments of those that stop: {pods}."
        setting = _stops_moves(inputs)
        message += f" {_unknown(decided.unknown)}" if decided.unknown else ""
        message += f" {standstill(setting)}" if setting is not None else ""
        message += "".join(f" {text}" for text in _unreported(inputs))
        yield Finding(reasons.DECOMMISSIONING_HISTORICALS, message, key, is_problem=False, rank=Rank.KEEPS_PODS)


def _of_names(decided: Decommission) -> Iterator[Finding]:
    """Yield a finding for each group with names all of whose pods have stopped, or stay after all."""
    held = {entry.group for entry in decided.record if entry.pod in decided.staying}
    left = [entry for entry in decided.record if _is_left(entry) and entry.group not in held]
    for key in dict.fromkeys(entry.group for entry in left):
        names = sorted({entry.server for entry in left if entry.group == key and entry.server})
        until = "its pod is" if len(names) == 1 else "their pods are"
        message = f"Group {key}: {_listed(names, 'is', 'are')} removed from {LIST} when {until} deleted."
        yield Finding(reasons.DECOMMISSIONING_HISTORICALS, message, key, is_problem=False, rank=Rank.KEEPS_PODS)


def _is_left(entry: Entry) -> bool:
    """True if the name may be in Druid's list because of us, as far as is known."""
    return entry.is_ours and not entry.is_removed


def _by_pod(entries: Iterable[Entry]) -> Iterable[Entry]:
    return {entry.pod: entry for entry in reversed([*entries])}.values()


def _progress(entry: Entry) -> str:
    if entry.empty_since:
        state = "nothing to move" if entry.bytes is not None else "not ready, and unknown to Druid,"
        return f"{entry.pod} ({state} since {entry.empty_since})"
    size = f"{size_text(entry.bytes)} left" if entry.bytes is not None else "not known to Druid"
    return f"{entry.pod} ({size}, since {entry.started_at})"


_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size: int) -> str:
    """Return a number of bytes with a unit."""
    number, position = float(size), 0
    while number >= 1024 and position < len(_UNITS) - 1:
        number, position = number / 1024, position + 1
    digits = 1 if position and number < 100 else 0
    return f"{number:.{digits}f} {_UNITS[position]}"


def _too_small(key: str, tier: TooSmall) -> str:
    return (
        f"Group {key}: no pod stops, because the segments of tier {tier.tier} have {size_text(tier.used)}, and the "
        f"Historicals that remain in it have room for {size_text(tier.capacity)}. Specify more replicas, more room "
        "(druid.segmentCache.locations), or fewer replicas of segments in the load rules."
    )


def _late(key: str, pods: Iterable[str], entries: Iterable[Entry], cause: str) -> str:
    late = {*pods}
    own = (entry for entry in _by_pod(entries) if entry.pod in late)
    return (
        f"Group {key}: Druid has not moved all segments in the time of {STRATEGY}.decommissionTimeout, so these pods "
        f"stay: {join_limited(map(_progress, own))}. {cause} With onTimeout: Shrink, they stop with their segments."
    )


def _cause(decided: Decommission, inputs: Inputs) -> str:
    """Return why segments may not have been moved, and what to do."""
    if unavailable(inputs) is not None:
        return "Druid does not answer now."
    if (setting := _stops_moves(inputs)) is not None:
        return standstill(setting)
    if decided.unknown:
        return _unknown(decided.unknown)
    causes = [*_unreported(inputs)]
    return causes[0] if causes else "The Historicals that stay may not be able to load them: check their logs."


def _unreported(inputs: Inputs) -> Iterator[str]:
    brokers = (group for group in inputs.cluster.groups if group.node_type == "broker")
    return unknown_replicas(situation(inputs), druid_state(inputs), [*brokers])


def _stops_moves(inputs: Inputs) -> str | None:
    """Return the setting of the Coordinator because of which it moves no segment now, if there is one."""
    config = druid_state(inputs).answers.get(COORDINATOR_CONFIG)
    return stops_moves(config) if isinstance(config, Mapping) else None


def _unknown(pods: Iterable[str]) -> str:
    return f"{_listed(pods, 'is', 'are')} unknown to Druid, which has to know all Historicals first: check their logs."


# As for a rollout without progress, unless progressDeadlineSeconds is set.
_LASTING_SECONDS = 900
_REASONS = {
    questions.NO_ROUTER: reasons.ROUTER_NOT_FOUND,
    questions.UNAUTHORIZED: reasons.UNAUTHORIZED,
    questions.NOT_READY: reasons.WAITING_FOR_DRUID,
}
_TO_STOP = f"To stop them without moving their segments, remove {STRATEGY}."


class Silence(NamedTuple):
    """Why Druid does not answer: a reason, a message, and whether that is a problem, or only waits for a pod."""

    reason: str
    message: str
    is_problem: bool = True

    def message_of(self, pods: str, has_pods: bool) -> str:
        """Return the message about pods that stay, or about names."""
        return " ".join(filter(None, (pods, self.message, _TO_STOP if has_pods else "")))


def silence_of(missing: Unavailable, record: Iterable[Entry], inputs: Inputs) -> Silence:
    """Return why Druid does not answer. A router that is not ready is a problem when that lasts."""
    reason = _REASONS.get(missing.cause, reasons.DRUID_UNREACHABLE)
    if missing.cause != questions.NOT_READY:
        return Silence(reason, missing.message)
    groups = [group for group in inputs.cluster.groups if group.node_type == ROUTER]
    since = _since(groups, record, inputs)
    limits = [int(group.first_present("progressDeadlineSeconds") or _LASTING_SECONDS) for group in groups]
    limit = max(limits, default=_LASTING_SECONDS)
    if since is None or seconds_since(since, inputs.now) < limit:
        return Silence(reason, missing.message, is_problem=False)
    causes = "; ".join(_causes(groups, inputs))
    remark = f"That has been so since {since}{f': {causes}' if causes else ''}. Check the pods of the router."
    return Silence(reasons.DRUID_UNREACHABLE, f"{missing.message} {remark}")


def _since(groups: Iterable[Group], record: Iterable[Entry], inputs: Inputs) -> str | None:
    """Return since when no router is ready: its last pod is not, or there is none; not before it is needed."""
    needed = min((entry.started_at for entry in record), default=None)
    if needed is None:
        return None
    return max((needed, *(_changed(pod) for group in groups for pod in inputs.observed.pods_of(group))))


def _changed(pod: Manifest) -> str:
    """Return when the readiness of the pod changed, or the pod was created."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    times = (condition.get("lastTransitionTime") for condition in conditions if condition["type"] == "Ready")
    return str(next(times, None) or pod["metadata"].get("creationTimestamp") or "")


def _causes(groups: Iterable[Group], inputs: Inputs) -> Iterator[str]:
    keys = {group.key for group in groups}
    for state in group_states(inputs.cluster, inputs.observed, as_it_is=True):
        if state.key in keys:
            yield state.cause or state.unready or f"group {state.key} has no pods"


def decommission_events(change: StatusChange, observed: Observed) -> Iterator[EventText]:
    """Yield an event for each name that the record has got, and for each one that is not in Druid's list any more."""
    before, after = _named(change.before), _named(change.after)
    for name, entry in after.items():
        if name not in before and not entry.ended:
            yield EventText("Normal", reasons.HISTORICAL_DECOMMISSIONING, _begun(entry))
    for name, entry in before.items():
        if name not in after:
            yield _ended(entry, ObjectKey("Pod", entry.pod) in observed.objects)


def _named(status: Mapping[str, Any]) -> dict[str, Entry]:
    return {entry.server: entry for entry in recorded(status) if entry.server and not entry.is_removed}


def _begun(entry: Entry) -> str:
    size = f", {size_text(entry.bytes)}" if entry.bytes is not None else ""
    return f"Pod {entry.pod} is being decommissioned ({entry.server}{size})."


def _ended(entry: Entry, exists: bool) -> EventText:
    stays = " Its name was in the list of Druid before, and stays there." if entry.listed_by_others else ""
    if exists:
        message = f"Pod {entry.pod} is not decommissioned any more ({entry.server}).{stays}"
        return EventText("Normal", reasons.HISTORICAL_RECOMMISSIONED, message)
    if entry.bytes == 0:
        message = f"Pod {entry.pod} is decommissioned, and has stopped ({entry.server}).{stays}"
        return EventText("Normal", reasons.HISTORICAL_DECOMMISSIONED, message)
    left = "segments of unknown size" if entry.bytes is None else size_text(entry.bytes)
    message = f"Pod {entry.pod} has stopped before Druid had moved all segments: {left} ({entry.server}).{stays}"
    return EventText("Warning", reasons.HISTORICAL_NOT_DECOMMISSIONED, message)
