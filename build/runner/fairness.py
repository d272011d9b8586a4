# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A namespace never occupies all workers of a kind with runs that may take long, so that others do not wait for it.

ansible-operator's queue is first in, first out, and a run that only asks to be repeated takes a few hundredths of a
second. So the last worker is for other namespaces, and for runs that are known to be quick. A run that may not begin is
repeated when its turn is expected: turns are as far apart as it takes to keep one worker free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# A run that takes longer waits for something: another server, or hooks of a chart.
SLOW_SECONDS = 5.0
# For so long after a slow run, no run of its namespace counts as quick: what hangs may hang for all of them.
DISTRUST_SECONDS = 600.0
# How long a run takes, until one has been measured.
_SECONDS = 0.3
# ansible-operator would take a shorter wait for none, and would not repeat the run.
_LEAST_SECONDS, _MOST_SECONDS = 0.05, 30.0
_MOST_RESOURCES = 10_000


class Resource(NamedTuple):
    """The resource of a run."""

    kind: str
    namespace: str
    name: str

    @property
    def tenant(self) -> tuple[str, str]:
        """What has its share of the workers: each kind has workers of its own."""
        return self.kind, self.namespace


@dataclass
class _Tenant:
    """When the next turn is, how long a run takes, and when the last slow run ended."""

    next_turn: float = 0.0
    seconds: float = _SECONDS
    slow: float | None = None


@dataclass
class Fairness:
    """What is known of the runs that have ended. Times are of one clock, in seconds.

    ``quick``: the resources whose last run was quick.
    """

    tenants: dict[tuple[str, str], _Tenant] = field(default_factory=dict)
    quick: set[Resource] = field(default_factory=set)

    def wait(
        self, resource: Resource, since: Sequence[float], now: float, workers: int, is_deletion: Callable[[], bool]
    ) -> float:
        """Return in how many seconds the run is to be repeated, 0 if it may begin.

        ``since``: when the runs in progress of the same kind and namespace began. The first run of a deletion takes
        longer than the last one before it.
        """
        tenant, limit = self.tenants.setdefault(resource.tenant, _Tenant()), max(1, workers - 1)
        if len(since) < limit or (self._is_quick(resource, tenant, now) and not is_deletion()):
            return 0.0
        # a run that has not ended takes at least as long again
        seconds = max([tenant.seconds, *(now - each for each in since)])
        tenant.next_turn = min(max(tenant.next_turn, now) + seconds / limit, now + _MOST_SECONDS)
        return max(tenant.next_turn - now, _LEAST_SECONDS)

    def _is_quick(self, resource: Resource, tenant: _Tenant, now: float) -> bool:
        is_distrusted = tenant.slow is not None and now - tenant.slow < DISTRUST_SECONDS
        return resource in self.quick and not is_distrusted

    def ended(self, resource: Resource, begin: float, now: float) -> None:
        """Note that a run has ended, however."""
        tenant = self.tenants.setdefault(resource.tenant, _Tenant())
        tenant.seconds = (tenant.seconds + now - begin) / 2
        if now - begin > SLOW_SECONDS:
            tenant.slow = now
            self.quick.discard(resource)
        else:
            self.quick.add(resource)
        for known in (self.quick, self.tenants):
            if len(known) > _MOST_RESOURCES:
                known.clear()
