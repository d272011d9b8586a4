# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens between the deletion and the recreation of a StatefulSet deletes no PVC, and changes no replicas."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    INITIAL_MANAGER,
)
from ansible_collections.druidops.druid.tests.simulator import managed_fields
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


def managers(subject: Subject) -> set[str]:
    """Return the field managers of the StatefulSet; none if it is deleted."""
    live = subject.world.store.get("StatefulSet", NAMESPACE, workload_name(GROUP))
    return {each["manager"] for each in live["metadata"]["managedFields"]} if live else set()


def deleted(subject: Subject) -> bool:
    return not managers(subject)


def created(subject: Subject) -> bool:
    """Return whether the StatefulSet has been created, and its managedFields are not yet final."""
    return bool({INITIAL_MANAGER, AUTOSCALED_MANAGER} & managers(subject))


def interrupted(subject: Subject, after: Callable[[Subject], bool]) -> Subject:
    """Return the cluster with an operator that was killed in the recreation of the StatefulSet."""
    Edit("service", "%s-b", GROUP).act(subject)
    return killed(subject, after)


def killed(subject: Subject, after: Callable[[Subject], bool]) -> Subject:
    """Return the cluster with an operator that was killed as soon as the StatefulSet was deleted or created."""
    for number in range(4, 40):
        found = deepcopy(subject)
        Run("operator", (number, "killed after")).act(found)
        Controllers(4).act(found)
        if after(found):
            return found
    raise AssertionError(f"the StatefulSet was never {after.__name__}")


def evict(subject: Subject) -> None:
    """Delete a pod that is not the last one."""
    store = subject.world.store
    pod = store.get("Pod", NAMESPACE, f"{workload_name(GROUP)}-1")
    assert pod is not None
    store.delete(pod)
    Controllers(2).act(subject)


def remove_autoscaler(subject: Subject) -> None:
    ForeignAutoscaler(GROUP, None).act(subject)


def complete_and_remove_autoscaler(subject: Subject) -> None:
    """The next reconcile finds the autoscaler, the later ones do not."""
    running(subject, 1)
    remove_autoscaler(subject)


def lower(subject: Subject) -> None:
    Edit("replicas", 2, GROUP).act(subject)


def lower_and_raise(subject: Subject) -> None:
    """A slow playbook has the specification in between."""
    lower(subject)
    Edit("replicas", 4, GROUP).act(subject)
    Outdated(1).act(subject)


Meanwhile = Callable[[Subject], None]

AFTER_ITS_DELETION: list[tuple[int | None, Meanwhile, int]] = [
    (None, evict, 4),
    (2, evict, 4),
    (4, evict, 4),
    (2, remove_autoscaler, 2),
    (2, complete_and_remove_autoscaler, 4),
    (4, lower, 2),
    (4, lower_and_raise, 4),
]
AFTER_ITS_CREATION: list[tuple[int | None, Meanwhile, int]] = [
    (None, evict, 4),
    (2, evict, 4),
    (2, remove_autoscaler, 4),
    (2, complete_and_remove_autoscaler, 4),
]


@pytest.mark.parametrize(("replicas", "meanwhile", "expected"), AFTER_ITS_DELETION)
def test_no_pvc_is_deleted_after_the_deletion(replicas: int | None, meanwhile: Meanwhile, expected: int) -> None:
    check(interrupted(scaled(replicas), deleted), meanwhile, expected)


@pytest.mark.parametrize(("replicas", "meanwhile", "expected"), AFTER_ITS_CREATION)
def test_no_pvc_is_deleted_after_the_creation(replicas: int | None, meanwhile: Meanwhile, expected: int) -> None:
    check(interrupted(scaled(replicas), created), meanwhile, expected)


def check(subject: Subject, meanwhile: Meanwhile, expected: int) -> None:
    """Reconcile, and compare the PVCs and the number of pods."""
    before = claims(subject)
    meanwhile(subject)
    running(subject, 6)
    assert claims(subject) >= before
    assert (size(subject), created(subject)) == (expected, False)


def annotated() -> Subject:
    """Return a cluster whose StatefulSet has an annotation of another client."""
    subject = scaled(4)
    store = subject.world.store
    live = store.get("StatefulSet", NAMESPACE, workload_name(GROUP))
    assert live is not None
    annotations = {**(live["metadata"].get("annotations") or {}), "example.com/by": "hand"}
    after = {**live, "metadata": {**live["metadata"], "annotations": annotations}}
    store.update(managed_fields.updated(live, after, "kubectl-annotate"))
    running(subject, 1)
    return interrupted(subject, created)


def unset() -> Subject:
    """Return a cluster whose resource does not specify replicas any more."""
    subject = scaled(4)
    Edit("replicas", None, GROUP).act(subject)
    running(subject, 2)
    return interrupted(subject, created)


def autoscaled() -> Subject:
    """Return a cluster whose first creation was interrupted, and which had an autoscaler then."""
    subject = Subject()
    Create(Cluster({GROUP: Group(replicas=None, autoscaler=(3, 5))})).act(subject)
    subject = killed(subject, created)
    Edit("autoscaler", None, GROUP).act(subject)
    return subject


@pytest.mark.parametrize("subject", [annotated, unset, autoscaled])
def test_replicas_that_no_external_autoscaler_has_set_are_those_of_the_resource(subject: Callable[[], Subject]) -> None:
    found = subject()
    lower(found)
    running(found, 6)
    assert size(found) == 2
