# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever request fails in whatever way: one more run always ends where a run without a fault ends.

`make test` lets each sort of request fail, the ways taking turns. In the campaign each sort fails in each way, and each
request in one of those in which its sort has failed least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import Fault, FaultProxy, Seen
from ansible_collections.druidops.druid.tests.system.support.go_operator import HASH, MANAGERS, GoOperator, identities
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, good
from ansible_collections.druidops.druid.tests.system.support.in_process import run as run_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.small_cluster import (
    KEYS,
    claim,
    objects_of,
    picture,
    resource,
    spec,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.api import ApiError

Report = Callable[[str, object], None]

# Fewer requests than this are not the whole story of a run.
FEWEST = 15
# How often a sort of request is tried again for each fault: not every attempt has one of it.
ENOUGH = 4
# The first reconcile may have to leave the finalizer to the next one.
FINALIZER_PATCH = "PATCH json-patch object"

# Whether each request fails, and each sort of request in each way, or each sort in some.
EACH = [
    pytest.param(False, id="some"),
    pytest.param(True, id="each", marks=campaign("each kind of request fails once, and each failure mode occurs")),
]


SAME_SORTS = [
    pytest.param(
        True, id="each", marks=campaign("a creation, a deletion and an adoption send the same kinds of requests")
    )
]


def run(api: KubernetesApi, request: Request) -> Outcome | None:
    """Make a run; None if it ended with an error that a user gets."""
    try:
        return run_cluster(api, request, lambda _text: None, Clock(sleep=lambda _seconds: None))
    except DruidopsError:
        return None


@dataclass
class Attempts:
    """
    Attempts of which each fails at another request.

    `met` counts how often each sort of request failed in each way; `late` are sorts that may occur after the first
    reconcile only.
    """

    proxy: FaultProxy
    attempt: Callable[[int], None]
    late: Sequence[str] = ()
    met: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    number: int = 0

    def run(self, each: bool) -> Attempts:
        """Make the attempts: for each request, and for each sort in each way, or so that each of both is met."""
        if each:
            self._each_request()
        # what only the first attempt does is not met again: a status that is written once, for example
        sorts = sorted({*(self._undisturbed_sorts() & self._undisturbed_sorts()), *self.late})
        for sort in islice(cycle(sorts), ENOUGH * len(sorts) * len(Fault)):
            missing = [way for way in Fault if not self.met[sort, way]]
            if missing if each else not self._times_of(sort) or not all(map(self._times, Fault)):
                self._fails(sort=sort)
        assert all(map(self._times_of, sorts)), f"not met: {self}"
        assert all(self.met[sort, way] for sort in sorts for way in Fault) if each else all(map(self._times, Fault))
        return self

    def _each_request(self) -> None:
        position = next(position for position in count(1) if not self._fails(position))
        assert position > FEWEST

    def _undisturbed_sorts(self) -> set[str]:
        """Return the sorts of requests of an attempt in which none fails."""
        self.number += 1
        self.proxy.expect()
        self.attempt(self.number)
        assert len(self.proxy.seen) > FEWEST
        return {seen.sort for seen in self.proxy.seen}

    @property
    def sorts(self) -> list[str]:
        """The sorts of requests that have failed."""
        return sorted({sort for sort, _fault in self.met})

    def _fails(self, position: int = 0, sort: str = "") -> bool:
        self.number += 1
        self.proxy.expect(position, self._chosen, sort=sort)
        self.attempt(self.number)
        return self.proxy.reached is not None

    def _chosen(self, seen: Seen) -> Fault:
        """Return the way in which this sort of request, and then any, has failed least."""
        chosen = min(Fault, key=lambda fault: (self.met[seen.sort, fault], self._times(fault)))
        self.met[seen.sort, chosen] += 1
        return chosen

    def _times(self, way: Fault) -> int:
        return sum(self.met[sort, way] for sort in self.sorts)

    def _times_of(self, sort: str) -> int:
        return sum(self.met[sort, way] for way in Fault)

    def __str__(self) -> str:
        ways = f"{len(Fault)} faults"
        counts = {sort: self._times_of(sort) for sort in self.sorts}
        each = ", ".join(f"{number} {sort}" for sort, number in counts.items())
        return f"{ways} at {sum(counts.values())} requests ({each}), and one more run mended it"


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Report:
    """Add the attempts to the summary."""
    return lambda what, attempts: record_property("measurement", f"{what}: {attempts}")


@pytest.mark.parametrize("each", EACH)
def test_creation(
    live: NamespaceClient, proxy: FaultProxy, created: dict[str, Any], report: Report, each: bool
) -> None:
    def create(number: int) -> None:
        request = cluster_request(f"c{number}", live.namespace)
        live.create(resource(request.name))
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, request.name) == created, proxy.reached

    report("creation", Attempts(proxy, create).run(each))


@pytest.mark.parametrize("each", SAME_SORTS)
def test_update(live: NamespaceClient, proxy: FaultProxy, report: Report, each: bool) -> None:
    """To and fro: one workload is updated, the other one recreated, objects come and go."""
    request = cluster_request("c", live.namespace)
    live.create(resource("c"))
    good(run(connection(live), request))
    desired = {}
    for number in (2, 1):
        live.merge("Druid", "c", {"spec": spec(number)})
        good(run(connection(live), request))
        desired[number] = picture(live, "c")

    def update(turn: int) -> None:
        number = 1 + turn % 2
        live.merge("Druid", "c", {"spec": spec(number)})
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, "c") == desired[number], proxy.reached

    report("update", Attempts(proxy, update).run(each))


@pytest.mark.parametrize("each", EACH)
def test_deletion(live: NamespaceClient, proxy: FaultProxy, report: Report, each: bool) -> None:
    foreign = claim("foreign", "brokers", app=None)
    live.create(foreign)

    def delete(number: int) -> None:
        name = f"c{number}"
        live.create(resource(name))
        good(run(connection(live), cluster_request(name, live.namespace)))
        for key in KEYS:
            live.create(claim(name, key))
        request = cluster_request(name, live.namespace, absent=True)
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert live.find("Druid", name) is None
        claims = [each for each in objects_of(live, name) if each["kind"] == "PersistentVolumeClaim"]
        assert [each for each in claims if not each["metadata"].get("deletionTimestamp")] == [], proxy.reached

    report("deletion", Attempts(proxy, delete).run(each))
    eventually(lambda: live.created_objects() == {("PersistentVolumeClaim", foreign["metadata"]["name"])})


@pytest.mark.parametrize("each", SAME_SORTS)
def test_deletion_by_the_finalizer(live: NamespaceClient, proxy: FaultProxy, report: Report, each: bool) -> None:
    """A user has deleted the resource, and the next reconciles complete the deletion."""
    foreign = claim("foreign", "brokers", app=None)
    live.create(foreign)

    def delete(number: int) -> None:
        request = cluster_request(f"c{number}", live.namespace)
        live.create(resource(request.name))
        good(run(connection(live), request))
        for key in KEYS:
            live.create(claim(request.name, key))
        live.delete("Druid", request.name)
        assert live.get("Druid", request.name)["metadata"]["deletionTimestamp"]
        run(proxy.api(), request)
        if proxy.sort and proxy.reached is None:
            run(proxy.api(), request)
        if live.find("Druid", request.name):
            good(run(connection(live), request))
        assert live.find("Druid", request.name) is None, proxy.reached
        claims = [each for each in objects_of(live, request.name) if each["kind"] == "PersistentVolumeClaim"]
        assert [each for each in claims if not each["metadata"].get("deletionTimestamp")] == [], proxy.reached

    report("deletion by the finalizer", Attempts(proxy, delete, late=[FINALIZER_PATCH]).run(each))
    eventually(lambda: live.created_objects() == {("PersistentVolumeClaim", foreign["metadata"]["name"])})


@dataclass(frozen=True)
class Recorded:
    """A cluster of the Go operator, which can be put back as it was before it was taken over."""

    operator: GoOperator
    objects: list[Manifest]

    def restore(self) -> None:
        """Write every object as the Go operator had left it, ownership of fields included."""
        for each in self.objects:
            eventually(partial(self._write, each))

    def _write(self, manifest: Manifest) -> bool:
        live, kind, name = self.operator.live, manifest["kind"], manifest["metadata"]["name"]
        version = live.get(kind, name)["metadata"]["resourceVersion"]
        body = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}
        try:
            live.plane.request("PUT", f"{live.path(kind, name)}?fieldManager={MANAGERS[0]}", body, user="go-operator")
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True


@pytest.mark.parametrize("each", EACH)
def test_adoption(golden: NamespaceClient, proxy: FaultProxy, report: Report, each: bool) -> None:
    """All the time no pod is restarted and no workload is touched."""
    live = golden
    # the larger recording has every kind of object, but every attempt puts all of them back
    adopted_name = "hand" if each else "r4242-8"
    operator = GoOperator(live, adopted_name).run()
    before = operator.settled()
    owned = recording.owned_objects(adopted_name)
    recorded = Recorded(operator, [live.get(kind, name) for kind, name in owned])
    request = cluster_request(adopted_name, live.namespace)
    good(run(connection(live), request))
    adopted = picture(live, adopted_name)
    assert not [name for name, each in adopted.items() if name.startswith("StatefulSet") and HASH in str(each)]
    recorded.restore()
    untouched = picture(live, adopted_name)

    def adopt(_number: int) -> None:
        run(proxy.api(), request)
        if proxy.reached is not None and not proxy.wrote:
            # All is as it was: the next attempt is the one more run.
            assert picture(live, adopted_name) == untouched, proxy.reached
            return
        good(run(connection(live), request))
        assert picture(live, adopted_name) == adopted, proxy.reached
        assert identities(live) == before, proxy.reached
        recorded.restore()

    report("adoption", Attempts(proxy, adopt).run(each))
