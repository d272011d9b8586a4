# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The turns of deletions, so that they never occupy all workers of ansible-operator.

The first run of a deletion takes longer than most others, and ansible-operator's queue is first in, first out: a new
resource would wait until all that have been deleted before it have been run. So each deletion gets a turn, in the order
of the queue. Turns are as far apart as it takes to keep one worker free.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

# How long the first run of a deletion takes, until one has been measured, and within which limits that is used.
SECONDS = 0.3
_LEAST_SECONDS, _MOST_SECONDS = 0.05, 2.0
# The turn of a resource is kept for so long. A turn that is further away is that of another clock.
KEPT_SECONDS = 3600
# A wait that is not worth another run, and that ansible-operator would take for none: it would not repeat the run.
_SHORT_SECONDS = 0.02
_WORKERS = "MAX_CONCURRENT_RECONCILES"


class Turn(NamedTuple):
    """When the turn of a deletion begins, by the monotonic clock, and whether its first run has begun."""

    begins: float
    has_begun: bool = False


class Turns(NamedTuple):
    """When the next turn begins, how long a first run takes, and the turns by the uid of the resource."""

    following: float = 0
    seconds: float = SECONDS
    by_uid: Mapping[str, Turn] = {}


class Answer(NamedTuple):
    """The turns from now on, in how many seconds that of the run begins (0: it may run), and if it is the first."""

    turns: Turns
    wait: float
    is_first: bool


def ask(turns: Turns, uid: str, now: float, workers: int) -> Answer:
    """Give the deletion a turn, unless it has one; it may run from its turn on."""
    turn = turns.by_uid.get(uid)
    if turn is None or _is_of_another_clock(turn.begins, now):
        following = 0.0 if _is_of_another_clock(turns.following, now) else turns.following
        turn = Turn(max(following, now))
        following = turn.begins + turns.seconds / max(1, workers - 1)
        turns = turns._replace(following=following)
    wait = turn.begins - now if turn.begins - now > _SHORT_SECONDS else 0.0
    may_run = not wait
    kept = {other: each for other, each in turns.by_uid.items() if abs(each.begins - now) < KEPT_SECONDS}
    by_uid = {**kept, uid: Turn(turn.begins, turn.has_begun or may_run)}
    return Answer(turns._replace(by_uid=by_uid), wait, may_run and not turn.has_begun)


def ended(turns: Turns, seconds: float) -> Turns:
    """Note how long the first run of a deletion has taken."""
    mean = (turns.seconds + seconds) / 2
    return turns._replace(seconds=min(max(mean, _LEAST_SECONDS), _MOST_SECONDS))


def _is_of_another_clock(time: float, now: float) -> bool:
    """True for a time before a restart of the machine."""
    return time - now > KEPT_SECONDS


def from_json(text: str) -> Turns:
    """The turns that have been written; none if a writer has been killed."""
    try:
        following, seconds, written = json.loads(text)
        by_uid = {uid: Turn(float(begins), bool(has_begun)) for uid, (begins, has_begun) in written.items()}
        return Turns(float(following), float(seconds), by_uid)
    except (ValueError, TypeError, AttributeError):
        return Turns()


def workers(group: str, kind: str, environment: Mapping[str, str], processors: int) -> int:
    """How many runs of this kind ansible-operator has at the same time, by its variable and that of the image."""
    values = (environment.get(name, "") for name in (f"{_WORKERS}_{kind}_{group}".replace(".", "_").upper(), _WORKERS))
    return next((int(each) for each in values if each.isdecimal()), processors)
