# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The start of a supervisor: until it ends, the supervisor does not know its tasks.

If it is stopped then, it kills the tasks that it finds, and their unpublished rows are lost (observed with Druid 33,
just after a restart of the Overlord).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import (
    CLOCK,
    INTERVAL,
    WaitTimeout,
    wait_until,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock

STARTING = ("PENDING", "CONNECTING_TO_STREAM", "DISCOVERING_INITIAL_TASKS", "CREATING_TASKS")
# Seconds to wait for the start. If the stream is unreachable, the supervisor notices only after minutes. If the stream
# was unreachable at first (Kafka is busy when all supervisors start at once), it reports that error while it starts.
_START = 20.0
_SUPERVISORS = path("druid", "indexer", "v1", "supervisor")


def wait_until_started(client: DruidClient, supervisor: str) -> None:
    """Wait, for a limited time, until a supervisor knows its tasks, so that it can stop them gracefully.

    Raises Unreachable if there is no response. Does not wait if the status cannot be read.
    """
    with suppress(NotFound, ServerError, WaitTimeout):
        wait_until(
            lambda: detailed_state(client, supervisor),
            lambda state: state not in STARTING,
            timeout=_START,
            waiting_for="the supervisor to start",
        )


def detailed_state(client: DruidClient, supervisor: str) -> Any:
    """Return the detailed state of a supervisor, None if its type has none. NotFound if it does not exist."""
    status = client.get(path("druid", "indexer", "v1", "supervisor", supervisor, "status"))
    return (status.get("payload") or {}).get("detailedState")


class SupervisorStarts:
    """
    The starts of many supervisors, which are waited for together: their times overlap.

    Each request reads the states of all (``?state=true``, in every version), so that a supervisor has its time from the
    moment at which any wait has seen it starting. A supervisor that starts again has its time again.
    """

    def __init__(self, client: DruidClient, clock: Clock = CLOCK) -> None:
        self._client = client
        self._clock = clock
        # the time at which each supervisor that is starting was first seen
        self._since: dict[str, float] = {}

    def wait_until_started(self, supervisor: str) -> None:
        """Wait as the function of this name does."""
        with suppress(NotFound, ServerError):
            while (since := self._read().get(supervisor)) is not None:
                left = since + _START - self._clock.monotonic()
                if left <= 0:
                    return
                self._clock.sleep(min(INTERVAL, left))

    def _read(self) -> dict[str, float]:
        """Read the states. Return those that are starting, each with the time at which it was seen first."""
        listed = self._client.get(_SUPERVISORS, params={"state": "true"})
        now = self._clock.monotonic()
        starting = [each["id"] for each in listed if each.get("detailedState") in STARTING]
        self._since = {each: self._since.get(each, now) for each in starting}
        return self._since
