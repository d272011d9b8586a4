# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A group with an autoscaler keeps its number of pods when it changes its kind, and when it resumes."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, Cluster, Group, workload_name
from ansible_collections.druidops.druid.tests.unit.simulator.actions import Controllers, Create, Edit, Load, Run
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

GROUP = "brokers"


@pytest.fixture
def subject() -> Subject:
    """A cluster whose autoscaler has set 5 pods; then there is no load that would scale it."""
    found = Subject()
    Create(Cluster({GROUP: Group(replicas=None, autoscaler=(1, 6))})).act(found)
    Load(GROUP, 5).act(found)
    for _number in range(4):
        Run().act(found)
        Controllers(10).act(found)
    found.world.load.clear()
    return found


def replicas(subject: Subject, kind: str) -> int:
    live = subject.world.store.get(kind, NAMESPACE, workload_name(GROUP))
    assert live is not None
    return int(live["spec"]["replicas"])


def test_another_kind(subject: Subject) -> None:
    Edit("kind", "Deployment", GROUP).act(subject)
    Run().act(subject)
    assert replicas(subject, "Deployment") == 5


def test_stopped_and_resumed(subject: Subject) -> None:
    for stopped, expected in ((True, 0), (False, 5)):
        Edit("stopped", stopped, GROUP).act(subject)
        Run().act(subject)
        assert replicas(subject, "StatefulSet") == expected
