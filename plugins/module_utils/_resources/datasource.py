# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A datasource whose segments should be used, unused or deleted, by a task of type kill.

Since Druid 32 segments are marked at ``/druid/indexer/v1/datasources`` of the Overlord, before that at
``/druid/coordinator/v1/datasources`` of the Coordinator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.segments import (
    has_segments,
    unused_segments,
    used_segments,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import TASKS, has_ended, submit
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import (
    ETERNITY,
    Interval,
    Segment,
    Timeline,
    joined,
    parsed,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job, failure
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    UncertainState,
)

USED, UNUSED, DELETED = "used", "unused", "deleted"
FAIL, KEEP, DELETE = "fail", "keep", "delete"
_OVERLORDS = ("druid", "indexer", "v1", "datasources")
_COORDINATORS = ("druid", "coordinator", "v1", "datasources")
# No more unused segments are read.
MAX_COUNT = 10_000
# The prefix of the ids of tasks that delete segments.
_PREFIX = "druidops_kill_"
_KILL = "Upgrade Druid, or use the module task, with type: kill and an interval"
# Tasks that have ended, in Druid's list (of the last day).
_MAX_ENDED = 1000
# Writers in a message.
_MAX_NAMES = 5
# SegmentNukeAction precedes DataSegmentKiller in KillUnusedSegmentsTask.
FILES_MAY_REMAIN = (
    "Druid deletes segments from the metadata before their files: files of segments that are not listed anymore may be "
    "left in deep storage, and no other task deletes them. Repair the cause, and remove such files there."
)


class Datasource(Document):
    """
    The numbers of used and of unused segments, as ``{"used": 3, "unused": 0}``, in an interval or in all of time.

    ``state``: the desired one. USED needs only the unused segments that no newer ones overshadow, and UNUSED none.
    ``specs``: the specifications of all supervisors by id, read when they are needed. ``used_segments``: what DELETED
    does about used ones (FAIL, KEEP or DELETE). ``task``: the task that deletes segments, an empty string if none is
    running.
    """

    is_merged = False
    # the marks of all segments of a datasource are one transaction
    settle_timeout = 100.0

    def __init__(
        self,
        client: DruidClient,
        datasource: str,
        interval: str | None,
        state: str,
        specs: Callable[[], Mapping[str, Any]],
        *,
        used_segments: str = FAIL,
        audit: Audit | None = None,
    ) -> None:
        super().__init__(client, f"datasource {datasource!r}" + (f" in {interval}" if interval else ""), audit)
        self._datasource, self._interval, self._state = datasource, interval, state
        self._specs, self._used_segments = specs, used_segments
        self._overlapping = 0
        self._unused_in: Interval | None = None
        self._writers: list[str] = []
        self._unknown_writers = ""
        self.task = ""

    def read(self) -> Any:
        """Return the current state, after the tasks and the supervisors that the decision depends on."""
        if self._state != USED:
            try:
                self._read_tasks()
            except (ServerError, Unreachable) as error:
                if self._state == DELETED:
                    raise
                self._unknown_writers = f"It is not known whether a supervisor or a task adds segments: {error}"
        return super().read()

    def merge(self, before: Any) -> Any:
        """Return the desired state. DruidError if something would add segments to what is deleted."""
        after = super().merge(before)
        if self._removes_used and self._overlapping:
            self._warn(
                f"{self._overlapping} used segments lie only partly in the interval. Druid keeps them as they are: "
                "set an interval that contains them."
            )
        if self._removes_used and after != before:
            self._judge_writers()
        return after

    def count(self) -> dict[str, int]:
        """Return the numbers of segments at this moment."""
        return self._fetch()

    def is_left(self, now: Mapping[str, int]) -> bool:
        """Return whether segments are left that should have been deleted. With KEEP, new unused ones may be."""
        return self._removes_used and bool(now[USED] or now[UNUSED])

    @property
    def _removes_used(self) -> bool:
        """Whether no used segment should be left."""
        return self._state == UNUSED or (self._state == DELETED and self._used_segments != KEEP)

    def compare(self, after: Any, now: Any) -> None:
        """Warn about segments that are not in the desired state although Druid has accepted the change."""
        remaining = 0 if self._state == DELETED else now[UNUSED if self._state == USED else USED]
        if remaining:
            self._warn(f"{remaining} segments are not {self._state} after the change: they were added meanwhile.")

    @property
    def _specified(self) -> Any:
        return self._state

    # The current state.

    def _fetch(self) -> dict[str, int]:
        interval = parsed(self._interval or ETERNITY)
        segments = used_segments(self._client, self._datasource, self._interval)
        used = sum(count for each, count in segments.items() if interval.contains(each.interval))
        self._overlapping = segments.total() - used
        if self._state == UNUSED:
            return {USED: used}
        try:
            unused = self._count_unused(segments)
        except NotFound:
            unused = self._unused_before_29(used)
        return {USED: used, UNUSED: unused}

    def _count_unused(self, used: Iterable[Segment]) -> int:
        """Count the unused segments up to a limit; for USED, only those that would be used."""
        pages = unused_segments(self._client, self._datasource, self._interval)
        unused = [Segment(parsed(each["interval"]), each["version"]) for each in islice(pages, MAX_COUNT + 1)]
        is_limited = len(unused) > MAX_COUNT
        if self._state == USED:
            if is_limited:
                raise DruidError(f"{self._too_many} It is not computed which of more are overshadowed.")
            timeline = Timeline([*used, *unused])
            return sum(not timeline.overshadows(each) for each in unused)
        if is_limited and self._interval is None and self._used_segments == KEEP:
            raise DruidError(f"{self._too_many} The task that deletes more locks the whole interval, or all of time.")
        self._unused_in = None if is_limited else joined(each.interval for each in unused)
        return min(len(unused), MAX_COUNT)

    @property
    def _too_many(self) -> str:
        return f"{self._name} has more than {MAX_COUNT} unused segments. Set an interval that has fewer."

    def _unused_before_29(self, used: int) -> int:
        """Return 1 if there are unused segments only; that some are unused beside used ones is not known."""
        problem = f"{self._client.product} does not list unused segments."
        if self._interval is not None:
            remedy = f"{problem} {'Omit the interval' if self._state == USED else _KILL}"
            raise InvalidInput("interval", self._interval, remedy)
        if used and self._used_segments == KEEP:
            raise InvalidInput("used_segments", KEEP, f"{problem} {_KILL}")
        if used:
            if self._state == USED:
                self._warn(f"{problem} It is not known whether there are any.")
            return 0
        return int(has_segments(self._client, self._datasource))

    def _read_tasks(self) -> None:
        """Read the task of an earlier run, and what adds segments. Warn about earlier tasks that have failed."""
        tasks = self._client.get(TASKS, params={"datasource": self._datasource, "max": _MAX_ENDED})
        running = [each["id"] for each in tasks if not has_ended(each) and each.get("type") != "kill"]
        if self._removes_used:
            self._writers = [*self._supervisors(), *(f"task {each!r}" for each in running)]
        if self._state == DELETED:
            kills = [each for each in tasks if each["id"].startswith(f"{_PREFIX}{self._datasource}_")]
            ids = (each["id"] for each in kills if not has_ended(each))
            self.task = next((each for each in ids if each.startswith(self._kill)), "")
            for each in kills:
                if each.get("statusCode") == "FAILED":
                    self._warn(f"Task {each['id']!r} has failed: {failure(each, {})}. {FILES_MAY_REMAIN}")

    def _supervisors(self) -> Iterator[str]:
        for identifier, spec in sorted(self._specs().items()):
            is_writer = datasource_of(spec) == self._datasource and spec.get("type") != "autocompact"
            if is_writer and not spec.get("suspended"):
                yield f"supervisor {identifier!r}"

    @property
    def _kill(self) -> str:
        """The prefix of the ids of tasks that delete these segments."""
        return f"{_PREFIX}{self._datasource}_{(self._interval or 'all').replace('/', '_')}_"

    # The desired state.

    def _merged(self, before: Any) -> dict[str, int]:
        used, unused = before[USED], before.get(UNUSED, 0)
        if self._state == UNUSED:
            return {USED: 0}
        if self._state == USED:
            if not used + unused + self._overlapping:
                raise DruidError(f"{self._name} has no segments, neither used nor unused. Check its name.")
            return {USED: used + unused, UNUSED: 0}
        if used and self._used_segments == FAIL:
            raise DruidError(
                f"{self._name} has {used} used segments, so nothing is deleted. Set used_segments: keep to delete only "
                "the unused ones, used_segments: delete to delete all, or state: unused first."
            )
        kept = used if self._used_segments == KEEP else 0
        return before if self.task and used == kept else {USED: kept, UNUSED: 0}

    def _judge_writers(self) -> None:
        """Warn about what may add segments. DruidError if new ones would be in what is deleted."""
        if self._unknown_writers:
            self._warn(self._unknown_writers)
        if not self._writers:
            return
        others = f" and {len(self._writers) - _MAX_NAMES} others" if len(self._writers) > _MAX_NAMES else ""
        problem = f"segments may be added by {', '.join(self._writers[:_MAX_NAMES])}{others}."
        if self._state == DELETED and self._may_be_refilled():
            raise DruidError(
                f"{self._name} is not deleted: {problem} Suspend or remove supervisors, and wait for tasks to end."
            )
        self._warn(f"{problem} Suspend or remove supervisors first, and wait for tasks to end.")

    def _may_be_refilled(self) -> bool:
        """Return whether the interval has a part in the future. In the past, a writer may be of another interval."""
        now = f"{CLOCK.now():%Y-%m-%dT%H:%M:%S}.000Z"
        return self._interval is None or parsed(self._interval).end > parsed(f"{now}/{now}").end

    # The change.

    def _send(self, before: Any, after: Any) -> None:
        if self._state != DELETED:
            self._mark()
            return
        if before[USED] != after[USED]:
            self._mark()
            self._unused_in = None
        # the task locks its interval
        interval = self._unused_in.text if self._unused_in else self._interval or ETERNITY
        body = {"type": "kill", "dataSource": self._datasource, "interval": interval}
        job = Job(f"{self._kill}{CLOCK.now():%Y%m%dT%H%M%S%f}", body)
        try:
            submit(self._client, job, 1)
        except DruidError as error:
            if before[USED] == after[USED]:
                raise
            raise UncertainState(
                f"The segments of {self._name} were marked as unused, but not deleted: {error}"
            ) from error
        self.task = job.task_id(1)

    def _mark(self) -> None:
        """Mark all segments in the interval as used, or as unused. Overshadowed ones are not used again."""
        base = _OVERLORDS if self._client.serves(path(*_OVERLORDS)) else _COORDINATORS
        resource = path(*base, self._datasource)
        if self._interval is not None:
            operation = path("markUsed" if self._state == USED else "markUnused")
            body = {"interval": self._interval}
            response = self._client.post(f"{resource}{operation}", body, idempotent=True, audit=self._audit)
        elif self._state == USED:
            response = self._client.post(resource, idempotent=True, audit=self._audit)
        else:
            response = self._client.delete(resource, audit=self._audit)
        if response is None:
            remedy = "Omit the interval" if self._state == USED else "Wait until they have loaded some"
            raise DruidError(
                f"{self._client.product} has not changed {self._name}: up to Druid 31, it changes the segments of an "
                f"interval only while servers have loaded segments of the datasource. {remedy}, or upgrade Druid."
            )
