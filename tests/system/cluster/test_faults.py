# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever request fails in whatever way: one more run always ends where a run without a fault ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.fulfil import fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import Fault, FaultProxy, Seen
from ansible_collections.druidops.druid.tests.system.support.go_operator import (
    HASH,
    MANAGERS,
    GoOperator,
    identities,
)
from ansible_collections.druidops.druid.tests.system.support.in_process import connection, good
from ansible_collections.druidops.druid.tests.system.support.live import Live, Manifest
from ansible_collections.druidops.druid.tests.system.support.small_cluster import (
    KEYS,
    claim,
    objects_of,
    picture,
    resource,
    spec,
)
from ansible_collections.druidops.druid.tests.system.support.waiting import eventually
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.api import ApiError

Tell = Callable[[str, object], None]

# With `make faults` each request fails in each way, which takes 25 minutes; otherwise the ways take turns.
EACH_IN_EACH_WAY = bool(os.environ.get("EACH_IN_EACH_WAY"))
# Which recording is adopted: the largest has every kind of object, but every attempt puts all of them back.
ADOPTED = "hand" if EACH_IN_EACH_WAY else "r4242-8"
# Fewer requests than this are not the whole story of a run.
FEWEST = 15
# How often a sort of request is tried again for each fault: not every attempt has one of it.
ENOUGH = 4
# The first pass may have to leave the finalizer to the next one.
FINALIZER_PATCH = "PATCH json-patch object"


def run(api: KubernetesApi, request: Request) -> Outcome | None:
    """Make a run; None when it ended with an error that a person is told of."""
    try:
        return fulfil(api, request, lambda _text: None, Clock(sleep=lambda _seconds: None))
    except DruidopsError:
        return None


@dataclass
class Campaign:
    """Attempts that fail at their first request, at their second, until there are no more; in the end every sort of
    request has failed in every way. `met` counts how often each sort failed in each way; `late` are sorts that may come
    after the first pass only.
    """

    proxy: FaultProxy
    faults: Sequence[Fault]
    attempt: Callable[[int], None]
    met: Counter[tuple[str, Fault]] = field(default_factory=Counter)
    late: Sequence[str] = ()
    number: int = 0

    def run(self) -> Campaign:
        """Make all attempts."""
        ways: Sequence[Fault | None] = self.faults if EACH_IN_EACH_WAY else [None]
        for position in count(1):
            if not all(self._fails(position, way) for way in ways):
                break
        assert position > FEWEST
        for sort in {*self.sorts, *self.late}:
            for _again in range(ENOUGH * len(self.faults)):
                if not self._is_complete(sort):
                    self._fails(sort=sort)
        assert [sort for sort in {*self.sorts, *self.late} if not self._is_complete(sort)] == []
        return self

    @property
    def sorts(self) -> list[str]:
        """The sorts of requests that have failed."""
        return sorted({sort for sort, _fault in self.met})

    def _fails(self, position: int = 0, way: Fault | None = None, sort: str = "") -> bool:
        self.number += 1
        self.proxy.expect(position, partial(self._chosen, way), sort=sort)
        self.attempt(self.number)
        return self.proxy.reached is not None

    def _chosen(self, way: Fault | None, seen: Seen) -> Fault:
        """Return the way, or else that in which this sort of request has failed least."""
        chosen = way or min(self.faults, key=lambda fault: self.met[seen.sort, fault])
        self.met[seen.sort, chosen] += 1
        return chosen

    def _is_complete(self, sort: str) -> bool:
        return all(self.met[sort, fault] for fault in self.faults)

    def __str__(self) -> str:
        ways = f"{len(self.faults)} faults"
        counts = {sort: sum(self.met[sort, fault] for fault in self.faults) for sort in self.sorts}
        each = ", ".join(f"{number} {sort}" for sort, number in counts.items())
        return f"{ways} at {sum(counts.values())} requests ({each}), and one more run mended it"


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Say in the summary what was tried."""
    return lambda what, campaign: record_property("told", f"{what}: {campaign}")


def test_creation(live: Live, proxy: FaultProxy, created: dict[str, Any], tell: Tell) -> None:
    def create(number: int) -> None:
        request = Request(f"c{number}", live.namespace)
        live.create(resource(request.name))
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, request.name) == created, proxy.reached

    tell("creation", Campaign(proxy, list(Fault), create).run())


def test_update(live: Live, proxy: FaultProxy, tell: Tell) -> None:
    """To and fro: one workload is updated, the other one recreated, objects come and go."""
    request = Request("c", live.namespace)
    live.create(resource("c"))
    good(run(connection(live), request))
    wanted = []
    for number in (2, 1):
        live.merge("Druid", "c", {"spec": spec(number)})
        good(run(connection(live), request))
        wanted.append(picture(live, "c"))

    def update(turn: int) -> None:
        live.merge("Druid", "c", {"spec": spec(2 - turn % 2)})
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, "c") == wanted[turn % 2], proxy.reached

    tell("update", Campaign(proxy, list(Fault), update).run())


def test_deletion(live: Live, proxy: FaultProxy, tell: Tell) -> None:
    foreign = claim("foreign", "brokers", app=None)
    live.create(foreign)

    def delete(number: int) -> None:
        name = f"c{number}"
        live.create(resource(name))
        good(run(connection(live), Request(name, live.namespace)))
        for key in KEYS:
            live.create(claim(name, key))
        request = Request(name, live.namespace, absent=True)
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert live.find("Druid", name) is None
        claims = [each for each in objects_of(live, name) if each["kind"] == "PersistentVolumeClaim"]
        assert [each for each in claims if not each["metadata"].get("deletionTimestamp")] == [], proxy.reached

    tell("deletion", Campaign(proxy, list(Fault), delete).run())
    eventually(lambda: live.made() == {("PersistentVolumeClaim", foreign["metadata"]["name"])})


def test_deletion_by_the_finalizer(live: Live, proxy: FaultProxy, tell: Tell) -> None:
    """A person has deleted the resource, and the next passes do the rest."""
    foreign = claim("foreign", "brokers", app=None)
    live.create(foreign)

    def delete(number: int) -> None:
        request = Request(f"c{number}", live.namespace)
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

    tell("deletion by the finalizer", Campaign(proxy, list(Fault), delete, late=[FINALIZER_PATCH]).run())
    eventually(lambda: live.made() == {("PersistentVolumeClaim", foreign["metadata"]["name"])})


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


def test_adoption(golden: Live, proxy: FaultProxy, tell: Tell) -> None:
    """All the time no pod is restarted and no workload is touched."""
    live = golden
    operator = GoOperator(live, ADOPTED).run()
    before = operator.settled()
    owned = recording.owned_objects(ADOPTED)
    recorded = Recorded(operator, [live.get(kind, name) for kind, name in owned])
    request = Request(ADOPTED, live.namespace)
    good(run(connection(live), request))
    adopted = picture(live, ADOPTED)
    assert not [name for name, each in adopted.items() if name.startswith("StatefulSet") and HASH in str(each)]
    recorded.restore()
    untouched = picture(live, ADOPTED)

    def adopt(_number: int) -> None:
        run(proxy.api(), request)
        if proxy.reached is not None and not proxy.wrote:
            # All is as it was: the next attempt is the one more run.
            assert picture(live, ADOPTED) == untouched, proxy.reached
            return
        good(run(connection(live), request))
        assert picture(live, ADOPTED) == adopted, proxy.reached
        assert identities(live) == before, proxy.reached
        recorded.restore()

    tell("adoption", Campaign(proxy, list(Fault), adopt).run())
