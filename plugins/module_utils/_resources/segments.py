# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The segments of a datasource, as the database has them: ``/druid/coordinator/v1/metadata/datasources``.

Used ones are read with POST: GET returns what the Coordinator has read a minute ago, or more (Druid 27 to 39). Unused
ones are listed since Druid 29.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ResponseTooLarge
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import ETERNITY, Segment, counted
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

_DATASOURCES = ("druid", "coordinator", "v1", "metadata", "datasources")
# The segments in a response; those of a page have up to a few kilobytes each.
PAGE = 1000


def used_segments(client: DruidClient, datasource: str, interval: str | None) -> Counter[Segment]:
    """Return the numbers of used segments of which a part is in an interval. Requires the permission to write."""
    try:
        found = client.post(path(*_DATASOURCES, datasource, "segments"), [interval or ETERNITY], idempotent=True)
    except ResponseTooLarge as error:
        raise DruidError(f"{error} Set an interval that has fewer segments.") from error
    return counted(found, datasource)


def unused_segments(client: DruidClient, datasource: str, interval: str | None) -> Iterator[dict[str, Any]]:
    """Yield the unused segments in an interval, page by page. NotFound from a Druid before 29, which lists none."""
    last = None
    while True:
        # in a query, an underscore separates the two instants of an interval
        limits = {"interval": interval and interval.replace("/", "_"), "limit": PAGE, "lastSegmentId": last}
        found = client.get(path(*_DATASOURCES, datasource, "unusedSegments"), params={**limits, "sortOrder": "ASC"})
        # Druid 29 returns the segments themselves
        segments = [each.get("dataSegment", each) for each in found]
        yield from segments
        if len(segments) < PAGE:
            return
        last = segments[-1]["identifier"]


def has_segments(client: DruidClient, datasource: str) -> bool:
    """Return whether a datasource has segments, used or unused ones."""
    return datasource in client.get(path(*_DATASOURCES), params={"includeUnused": True})
