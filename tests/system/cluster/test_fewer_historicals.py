# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Historicals are decommissioned before they stop: simulated pods, and a stand-in for the Coordinator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    UNLISTED_SECONDS,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, run
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from ansible_collections.druidops.druid.tests.system.support.stand_in_coordinator import (
    StandInCoordinator,
    stand_in_coordinator,
)
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import new_namespace

NAME, WORKLOAD = "fewer", "druid-fewer-historicals"
CONFIG = "/druid/coordinator/v1/config"
OTHER = "192.0.2.9:8083"
# A port on which nothing listens.
NOWHERE = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Fewer:
    """A cluster whose Historicals have segments."""

    live: NamespaceClient
    druid: StandInCoordinator

    def reconcile(self, check_mode: bool = False, url: str = "", after: int = 0) -> Outcome[Plan]:
        """Reconcile as a task without `wait` does, `after` seconds; nothing is left of it but what it has written."""
        options = Options(check_mode, url=url or self.druid.url, timeouts=Timeouts(read_timeout=10, retry_timeout=0))
        request = cluster_request(NAME, self.live.namespace, options=options)
        clock = Clock(now=lambda: datetime.now(UTC) + timedelta(seconds=after))
        return run(connection(self.live), request, lambda _text: None, clock)

    @property
    def stored(self) -> Manifest:
        return self.live.get("Druid", NAME)

    @property
    def record(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.stored["status"].get("historicalDecommission", [])
        return found

    @property
    def annotation(self) -> list[dict[str, Any]]:
        """The record that the StatefulSet has."""
        annotations = self.live.get("StatefulSet", WORKLOAD)["metadata"].get("annotations") or {}
        found: list[dict[str, Any]] = json.loads(annotations.get("druid.apache.org/decommission", "[]"))
        return found

    def lose_status(self) -> None:
        """Remove the status, as when the resource is restored from a backup."""
        path = f"{self.live.path('Druid', NAME)}/status"
        self.live.plane.request("PATCH", path, {"status": None}, user="person", content_type=MERGE)

    @property
    def replicas(self) -> int:
        return int(self.live.get("StatefulSet", WORKLOAD)["spec"]["replicas"])

    def specify(self, replicas: int, **spec: Any) -> None:
        self.live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"replicas": replicas}}, **spec}})

    def server(self, ordinal: int) -> str:
        """The name of a pod in Druid."""
        return f"{self.live.get('Pod', f'{WORKLOAD}-{ordinal}')['status']['podIP']}:8083"

    def set_address(self, ordinal: int, address: str) -> None:
        """Give a pod an address, as the kubelet does."""
        body = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
        path = f"{self.live.path('Pod', f'{WORKLOAD}-{ordinal}')}/status"
        self.live.plane.request("PATCH", path, body, user="person", content_type=MERGE)

    def until_settled(self) -> None:
        """Reconcile until the cluster is ready, and until it is certain that Druid's list stays as it is."""
        self.until_ready()
        self.reconcile(after=UNLISTED_SECONDS + 1)
        assert (self.record, self.annotation) == ([], [])

    def until_ready(self) -> None:
        eventually(lambda: (report := self.reconcile().report) is not None and report.is_ready)


@pytest.fixture
def fewer(control_plane: ControlPlane) -> Iterator[Fewer]:
    node = {"druid.port": 8083, "nodeConfigMountPath": "/opt/druid/conf", "runtime.properties": "a=b", "replicas": 2}
    nodes = {"historicals": {**node, "nodeType": "historical"}}
    spec = {"image": "a:1", "common.runtime.properties": "a=b", "nodes": nodes, "historicalDecommissionStrategy": {}}
    with new_namespace(control_plane) as namespace, stand_in_coordinator() as druid:
        found = Fewer(NamespaceClient(control_plane, namespace), druid)
        found.live.create(resource(NAME, spec))
        found.until_ready()
        druid.sizes = {found.server(ordinal): 100 for ordinal in range(2)}
        druid.listed = [OTHER]
        druid.requests.clear()
        yield found


def test_the_last_pod_stops_when_it_is_empty(fewer: Fewer) -> None:
    last = fewer.server(1)
    fewer.reconcile()
    assert fewer.druid.requests == []
    fewer.specify(1)
    assert lines(fewer.reconcile(check_mode=True).plan) == [
        f"update StatefulSet {WORKLOAD}",
        f"add {last} to decommissioningNodes in Druid",
        f"later: update StatefulSet {WORKLOAD}",
        f"stop 1 pod of StatefulSet {WORKLOAD}",
    ]
    # The record first.
    assert fewer.reconcile().changed
    assert [(each["pod"], each["server"], each["bytes"]) for each in fewer.record] == [(f"{WORKLOAD}-1", last, 100)]
    assert [(each["pod"], each["server"]) for each in fewer.annotation] == [(f"{WORKLOAD}-1", last)]
    assert fewer.druid.listed == [OTHER]
    assert fewer.reconcile().changed
    assert fewer.druid.listed == sorted([OTHER, last])
    assert not fewer.reconcile().changed
    assert (fewer.replicas, condition(fewer.stored, "Ready")["reason"]) == (2, "DecommissioningHistoricals")
    fewer.druid.move_segments()
    fewer.reconcile()
    assert (fewer.replicas, fewer.record[0]["bytes"], "emptySince" in fewer.record[0]) == (2, 0, True)
    eventually(lambda: fewer.reconcile() and fewer.replicas == 1)
    del fewer.druid.sizes[last]
    fewer.until_ready()
    assert fewer.druid.listed == [OTHER]
    assert fewer.record[0].keys() >= {"ended", "unlistedSince"}
    fewer.until_settled()
    fewer.druid.requests.clear()
    assert not fewer.reconcile().changed
    assert fewer.druid.requests == []
    reasons = {each["reason"] for each in fewer.live.list("Event")}
    assert reasons >= {"HistoricalDecommissioning", "HistoricalDecommissioned"}


def test_a_name_is_ours_although_the_status_is_lost(fewer: Fewer) -> None:
    last = fewer.server(1)
    fewer.specify(1)
    fewer.reconcile()
    fewer.lose_status()
    fewer.reconcile()
    assert fewer.druid.listed == sorted([OTHER, last])
    fewer.lose_status()
    fewer.specify(2)
    fewer.reconcile()
    assert fewer.druid.listed == [OTHER]
    fewer.until_settled()


def test_a_change_that_is_taken_back_while_druid_does_not_respond(fewer: Fewer) -> None:
    fewer.specify(1)
    fewer.reconcile()
    fewer.reconcile()
    assert len(fewer.druid.listed) == 2
    assert fewer.reconcile(url=NOWHERE).problems[0].reason == "DruidUnreachable"
    assert (fewer.replicas, condition(fewer.stored, "Degraded")["reason"]) == (2, "DruidUnreachable")
    fewer.specify(2)
    fewer.reconcile(url=NOWHERE)
    assert "is still in decommissioningNodes" in condition(fewer.stored, "Ready")["message"]
    fewer.reconcile()
    assert fewer.druid.listed == [OTHER]
    fewer.until_settled()
    assert fewer.replicas == 2


def test_the_next_coordinator_does_not_know_the_list_yet(fewer: Fewer) -> None:
    last = fewer.server(1)
    fewer.specify(1)
    fewer.reconcile()
    fewer.reconcile()
    fewer.specify(2)
    fewer.druid.listed = [OTHER]
    fewer.reconcile()
    fewer.reconcile()
    fewer.druid.listed = [last, OTHER]
    fewer.reconcile()
    assert fewer.druid.listed == [OTHER]
    fewer.until_settled()


def test_a_pod_that_stays_gets_the_address_of_one_that_stops(fewer: Fewer) -> None:
    first, last = fewer.server(0), fewer.server(1)
    fewer.specify(1)
    fewer.reconcile()
    fewer.reconcile()
    assert fewer.druid.listed == sorted([OTHER, last])
    fewer.set_address(1, first.partition(":")[0])
    fewer.set_address(0, last.partition(":")[0])
    fewer.reconcile()
    assert fewer.druid.listed == [OTHER]
    fewer.reconcile()
    assert fewer.druid.listed == sorted([OTHER, first])


def test_a_group_that_is_rejected_does_not_block_another_one(fewer: Fewer) -> None:
    cold = {**fewer.stored["spec"]["nodes"]["historicals"], "druid.port": 8084}
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": cold}}})
    fewer.until_ready()
    pods = [fewer.live.get("Pod", f"druid-fewer-cold-{ordinal}")["status"]["podIP"] for ordinal in range(2)]
    fewer.druid.sizes.update({f"{address}:8084": 100 for address in pods})
    of_cold, last = f"{pods[1]}:8084", fewer.server(1)

    # Kubernetes 1.30 does not validate the pod template of a StatefulSet.
    rejected = {"replicas": 1, "updateStrategy": {"rollingUpdate": {"partition": -1}}}
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": rejected, "historicals": {"replicas": 1}}}})
    fewer.reconcile()
    assert {each["server"] for each in fewer.record} == {last, of_cold}
    assert fewer.reconcile().problems[0].group == "cold"
    # What is not in the annotation is not written to Druid.
    assert fewer.druid.listed == sorted([OTHER, last])

    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": {"updateStrategy": None}}}})
    fewer.reconcile()
    fewer.reconcile()
    assert fewer.druid.listed == sorted([OTHER, last, of_cold])
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {key: {"replicas": 2} for key in ("cold", "historicals")}}})
    fewer.reconcile()
    assert fewer.druid.listed == [OTHER]
    assert [each for each in fewer.druid.requests if each.startswith("POST")] == [f"POST {CONFIG}"] * 4


def test_too_little_room_is_a_condition_before_anything_moves(fewer: Fewer) -> None:
    last, fewer.druid.room = fewer.server(1), 150
    fewer.specify(1)
    assert fewer.reconcile().problems[0].reason == "TierTooSmall"
    assert not fewer.reconcile().changed
    assert (fewer.replicas, fewer.druid.listed, fewer.annotation) == (2, [OTHER], [])
    assert {each.split(maxsplit=1)[0] for each in fewer.druid.requests} == {"GET"}
    degraded = condition(fewer.stored, "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "TierTooSmall")
    assert degraded["message"].startswith("Group historicals: no pod stops, because the segments of tier _default_tier")
    fewer.druid.room = 200
    fewer.reconcile()
    fewer.reconcile()
    assert (fewer.replicas, fewer.druid.listed) == (2, sorted([OTHER, last]))
    assert condition(fewer.stored, "Degraded")["status"] == "False"


def test_a_specified_list_is_not_written_in_each_reconcile(fewer: Fewer) -> None:
    last, specified = fewer.server(1), "192.0.2.1:8083"
    fewer.specify(1, dynamicConfig={"coordinator": {"decommissioningNodes": [specified]}})
    fewer.reconcile()
    fewer.reconcile()
    assert sorted(fewer.druid.listed) == sorted([specified, last])
    assert not fewer.reconcile().changed
    fewer.specify(2)
    fewer.reconcile()
    assert fewer.druid.listed == [specified]
    fewer.until_settled()
    assert not fewer.reconcile().changed


def test_a_group_is_removed_the_safe_way(fewer: Fewer) -> None:
    cold = {**fewer.stored["spec"]["nodes"]["historicals"], "druid.port": 8084, "replicas": 1}
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": cold}}})
    fewer.until_ready()
    of_cold = f"{fewer.live.get('Pod', 'druid-fewer-cold-0')['status']['podIP']}:8084"
    fewer.druid.sizes[of_cold] = 100

    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": {"replicas": 0}}}})
    fewer.reconcile()
    fewer.reconcile()
    assert fewer.druid.listed == sorted([OTHER, of_cold])
    fewer.druid.move_segments()
    eventually(lambda: fewer.reconcile() and not fewer.live.get("StatefulSet", "druid-fewer-cold")["spec"]["replicas"])
    del fewer.druid.sizes[of_cold]
    fewer.until_settled()
    assert fewer.druid.listed == [OTHER]
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": None}}})
    assert fewer.reconcile().warnings == ()
    assert fewer.live.find("StatefulSet", "druid-fewer-cold") is None


def test_a_removed_group_is_not_decommissioned_and_a_warning_describes_how(fewer: Fewer) -> None:
    cold = {**fewer.stored["spec"]["nodes"]["historicals"], "druid.port": 8084, "replicas": 1}
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": cold}}})
    fewer.until_ready()
    fewer.live.merge("Druid", NAME, {"spec": {"nodes": {"cold": None}}})
    [warning] = fewer.reconcile(check_mode=True).warnings
    assert "group cold was removed from the spec" in warning
    assert fewer.reconcile().warnings == (warning,)


def test_without_the_strategy_the_pods_stop_at_once(fewer: Fewer) -> None:
    fewer.specify(1, historicalDecommissionStrategy=None)
    fewer.reconcile()
    assert (fewer.replicas, fewer.druid.requests) == (1, [])
