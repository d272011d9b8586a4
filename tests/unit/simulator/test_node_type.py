# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A nodeType that is changed in place is refused, and each way out that the message names works."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import Cluster, Group
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Controllers,
    Converge,
    Create,
    Edit,
    Event,
    Rename,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.invariants import Observer

BACK = Edit("node_type", None, "brokers")
OTHER = Edit("node_type", "historical", "brokers")
WAYS_OUT: dict[str, list[Event]] = {
    "back": [BACK],
    "another key": [BACK, Converge(), Rename("brokers", "historicals")],
    "another key, at once": [Rename("brokers", "historicals")],
    "without pods": [BACK, Edit("stopped", True, "brokers"), Converge(), OTHER, Edit("stopped", False, "brokers")],
}


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_ways_out(way_out: str, kind: str) -> None:
    observer = Observer("playbook")
    observer.act(Create(Cluster({"brokers": Group(kind=kind)})))
    observer.converge()
    pods = observer.subject.world.store.of_kind("Pod")
    observer.act(OTHER)
    report = observer.subject.run("playbook")
    assert report is not None
    [finding] = report.problems
    text = f"{kind} druid-c-brokers: the nodeType of a group with pods cannot change from broker to historical (pods: "
    assert (finding.reason, finding.message[: len(text)]) == ("PodsWouldBeOrphaned", text)
    for action in (Run("playbook"), Controllers(10)):
        observer.act(action)
    assert observer.subject.world.store.of_kind("Pod") == pods
    observer.play(WAYS_OUT[way_out])
    observer.delete()
