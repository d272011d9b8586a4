# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
The operator, or a process of its runs, is killed at any time: nothing is duplicated, and nothing is lost.

The moments are chosen at random among the requests of its runs, always the same ones; DRUIDOPS_SEED chooses others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import SEED, campaign, only_first
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import FaultProxy
from ansible_collections.druidops.druid.tests.system.support.in_process import good, one_pass, until_reached
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import account
from ansible_collections.druidops.druid.tests.system.support.operator_kills import VICTIMS, Killer
from ansible_collections.druidops.druid.tests.system.support.operator_writes import creations, repeated
from testbed.control_plane import ControlPlane
from testbed.operator.resident import DIRECTORY
from testbed.operator_plugin import StartOperator
from testbed.pytest_plugin import new_namespace

NAME = "c"
# Up to six kills in each, about 40 in all, of other moments in each campaign.
ROUNDS = 10
CLAIM = "PersistentVolumeClaim"


@pytest.fixture
def undisturbed(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace for the result without a kill."""
    with new_namespace(control_plane) as name:
        yield NamespaceClient(control_plane, name)


@pytest.mark.parametrize("victim", only_first(1, VICTIMS, "the operator is killed with its runs"))
def test_killed_during_a_reconcile(
    operator: StartOperator,
    live: NamespaceClient,
    undisturbed: NamespaceClient,
    proxy: FaultProxy,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    victim: str,
) -> None:
    print(f"DRUIDOPS_SEED={SEED}")
    killed = kill_during_reconciles(
        operator, live, undisturbed, proxy, tmp_path, random.Random(f"{SEED} {victim}"), victim
    )
    record_property("measurement", f"killed {killed}, DRUIDOPS_SEED={SEED}")


@campaign("one kind of victim at a time, a few times")
@pytest.mark.parametrize("number", range(ROUNDS))
def test_killed_at_random(
    operator: StartOperator,
    live: NamespaceClient,
    undisturbed: NamespaceClient,
    proxy: FaultProxy,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    number: int,
) -> None:
    print(f"DRUIDOPS_SEED={SEED}")
    killed = kill_during_reconciles(operator, live, undisturbed, proxy, tmp_path, random.Random(f"{SEED} {number}"))
    record_property("measurement", f"killed {killed}, DRUIDOPS_SEED={SEED}")


def kill_during_reconciles(
    operator: StartOperator,
    live: NamespaceClient,
    undisturbed: NamespaceClient,
    proxy: FaultProxy,
    tmp_path: Path,
    chance: random.Random,
    victim: str = "",
) -> Killer:
    """Create, update and delete a cluster while the victim, by default any of them, is killed; nothing is lost.

    A moment that is chosen at random may be after the last request.
    """
    login = account(live.plane, live.namespace, tmp_path)
    # most victims are the resident process and its runs
    warm = {} if victim.startswith("the operator") else {DIRECTORY: str(tmp_path / "warm-runner")}
    started = start(operator, live, tmp_path, login=login, direct=login.through(proxy.url), **warm)
    killer = Killer(started.program, proxy, chance, victim)
    desired, updated = small_cluster.spec(1, replicas=1), small_cluster.spec(2, replicas=1)

    begin = live.mark()
    undisturbed.create(small_cluster.resource(NAME, desired))
    requests = counted(undisturbed)
    created = killer.change(
        lambda: live.create(small_cluster.resource(NAME, desired)), lambda: started.is_true(NAME, "Ready"), requests
    )
    started.wait_until_settled(NAME)
    assert picture(live) == picture(undisturbed)
    assert repeated(creations(started.events(begin))) == {}
    claims, brokers = uids(live, CLAIM), uids(live, "StatefulSet")[f"druid-{NAME}-brokers"]

    begin = live.mark()
    undisturbed.merge("Druid", NAME, {"spec": updated})
    requests = counted(undisturbed)
    changed = killer.change(lambda: live.merge("Druid", NAME, {"spec": updated}), lambda: is_up_to_date(live), requests)
    started.wait_until_settled(NAME)
    assert picture(live) == picture(undisturbed)
    assert repeated(creations(started.events(begin))) == {}
    assert uids(live, CLAIM) == claims
    assert uids(live, "StatefulSet")[f"druid-{NAME}-brokers"] == brokers

    begin = live.mark()
    undisturbed.delete("Druid", NAME)
    requests = counted(undisturbed)
    deleted = killer.change(lambda: live.delete("Druid", NAME), lambda: live.find("Druid", NAME) is None, requests)
    assert all([created, changed, deleted]) if victim else any([created, changed, deleted])
    eventually(lambda: live.find("Druid", NAME) is None and live.created_objects() == set())
    assert creations(started.events(begin)) == {}
    if killer.leaves_runs:
        eventually(lambda: all(run.end for run in started.program.runs))
    return killer


def counted(undisturbed: NamespaceClient) -> int:
    """
    Let the operation complete undisturbed; return the minimum number of direct requests of its first reconcile.

    Repeated requests that wait for a deletion are counted once. Not counted are reads, for which there is the cache of
    the operator, dry runs, which it leaves out for new objects, and the finalizer, which ansible-operator writes.
    """
    mark = undisturbed.mark()
    good(one_pass(undisturbed, NAME))
    sent = {
        (each.verb, each.resource, each.subresource, each.name) for each in undisturbed.writes(mark) if not each.dry_run
    }
    requests = len(sent - {("patch", "druids", "", NAME)})
    if undisturbed.find("Druid", NAME):
        until_reached(undisturbed, NAME)
    return requests


def is_up_to_date(live: NamespaceClient) -> bool:
    """True when the update has been carried out."""
    resource = live.get("Druid", NAME)
    conditions = {each["type"]: each for each in resource["status"]["conditions"]}
    observed = {each["observedGeneration"] for each in conditions.values()}
    return observed == {resource["metadata"]["generation"]} and conditions["Ready"]["status"] == "True"


def picture(live: NamespaceClient) -> dict[str, Any]:
    """Return what there is, but for what the operator or Kubernetes writes beside us; namespaces have one name."""
    text = json.dumps(small_cluster.picture(live, NAME))
    found = json.loads(text.replace(live.namespace, "NAMESPACE"))
    return {name: each for name, each in found.items() if not name.startswith(("Druid ", f"{CLAIM} "))}


def uids(live: NamespaceClient, kind: str) -> dict[str, str]:
    """Return the identity of each object of the kind by its name."""
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in live.list(kind)}
