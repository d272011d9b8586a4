# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The segments of a datasource: which are used and unused, and their deletion by a task of type kill.

Since Druid 32 they are marked at ``/druid/indexer/v1/datasources`` of the Overlord, before that at
``/druid/coordinator/v1/datasources`` of the Coordinator. Unused segments are listed since Druid 29
(``/druid/coordinator/v1/metadata/datasources/{name}/unusedSegments``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    InvalidResponse,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import all_specs
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import TASKS, has_ended, submit
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK
from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import (
    ETERNITY,
    Interval,
    Segment,
    Timeline,
    counted,
    parsed,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    UncertainState,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

USED, UNUSED, DELETED = "used", "unused", "deleted"
FAIL, KEEP, DELETE = "fail", "keep", "delete"
_OVERLORDS = ("druid", "indexer", "v1", "datasources")
_COORDINATORS = ("druid", "coordinator", "v1", "datasources")
_METADATA = ("druid", "coordinator", "v1", "metadata", "datasources")
# The segments in a response; those of a page have up to a few kilobytes each.
PAGE = 1000
# No more unused segments are counted.
MAX_COUNT = 10_000
# Druid's list has at least one task that has ended: some databases do not accept none.
_RUNNING_ONLY = 1


def unused_segments(client: DruidClient, datasource: str, interval: str | None) -> Iterator[dict[str, Any]]:
    """Yield the unused segments in an interval, page by page. NotFound from a Druid before 29, which lists none."""
    last = None
    while True:
        # in a query, an underscore separates the two instants of an interval
        limits = {"interval": interval and interval.replace("/", "_"), "limit": PAGE, "lastSegmentId": last}
        found = client.get(path(*_METADATA, datasource, "unusedSegments"), params={**limits, "sortOrder": "ASC"})
        # Druid 29 returns the segments themselves
        segments = [each.get("dataSegment", each) for each in found]
        yield from segments
        if len(segments) < PAGE:
            return
        last = segments[-1]["identifier"]


class Datasource(Document):
    """
    The numbers of used and of unused segments, as ``{"used": 3, "unused": 0}``, in an interval or in all of time.

    ``state``: the desired one. USED needs only the unused segments that no newer ones overshadow, and UNUSED none.
    ``used_segments``: what DELETED does about used ones (FAIL, KEEP or DELETE). ``task``: the task that deletes
    segments, an empty string if none is running.
    """

    is_merged = False

    def __init__(
        self,
        client: DruidClient,
        datasource: str,
        interval: str | None,
        state: str,
        *,
        used_segments: str = FAIL,
        audit: Audit | None = None,
    ) -> None:
        super().__init__(client, f"datasource {datasource!r}" + (f" in {interval}" if interval else ""), audit)
        self._datasource, self._interval, self._state = datasource, interval, state
        self._used_segments = used_segments
        self._overlapping = 0
        self._unused_in: Interval | None = None
        self.task = ""

    def merge(self, before: Any) -> Any:
        """Return the desired state. DruidError if something would add segments while all of time is deleted."""
        after = super().merge(before)
        if self._removes_used and self._overlapping:
            self._warn(
                f"{self._overlapping} used segments lie only partly in the interval. Druid keeps them as they are: "
                "set an interval that contains them."
            )
        if self._removes_used and after != before and self._may_be_refilled():
            self._judge_writers()
        return after

    def is_left(self, now: Mapping[str, int]) -> bool:
        """Return whether segments are left that should have been deleted."""
        return bool(now[UNUSED] or (self._removes_used and now[USED]))

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

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ()

    # The current state.

    def _fetch(self) -> dict[str, int]:
        segments = self._read_used()
        interval = parsed(self._interval or ETERNITY)
        used = sum(count for each, count in segments.items() if interval.contains(each.interval))
        self._overlapping = sum(count for each, count in segments.items() if interval.overlaps(each.interval)) - used
        if self._state == UNUSED:
            return {USED: used}
        if self._state == DELETED:
            self.task = self.task or self._running_kill()
        try:
            unused = self._count_unused(segments)
        except NotFound:
            unused = self._unused_before_29(used)
        return {USED: used, UNUSED: unused}

    def _read_used(self) -> Counter[Segment]:
        """Return the numbers of all used segments. Without a refresh, they would be those of a minute ago, or more."""
        refresh = {"forceMetadataRefresh": True, "interval": "2000-01-01_2000-01-02", "simple": True}
        # plain text if nothing is in that interval
        with suppress(InvalidResponse):
            self._client.get(path(*_COORDINATORS, self._datasource, "loadstatus"), params=refresh)
        try:
            identifiers = self._client.get(path(*_METADATA, self._datasource, "segments"))
        except NotFound:
            return Counter()
        return counted(identifiers, self._datasource)

    def _count_unused(self, used: Iterable[Segment]) -> int:
        """Count the unused segments up to a limit; for USED, only those that would be used."""
        timeline = Timeline(used if self._state == USED else ())
        count, self._unused_in = 0, None
        for each in unused_segments(self._client, self._datasource, self._interval):
            segment = Segment(parsed(each["interval"]), each["version"])
            count += not timeline.overshadows(segment)
            self._unused_in = segment.interval.joined(self._unused_in)
            if count == MAX_COUNT:
                # there may be more, anywhere
                self._unused_in = None
                break
        return count

    def _unused_before_29(self, used: int) -> int:
        """Return 1 if there are unused segments only; that some are unused beside used ones is not known."""
        if self._interval is not None:
            remedy = f"{self._client.product} does not list unused segments, Druid 29 and newer do. Omit the interval"
            raise InvalidInput("interval", self._interval, remedy)
        if used and self._used_segments == KEEP:
            remedy = f"{self._client.product} does not list unused segments. Use the module task, with type: kill"
            raise InvalidInput("used_segments", KEEP, remedy)
        if used:
            if self._state == USED:
                self._warn(
                    f"{self._client.product} does not list unused segments. It is not known whether there are any."
                )
            return 0
        return int(self._datasource in self._client.get(path(*_METADATA), params={"includeUnused": True}))

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

    def _may_be_refilled(self) -> bool:
        """Return whether the interval has a part in the future, so that new segments may be in it."""
        now = f"{CLOCK.now():%Y-%m-%dT%H:%M:%S}.000Z"
        return self._interval is None or parsed(self._interval).end > parsed(f"{now}/{now}").end

    def _judge_writers(self) -> None:
        """Warn about what adds segments. DruidError if they should be deleted: they would not be gone."""
        try:
            writers = [*self._supervisors(), *self._tasks()]
        except (ServerError, Unreachable) as error:
            if self._state == DELETED:
                raise
            self._warn(f"It is not known whether a supervisor or a task adds segments: {error}")
            return
        if not writers:
            return
        problem = f"new segments are added by {', '.join(writers)}."
        if self._state == DELETED:
            raise DruidError(
                f"{self._name} is not deleted: {problem} Suspend or remove supervisors, and wait for tasks to end."
            )
        self._warn(f"{problem} Suspend or remove supervisors first, and wait for tasks to end.")

    def _supervisors(self) -> Iterator[str]:
        for identifier, spec in sorted(all_specs(self._client).items()):
            is_writer = datasource_of(spec) == self._datasource and spec.get("type") != "autocompact"
            if is_writer and not spec.get("suspended"):
                yield f"supervisor {identifier!r}"

    def _tasks(self) -> Iterator[str]:
        for each in self._running_tasks():
            if each.get("type") != "kill":
                yield f"task {each['id']!r}"

    def _running_tasks(self) -> list[dict[str, Any]]:
        filters = {"datasource": self._datasource, "max": _RUNNING_ONLY}
        return [each for each in self._client.get(TASKS, params=filters) if not has_ended(each)]

    def _running_kill(self) -> str:
        """Return the id of a running task of an earlier call, an empty string if there is none."""
        return next((each["id"] for each in self._running_tasks() if each["id"].startswith(self._kill)), "")

    @property
    def _kill(self) -> str:
        """The prefix of the ids of tasks that delete these segments."""
        return f"druidops_kill_{self._datasource}_{(self._interval or 'all').replace('/', '_')}_"

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
            raise DruidError(
                f"{self._client.product} has not changed {self._name}: up to Druid 31, it changes the segments of an "
                "interval only while servers have loaded segments of the datasource. Omit the interval."
            )
