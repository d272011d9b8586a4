# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When to look again: soon after something moved or failed, less and less often while it lasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_reached

SHORTEST_SECONDS = 5
LONGEST_SECONDS = 300
# For a trouble whose age nobody knows, since not even the conditions could be read.
UNKNOWN_AGE_SECONDS = 30
# The pause grows with the age of the trouble: a tenth of it.
SHARE_OF_AGE = 10


def requeue_after(conditions: Iterable[Mapping[str, Any]], now: datetime) -> int | None:
    """Return the seconds until the next look; None for a cluster that is as wanted: the regular period will do."""
    by_type = {each["type"]: each for each in conditions}
    if is_reached(by_type.values()) or by_type["Paused"]["status"] == "True":
        return None
    age = max(0, int((now - _moment(by_type["Ready"]["lastTransitionTime"], now)).total_seconds()))
    return min(max(SHORTEST_SECONDS, age // SHARE_OF_AGE), LONGEST_SECONDS)


def _moment(text: str, now: datetime) -> datetime:
    """Return the moment that a condition names; what somebody else has written there may be no time at all."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
