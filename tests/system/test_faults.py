# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever request fails in whatever way: one more run always ends where a run without a fault ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Clock, Outcome, Request, fulfil
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi
from ansible_collections.druidops.druid.tests.system.fault_proxy import Fault, FaultProxy, fault_proxy
from ansible_collections.druidops.druid.tests.system.go_operator import (
    HASH,
    MANAGERS,
    GoOperator,
    identities,
)
from ansible_collections.druidops.druid.tests.system.in_process import connection
from ansible_collections.druidops.druid.tests.system.live import Live, Manifest
from ansible_collections.druidops.druid.tests.system.small_cluster import (
    KEYS,
    claim,
    objects_of,
    picture,
    resource,
    spec,
)
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.api import ApiError
from testbed.control_plane import ControlPlane

Tell = Callable[[str, str, int], None]

# Fewer requests than this are not the whole story of a run.
FEWEST = 15


@pytest.fixture(scope="module")
def proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy in front of the API server."""
    with fault_proxy(control_plane) as proxy:
        yield proxy


def run(api: KubernetesApi, request: Request) -> Outcome | None:
    """Make a run; None when it ended with an error that a person is told of."""
    try:
        return fulfil(api, request, lambda _text: None, Clock(sleep=lambda _seconds: None))
    except DruidopsError:
        return None


def good(outcome: Outcome | None) -> Outcome:
    """Return the outcome of a run that nothing stood in the way of."""
    assert outcome is not None
    assert outcome.report is None or outcome.report.problems == ()
    return outcome


def everywhere(proxy: FaultProxy, faults: Sequence[Fault], attempt: Callable[[int], None]) -> int:
    """Let an attempt fail at its first request, at its second, until it has no more; return how many there were.

    The faults take turns.
    """
    for position in count(1):
        proxy.expect(position, faults[position % len(faults)])
        attempt(position)
        if proxy.reached is None:
            assert position > FEWEST
            return position - 1
    raise AssertionError("unreachable")


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """Say in the summary what was tried."""

    def told(what: str, fault: str, number: int) -> None:
        record_property("told", f"{what}: {fault} at each of {number} requests, and one more run mended it")

    return told


@pytest.fixture
def created(live: Live) -> dict[str, Any]:
    """What a creation without a fault leaves."""
    live.create(resource("model"))
    good(run(connection(live), Request("model", live.namespace)))
    return picture(live, "model")


@pytest.mark.parametrize("fault", Fault)
def test_creation(live: Live, proxy: FaultProxy, created: dict[str, Any], fault: Fault, tell: Tell) -> None:
    def create(position: int) -> None:
        request = Request(f"c{position}", live.namespace)
        live.create(resource(request.name))
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, request.name) == created, proxy.reached

    tell("creation", str(fault.value), everywhere(proxy, [fault], create))


def test_update(live: Live, proxy: FaultProxy, tell: Tell) -> None:
    """To and fro: one workload is updated, the other one made again, objects come and go. The faults take turns."""
    request = Request("c", live.namespace)
    live.create(resource("c"))
    good(run(connection(live), request))
    wanted = []
    for number in (2, 1):
        live.merge("Druid", "c", {"spec": spec(number)})
        good(run(connection(live), request))
        wanted.append(picture(live, "c"))

    def update(position: int) -> None:
        live.merge("Druid", "c", {"spec": spec(2 - position % 2)})
        run(proxy.api(), request)
        good(run(connection(live), request))
        assert picture(live, "c") == wanted[position % 2], proxy.reached

    tell("update", "one of the faults", everywhere(proxy, list(Fault), update))


@pytest.mark.parametrize("fault", Fault)
def test_deletion(live: Live, proxy: FaultProxy, fault: Fault, tell: Tell) -> None:
    foreign = claim("foreign", "brokers", app=None)
    live.create(foreign)

    def delete(position: int) -> None:
        name = f"c{position}"
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

    tell("deletion", str(fault.value), everywhere(proxy, [fault], delete))
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
    """Every request fails in one of the ways; all the time no pod is restarted and no workload is touched."""
    live = golden
    operator = GoOperator(live, "hand").run()
    before = operator.settled()
    owned = recording.owned_objects("hand")
    recorded = Recorded(operator, [live.get(kind, name) for kind, name in owned])
    request = Request("hand", live.namespace)
    good(run(connection(live), request))
    adopted = picture(live, "hand")
    assert HASH not in str(adopted["StatefulSet druid-NAME-routers"])
    recorded.restore()

    def adopt(_position: int) -> None:
        run(proxy.api(), request)
        if proxy.reached is not None and not proxy.wrote:
            # All is as it was: the next attempt is the one more run.
            return
        good(run(connection(live), request))
        assert picture(live, "hand") == adopted, proxy.reached
        assert identities(live) == before, proxy.reached
        recorded.restore()

    tell("adoption", "one of the faults", everywhere(proxy, list(Fault), adopt))
