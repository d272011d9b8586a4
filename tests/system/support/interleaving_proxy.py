# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A function is called between two requests of a run: before the first one of each sort, or before each third one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import THIRDS, campaign
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy, Seen

# Fewer requests than this are not the whole story of a run.
FEWEST = 9
# Before no request.
NEVER = 0

POSITIONS = [
    pytest.param(False, id="first of each sort"),
    pytest.param(True, id="each third request", marks=campaign("the same before the first request of each kind")),
]


class Interleaving:
    """Makes attempts, each with a call before another request."""

    def __init__(self, proxy: FaultProxy, before_thirds: bool) -> None:
        self.proxy = proxy
        self._before_thirds = before_thirds
        self._position = NEVER

    def expect(self, meanwhile: Callable[[], object]) -> None:
        """Let this happen before the request whose turn it is."""
        self.proxy.expect(self._position, meanwhile=meanwhile)

    @property
    def reached(self) -> Seen | None:
        """The request before which it happened."""
        return self.proxy.reached

    def run(self, attempt: Callable[[int], None]) -> None:
        """Make the attempts, counted from one; one of them has no call."""
        for number, position in enumerate(self._positions(), 1):
            self._position = position
            attempt(number)

    def _positions(self) -> Iterator[int]:
        yield NEVER
        assert len(self.proxy.seen) > FEWEST
        if not self._before_thirds:
            yield from _firsts(self.proxy.seen)
            return
        for position in THIRDS:
            yield position
            if self.reached is None:
                assert position > FEWEST
                return


def _firsts(seen: list[Seen]) -> list[int]:
    """Return the positions of the first request of each sort, counted from one."""
    sorts = [each.sort for each in seen]
    return sorted({sorts.index(sort) + 1 for sort in sorts})


@pytest.fixture(params=POSITIONS)
def stepping_in(proxy: FaultProxy, request: pytest.FixtureRequest) -> Interleaving:
    """Attempts through the proxy."""
    return Interleaving(proxy, request.param)
