# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two replicas of the operator: one works, and when it is killed in the middle of it the other one takes over."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import LEASE, DruidOperator, election, start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from ansible_collections.druidops.druid.tests.system.support.operator_writes import creations, repeated, written
from testbed.operator.started import which_networks
from testbed.operator_plugin import StartOperator

NAME = "c"


def test_the_other_replica_takes_over(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    login, mark = account(live.plane, live.namespace, tmp_path), live.mark()
    replicas = [
        start(operator, live, tmp_path, login=login, flags=election(live.namespace), is_replica=True)
        for _each in range(2)
    ]
    live.create(small_cluster.resource(NAME, small_cluster.spec(1, replicas=1)))
    leader, other = eventually(lambda: by_work(replicas))
    leader.wait_until_settled(NAME)
    assert not other.program.runs
    before = lease(live)

    updated = live.mark()
    live.merge("Druid", NAME, {"spec": small_cluster.spec(2, replicas=1)})
    eventually(lambda: leader.is_writing(updated))
    leader.program.kill()
    killed = time.time()
    other.wait_until_settled(NAME)

    taken_over = other.program.runs[0].begin
    record_property(
        "measurement", f"{which_networks()}; taken over {taken_over - killed:.1f} s after the leader was killed"
    )
    assert taken_over > killed
    after = lease(live)
    assert (after["leaseTransitions"], before["leaseTransitions"]) == (1, 0)
    assert after["holderIdentity"] != before["holderIdentity"]
    # Each object is created once, and the one that the update recreates, twice.
    assert repeated(creations(leader.events(mark))) == {f"{live.namespace}/statefulsets/druid-{NAME}-historicals": 2}
    assert repeated(written(leader.events(updated))) == {}


def by_work(replicas: list[DruidOperator]) -> list[DruidOperator]:
    """Return the active replica, and then the waiting one; nothing while neither is active."""
    ordered = sorted(replicas, key=lambda each: not each.program.runs)
    return ordered if ordered[0].program.runs else []


def lease(live: NamespaceClient) -> dict[str, Any]:
    """Return the identity of the leader."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{live.namespace}/leases/{LEASE}"
    found: dict[str, Any] = live.plane.request("GET", path)["spec"]
    return found
