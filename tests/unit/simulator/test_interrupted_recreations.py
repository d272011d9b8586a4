# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No PVC is deleted by what happens between the deletion of a StatefulSet and its recreation (whenScaled: Delete)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, Cluster, Group, workload_name
from ansible_collections.druidops.druid.tests.unit.simulator.actions import (
    Controllers,
    Create,
    Edit,
    ForeignAutoscaler,
    Load,
    Outdated,
    Run,
)
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

GROUP = "brokers"


def running(subject: Subject, count: int) -> None:
    """Let the operator and the controllers run in turns."""
    for _number in range(count):
        Run().act(subject)
        Controllers(10).act(subject)


def scaled(replicas: int | None) -> Subject:
    """Return a cluster with 4 pods, which an external autoscaler has set unless they are specified."""
    subject = Subject()
    Create(Cluster({GROUP: Group(replicas=replicas, when_scaled="Delete")})).act(subject)
    running(subject, 4)
    if replicas != 4:
        ForeignAutoscaler(GROUP, (1, 6)).act(subject)
        Load(GROUP, 4).act(subject)
        running(subject, 4)
    assert size(subject) == 4
    return subject


def size(subject: Subject) -> int | None:
    live = subject.world.store.get("StatefulSet", NAMESPACE, workload_name(GROUP))
    return None if live is None else live["spec"]["replicas"]


def claims(subject: Subject) -> set[str]:
    return {each["metadata"]["uid"] for each in subject.world.store.of_kind("PersistentVolumeClaim")}


def interrupted(subject: Subject) -> Subject:
    """Return the cluster with an operator that was killed after the deletion of the StatefulSet."""
    Edit("service", "%s-b", GROUP).act(subject)
    for number in range(8, 30):
        found = deepcopy(subject)
        Run("operator", (number, "killed after")).act(found)
        Controllers(4).act(found)
        if size(found) is None:
            return found
    raise AssertionError("the StatefulSet was never deleted")


def evict(subject: Subject) -> None:
    """Delete a pod that is not the last one."""
    store = subject.world.store
    pod = store.get("Pod", NAMESPACE, f"{workload_name(GROUP)}-1")
    assert pod is not None
    store.delete(pod)
    Controllers(2).act(subject)


def remove_autoscaler(subject: Subject) -> None:
    ForeignAutoscaler(GROUP, None).act(subject)


def lower(subject: Subject) -> None:
    Edit("replicas", 2, GROUP).act(subject)


def lower_and_raise(subject: Subject) -> None:
    """A slow playbook has the specification in between."""
    lower(subject)
    Edit("replicas", 4, GROUP).act(subject)
    Outdated(1).act(subject)


MEANWHILE: list[tuple[int | None, Callable[[Subject], None], int]] = [
    (None, evict, 4),
    (2, evict, 4),
    (4, evict, 4),
    (2, remove_autoscaler, 2),
    (4, lower, 2),
    (4, lower_and_raise, 4),
]


@pytest.mark.parametrize(("replicas", "meanwhile", "expected"), MEANWHILE)
def test_no_pvc_is_deleted(replicas: int | None, meanwhile: Callable[[Subject], None], expected: int) -> None:
    subject = interrupted(scaled(replicas))
    before = claims(subject)
    meanwhile(subject)
    running(subject, 6)
    assert claims(subject) >= before
    assert size(subject) == expected
