# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The segments of a datasource: their intervals and versions, and which of them newer segments overshadow. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._serde.times import canonical_interval
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput

# All of time in Druid (Intervals.ETERNITY).
ETERNITY = "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"


class Instant(NamedTuple):
    """An instant in UTC that can be compared: years may have a sign, and more than four digits."""

    year: int
    rest: str


@dataclass(frozen=True)
class Interval:
    """An interval."""

    start: Instant
    end: Instant

    @classmethod
    def parse(cls, start: str, end: str) -> Interval:
        """Return the interval between two instants in Druid's form."""
        return cls(_instant(start), _instant(end))

    @property
    def text(self) -> str:
        """The interval in Druid's form."""
        return "/".join(f"{each.year:04}-{each.rest}" for each in (self.start, self.end))

    def contains(self, other: Interval) -> bool:
        """Return whether the other one lies entirely in this one."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Interval) -> bool:
        """Return whether they have an instant in common."""
        return self.start < other.end and other.start < self.end


class Segment(NamedTuple):
    """A segment, without its partition."""

    interval: Interval
    version: str


_INSTANT = re.compile(r"(-?\d{4,9})-(\d\d-\d\dT[\d:.]+Z)")
_OF_ID = re.compile(rf"(?P<start>{_INSTANT.pattern})_(?P<end>{_INSTANT.pattern})_(?P<version>.+?)(?:_\d+)?")
_CANONICAL = re.compile(rf"({_INSTANT.pattern})/({_INSTANT.pattern})")


def _instant(text: str) -> Instant:
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise DruidError("Druid returned an instant in an unknown form.")
    return Instant(int(found[1]), found[2])


def counted(identifiers: Iterable[str], datasource: str) -> Counter[Segment]:
    """Return the number of partitions of each segment with one of these ids (``SegmentId``). There may be very many."""
    found = Counter(_parts_of(each, datasource) for each in identifiers)
    return Counter({Segment(Interval.parse(*ends), version): count for (*ends, version), count in found.items()})


def _parts_of(identifier: str, datasource: str) -> tuple[str, str, str]:
    found = _OF_ID.fullmatch(identifier.removeprefix(f"{datasource}_"))
    if found is None:
        raise DruidError("Druid returned the id of a segment in an unknown form, or of another datasource.")
    return found["start"], found["end"], found["version"]


def interval_of(text: str | None) -> str | None:
    """Return the interval in an option in Druid's form, None for all of time. InvalidInput if it is none."""
    if text is None or text == ETERNITY:
        return None
    canonical = canonical_interval(text)
    found = _CANONICAL.fullmatch(str(canonical))
    if found is None or _instant(found[1]) >= _instant(found[4]):
        raise InvalidInput("interval", text, "set an interval, such as 2024-01-01/2024-02-01 or 2024-01-01/P1M")
    return str(canonical)


def parsed(interval: str) -> Interval:
    """Return an interval in Druid's form."""
    start, _slash, end = interval.partition("/")
    return Interval.parse(start, end)


def joined(intervals: Iterable[Interval]) -> Interval | None:
    """Return the interval from the first to the last instant of all, None if there are none."""
    found = [*intervals]
    return Interval(min(each.start for each in found), max(each.end for each in found)) if found else None


# As in IdUtils.validateId, which rejects the surrogates of UTF-16, so all characters that consist of them.
_DATASOURCE = re.compile(r"(?!\.)[^/\x00-\x1e\x80-\x9e\ud800-\uf8fe\ufff1-\ufffe\U00010000-\U0010ffff]+")


def valid_datasource(name: Any) -> str:
    """Return the name of a datasource. InvalidInput if Druid accepts none of that name."""
    if not name:
        raise InvalidInput("datasource", NOT_SET, "set the name of the datasource")
    if not _DATASOURCE.fullmatch(name):
        remedy = "no dot at the beginning, no slash, tab, newline or control character, and no emoji"
        raise InvalidInput("datasource", name, f"Druid has no datasource of this name: {remedy}")
    return str(name)


class Timeline:
    """What the newest version is in each part of time, in which used segments meet (``VersionedIntervalTimeline``)."""

    def __init__(self, used: Iterable[Segment]) -> None:
        newest: dict[Interval, str] = {}
        for interval, version in used:
            newest[interval] = max(version, newest.get(interval, ""))
        self._ends = sorted({end for each in newest for end in (each.start, each.end)})
        self._versions = [""] * len(self._ends)
        for interval, version in newest.items():
            for part in self._parts(interval):
                self._versions[part] = max(self._versions[part], version)

    def overshadows(self, segment: Segment) -> bool:
        """Return whether newer versions cover the whole interval: Druid does not mark such a segment as used."""
        parts = self._parts(segment.interval)
        return bool(parts) and all(self._versions[part] > segment.version for part in parts)

    def _parts(self, interval: Interval) -> range:
        """Return the parts in which the interval lies, none if it begins before the first one."""
        first = bisect_right(self._ends, interval.start) - 1
        return range(first, bisect_left(self._ends, interval.end)) if first >= 0 else range(0)
