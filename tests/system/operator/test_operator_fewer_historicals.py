# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator decommissions a Historical, and is stopped after each step: simulated pods, a stand-in Coordinator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.stand_in_coordinator import stand_in_coordinator
from testbed.operator_plugin import StartOperator

NAME = "c"
WORKLOAD = f"druid-{NAME}-historicals"
OTHER = "192.0.2.9:8083"


def specification(url: str) -> dict[str, Any]:
    """Two Historicals, and a Druid that the operator reaches."""
    node = {"druid.port": 8083, "nodeConfigMountPath": "/opt/druid/conf", "runtime.properties": "a=b", "replicas": 2}
    return {
        "image": "a:1",
        "common.runtime.properties": "a=b",
        "nodes": {"historicals": {**node, "nodeType": "historical"}},
        "endpoint": {"url": url},
        "historicalDecommissionStrategy": {},
    }


@campaign("the same in-process, where no reconcile knows anything of an earlier one")
def test_continues_wherever_it_was_stopped(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> None:
    with stand_in_coordinator() as druid:
        started = start(operator, live, tmp_path)
        live.create(small_cluster.resource(NAME, specification(druid.url)))
        started.wait_until_ready(NAME)
        names = [f"{live.get('Pod', f'{WORKLOAD}-{number}')['status']['podIP']}:8083" for number in range(2)]
        druid.sizes, druid.listed = dict.fromkeys(names, 100), [OTHER]
        live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"replicas": 1}}}})

        restarted(started, lambda: bool(live.get("Druid", NAME)["status"].get("historicalDecommission")))
        restarted(started, lambda: names[1] in druid.listed)
        druid.move_segments()
        restarted(started, lambda: live.get("StatefulSet", WORKLOAD)["spec"]["replicas"] == 1)
        del druid.sizes[names[1]]
        restarted(started, lambda: druid.listed == [OTHER])
        started.wait_until_ready(NAME)
        eventually(lambda: "historicalDecommission" not in live.get("Druid", NAME)["status"], timeout=300)
        assert druid.listed == [OTHER]


def restarted(started: DruidOperator, is_reached: Callable[[], bool]) -> None:
    """Restart the operator as soon as something is reached."""
    eventually(is_reached, otherwise=lambda: started.diagnostics(NAME))
    started.program.stop()
    started.program.start()
