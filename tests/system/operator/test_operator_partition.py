# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator is disconnected from the API server: it reconciles later what changes in this time."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from ansible_collections.druidops.druid.tests.system.support.tcp_gate import gate
from testbed.operator_plugin import StartOperator


@campaign("an operator without the API server, and one that is killed")
def test_changes_during_a_network_partition_are_reconciled(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    login = account(live.plane, live.namespace, tmp_path)
    with gate(live.plane.url) as way:
        kubeconfig = login.through(way.url)
        started = start(operator, live, tmp_path, login=login, kubeconfig=kubeconfig, direct=kubeconfig)
        for name in ("edited", "changed", "deleted"):
            live.create(small_cluster.resource(name))
        started.wait_until_settled("edited", "changed", "deleted")

        way.close()
        live.delete("Service", "druid-edited-brokers")
        live.merge("Druid", "changed", {"spec": small_cluster.spec(2)})
        live.delete("Druid", "deleted")
        live.create(small_cluster.resource("created"))
        way.open()

        eventually(lambda: live.find("Service", "druid-edited-brokers"))
        eventually(lambda: live.find("Druid", "deleted") is None)
        eventually(lambda: live.get("PodDisruptionBudget", "druid-changed-brokers")["spec"]["maxUnavailable"] == 2)
        started.wait_until_settled("edited", "changed", "created")
        eventually(lambda: not [name for _kind, name in live.created_objects() if "deleted" in name])
