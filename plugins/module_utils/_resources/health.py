# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether Druid has recovered from a restart: it is no worse than it was before. Pure.

That is asked before the next restart, of the next group on Kubernetes, and of the next server elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import SegmentCounts, Supervisor

# A supervisor in its first run has no tasks yet.
_STARTING = frozenset({"PENDING", "CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "CREATING_TASKS"})


class Health(NamedTuple):
    """Numbers that a restart must not leave higher, None where Druid does not report them.

    Segments that no server has, replicas that the load rules require and Historicals could load, and supervisors that
    are not healthy, or have no tasks yet.
    """

    unavailable_segments: int | None = None
    missing_replicas: int | None = None
    supervisors_not_running: int | None = None


class State(NamedTuple):
    """The segments by datasource, and the supervisors, None where Druid does not report them.

    ``historicals``: how many there are or should be. The default rules require two replicas: with one Historical, each
    new segment lacks one.
    """

    segments: Mapping[str, SegmentCounts] | None
    supervisors: tuple[Supervisor, ...] | None
    historicals: int

    @property
    def health(self) -> Health:
        """The numbers, as far as they are known."""
        segments, supervisors = self.segments, self.supervisors
        return Health(
            None if segments is None else sum(each.unavailable for each in segments.values()),
            None if segments is None else sum(each.missing_replicas(self.historicals) for each in segments.values()),
            None if supervisors is None else len(_not_running(supervisors)),
        )

    def worse_than(self, before: Health) -> Iterator[list[str]]:
        """Yield what is worse than before, by datasource and by supervisor. What is not known counts as 0."""
        now = self.health
        is_higher = [(value or 0) > (earlier or 0) for value, earlier in zip(now, before, strict=True)]
        if any(is_higher[:2]):
            yield _of_segments(self.segments or {}, self.historicals)
        if is_higher[2]:
            stopped = _not_running(self.supervisors or ())
            yield [f"supervisor {supervisor.id} is {supervisor.detailed_state}" for supervisor in stopped]


def _not_running(supervisors: Iterable[Supervisor]) -> list[Supervisor]:
    active = (each for each in supervisors if not each.is_suspended and each.state != "STOPPING")
    return [each for each in active if not each.is_healthy or each.detailed_state in _STARTING]


def _of_segments(counts: Mapping[str, SegmentCounts], historicals: int) -> list[str]:
    numbers = {name: (each.unavailable, each.missing_replicas(historicals)) for name, each in counts.items()}
    worst = sorted(numbers.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    return [_of_datasource(name, *number) for name, number in worst if any(number)]


def _of_datasource(name: str, unavailable: int, missing: int) -> str:
    parts = (_counted(unavailable, "unavailable segment"), _counted(missing, "missing replica"))
    return f"datasource {name} has {' and '.join(filter(None, parts))}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""
